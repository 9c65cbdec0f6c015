//! Entries that were listed and cannot be found.
//!
//! Such an entry has vanished if its directory no longer lists it, where directories never list
//! deleted entries. If it is still listed and still cannot be found, the file system contradicts
//! itself: that is an error ([`Inconsistent`]), and the result is partial. A directory with missing
//! entries is listed again when everything below it is finished; others cost nothing. Views of the
//! kernel's state are exempt: `/proc/self/fd` lists the descriptor that reads it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use transect_sys::{
    Fault, FaultKind, FieldMask, FileType, Inconsistent, ListStatus, Reader, Want, host,
};

use super::Worker;
use crate::dir::Dir;
use crate::error::Operation;
use crate::sink::Omission;
use crate::walk::task::{Task, TaskFlags};

/// How often a directory is listed again. Another program may remove and recreate an entry; three
/// misses in a row are next to impossible.
const MAX_RELISTS: usize = 3;

impl<R: Reader> Worker<'_, R> {
    /// Records an entry that was listed and cannot be found.
    pub(super) fn note_missing(&mut self, dir: &Arc<Dir>, name: &OsStr, file_type: FileType) {
        if dir.is_top() {
            // A root is named by the caller, not listed.
            let error = Fault::Vanished.into();
            return self.error(dir, Operation::Stat, name.into(), 0, error);
        }
        dir.note_missing(name, file_type);
    }

    /// Reports the missing entries of a finished directory, as vanished or as errors.
    pub(super) fn report_missing(&mut self, dir: &Arc<Dir>) {
        let missing = dir.take_missing();
        if missing.is_empty() {
            return;
        }
        let mut suspects: HashSet<&OsStr> = missing.iter().map(|(name, _)| &**name).collect();
        if self.shared.is_stopped() || host::LISTS_DELETED || dir.volume.pseudo {
            suspects.clear();
        }
        for _ in 0..MAX_RELISTS {
            if suspects.is_empty() {
                break;
            }
            if let Err(error) = self.relist(dir, &mut suspects) {
                suspects.clear();
                let depth = dir.entry_depth() - 1;
                self.error(dir, Operation::ReadDirectory, dir.path(), depth, error);
            }
        }
        for (name, file_type) in &missing {
            if suspects.contains(&**name) {
                let (path, depth) = (dir.path_of(name), dir.entry_depth());
                self.error(dir, Operation::Stat, path, depth, Inconsistent.into());
            } else {
                self.omit(dir, Omission::Vanished(*file_type));
            }
        }
    }

    /// Keeps only the suspects that the directory still lists and that still cannot be found.
    fn relist(&mut self, dir: &Arc<Dir>, suspects: &mut HashSet<&OsStr>) -> io::Result<()> {
        let Some(handle) = none_if_gone(self.reopen(dir))? else {
            suspects.clear();
            return Ok(());
        };
        let mut listed = HashSet::new();
        loop {
            let listing = self.reader.list(&handle, &mut self.batch, &Want::default());
            let Some(listing) = none_if_gone(listing)? else { break };
            let names = self.batch.entries().map(|entry| entry.name);
            listed.extend(names.filter_map(|name| suspects.get(name).copied()));
            if listing == ListStatus::End {
                break;
            }
        }
        suspects.retain(|name| listed.contains(name) && self.is_missing(&handle, name));
        Ok(())
    }

    /// Returns whether an entry cannot be found, or is a directory that cannot be opened for that
    /// reason.
    fn is_missing(&mut self, handle: &R::Handle, name: &OsStr) -> bool {
        match self.reader.stat(handle, &[name], FieldMask::empty(), false) {
            Err(fault) => is_gone(&fault),
            Ok(attributes) => {
                attributes.file_type() == FileType::Directory
                    && self.reader.open(handle, &[name], false).is_err_and(|fault| is_gone(&fault))
            }
        }
    }

    /// Reports a directory whose listing ended because it is gone.
    pub(super) fn report_unlistable(&mut self, dir: &Arc<Dir>) {
        let again = self.reopen(dir).and_then(|handle| {
            self.reader.list(&handle, &mut self.batch, &Want::default()).map_err(
                |fault| match fault {
                    // It can be opened, so it exists.
                    Fault::Vanished => Fault::Failed(Inconsistent.into()),
                    fault => fault,
                },
            )
        });
        self.batch.clear();
        if let Err(error) = none_if_gone(again) {
            let depth = dir.entry_depth() - 1;
            self.error(dir, Operation::ReadDirectory, dir.path(), depth, error);
        }
    }

    /// Opens a directory again, the way it was opened first.
    fn reopen(&mut self, dir: &Arc<Dir>) -> Result<R::Handle, Fault> {
        let Some(parent) = dir.parent() else { return Err(Fault::Vanished) };
        let flags = TaskFlags { read: true, listed: true, followed: dir.followed };
        let name = dir.name().into();
        self.open(&Task { parent: parent.clone(), anchor: None, name, flags })
    }
}

/// For a root, absence is an error with a number; below a root it is [`Fault::Vanished`].
fn is_gone(fault: &Fault) -> bool {
    match fault {
        Fault::Vanished => true,
        Fault::Failed(error) => {
            matches!(FaultKind::of(error), FaultKind::NotFound | FaultKind::NotADirectory)
        }
    }
}

fn none_if_gone<T>(answer: Result<T, Fault>) -> io::Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(fault) if is_gone(&fault) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}
