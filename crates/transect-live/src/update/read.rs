//! Reads directories that are new, or suspect as a whole: watched before they are listed. Records what cannot be read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::time::SystemTime;

use transect::table::{DirectoryId, UnreadReason};
use transect::{Attributes, Error, FaultKind, Operation, ScanError, SkipReason};
use transect_sys::dir_handle::{DirHandle, MountPolicy};

use super::{Known, NewDirectory, Pass, Unreachable};
use crate::suspects::Names;

/// New directories that are kept open until they are read. The others are opened again.
const MAX_OPEN: usize = 128;

impl Pass<'_> {
    /// Prepares the reading of a new directory, unless something is mounted on it.
    pub(super) fn enter(
        &mut self,
        above: &DirHandle,
        id: DirectoryId,
        name: &OsStr,
        attributes: Option<&Attributes>,
    ) {
        let opened = above.open_dir(name, MountPolicy::Refuse);
        if !matches!(&opened, Err(error) if FaultKind::of(error) == FaultKind::NotFound)
            && let Some(file_id) = attributes.and_then(Attributes::file_id)
        {
            self.tree.places.insert(id, file_id, None);
        }
        match opened {
            Ok(handle) => {
                // The last ones are read first.
                if let Some(later) = self.unread.len().checked_sub(MAX_OPEN) {
                    self.unread[later].handle = None;
                }
                self.unread.push(NewDirectory { id, handle: Some(handle), attempts: 0 });
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                self.mark_mount_point(id);
            }
            // It is something else by now, which is a change that will be notified.
            Err(error) if FaultKind::of(&error) == FaultKind::NotFound => {}
            Err(error) => self.fail(id, Operation::OpenDirectory, error),
        }
    }

    /// Reads the new directories, and those in them.
    pub(super) fn read_new_directories(&mut self) -> Result<(), Error> {
        while let Some(NewDirectory { id, handle, attempts }) = self.unread.pop() {
            let handle = handle.map_or_else(|| self.open(id), Ok);
            match handle.and_then(|handle| self.watch(id, handle)) {
                Ok(known) => self.read(id, &known)?,
                Err(Unreachable::Displaced) => self.try_again(id, Names::All, attempts),
                Err(Unreachable::Failed(error))
                    if error.kind() == io::ErrorKind::CrossesDevices =>
                {
                    self.mark_mount_point(id);
                }
                Err(Unreachable::Failed(error)) => {
                    self.fail(id, Operation::OpenDirectory, error);
                }
            }
        }
        Ok(())
    }

    /// Watches a directory, and proves that it is the known one. From then on, a change of its own attributes is noticed.
    fn watch(&mut self, directory: DirectoryId, handle: DirHandle) -> Result<Known, Unreachable> {
        // A directory that is watched already keeps its watch.
        let watch = handle.watch(self.tree.inbox.watcher()).ok();
        let known = self.prove(directory, handle);
        let id = known.as_ref().ok().and_then(|known| known.own.file_id());
        match (id, watch) {
            (Some(id), _) => self.tree.places.insert(directory, id, watch),
            (None, Some(watch)) if self.tree.places.watched(watch).is_none() => {
                self.tree.inbox.watcher().unwatch(watch);
            }
            _ => {}
        }
        known
    }

    /// Lists a directory, and compares it with the table.
    fn read(&mut self, directory: DirectoryId, known: &Known) -> Result<(), Error> {
        let Known { handle, own } = known;
        if own.is_placeholder() {
            // Listing it would download what is in it.
            self.editor.mark_unread(
                directory,
                UnreadReason::Skipped(SkipReason::Placeholder),
                None,
            );
            return Ok(());
        }
        let (mut names, clock) = (BTreeSet::new(), SystemTime::now());
        if let Err(error) = handle.for_each_name(&mut |name| _ = names.insert(name.to_owned())) {
            self.fail_to_list(directory, handle, error);
            return Ok(());
        }
        names.extend(self.names_in(directory));
        if self.query(directory, handle, own, &names)? {
            self.editor.mark_read(directory);
            self.compared.insert(directory);
            self.tree.places.list(directory, own.ctime(), clock);
        }
        Ok(())
    }

    /// Records that an open directory cannot be listed.
    pub(super) fn fail_to_list(
        &mut self,
        directory: DirectoryId,
        handle: &DirHandle,
        error: io::Error,
    ) {
        let is_closed = error.kind() == io::ErrorKind::PermissionDenied && handle.is_unreadable();
        // The handle needs no permission to read; what a walk opens does.
        let operation = if is_closed { Operation::OpenDirectory } else { Operation::ReadDirectory };
        self.fail(directory, operation, error);
    }

    fn mark_mount_point(&mut self, directory: DirectoryId) {
        let why = UnreadReason::Skipped(SkipReason::MountBoundary);
        self.editor.mark_unread(directory, why, None);
    }

    /// Records that a directory cannot be read completely. What is known of it stays. One that cannot be opened is not
    /// watched any more: [`LiveTree::check_unwatched`](crate::LiveTree) tries it again.
    pub(super) fn fail(&mut self, directory: DirectoryId, operation: Operation, error: io::Error) {
        if let (Operation::OpenDirectory, Some(code)) = (operation, error.raw_os_error())
            && let Some(watch) = self.tree.places.close(directory, code)
        {
            self.tree.inbox.watcher().unwatch(watch);
        }
        let table = self.editor.table();
        let Some(row) = table.directory_row(directory) else { return };
        let why = UnreadReason::Failed(FaultKind::of(&error));
        let depth = table.depth(row) as u32;
        let error = ScanError::new(operation, table.path(row), depth, error);
        self.editor.mark_unread(directory, why, Some(error));
    }
}
