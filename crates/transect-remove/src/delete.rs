//! Deletes an entry with everything below it: from the deepest entry upwards, relative to open
//! directories, without recursion.
//!
//! The table lists the entries to delete. A directory is listed only if it is not empty after that;
//! the remaining entries were not walked.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::{FileId, FileType};

use crate::compare::compare;
use crate::file::freed_with_last_name;
use crate::parent;
use crate::refusal::Refusal;
use crate::report::KeepReason;
use crate::run::Run;
use transect::table::{Children, Row};

/// How many directories stay open on the way down. Those above are opened again from below, and
/// must then be the same.
const MAX_OPEN_DIRS: usize = 32;

/// How often to look whether removed entries are gone, and how long to wait in between.
const LOOKS: u32 = 200;
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

struct EnteredDir {
    row: Row,
    id: Option<FileId>,
    /// `None` while many directories below it are open.
    dir: Option<DirHandle>,
    remaining: Children,
    kept: bool,
    /// How many rows were gone when it was entered.
    gone: usize,
}

/// The directories on the way down. The last one is the current one, the first is an entry of
/// `parent`.
struct DirStack<'h> {
    parent: &'h DirHandle,
    entered: Vec<EnteredDir>,
}

impl DirStack<'_> {
    fn dir(&self) -> &DirHandle {
        match self.entered.last() {
            Some(entered_dir) => {
                entered_dir.dir.as_ref().expect("BUG: the directory at hand is open")
            }
            None => self.parent,
        }
    }

    fn enter(&mut self, entered_dir: EnteredDir) {
        self.entered.push(entered_dir);
        if let Some(far) = self.entered.len().checked_sub(MAX_OPEN_DIRS + 1) {
            self.entered[far].dir = None;
        }
    }

    /// Opens the current directory again, coming from one in it, if it is not open.
    fn reopen(&mut self, below: &EnteredDir) -> Result<(), Refusal> {
        let Some(entered_dir) =
            self.entered.last_mut().filter(|entered_dir| entered_dir.dir.is_none())
        else {
            return Ok(());
        };
        let below = below.dir.as_ref().expect("BUG: the directory at hand was open");
        let above = below.open_parent().map_err(Refusal::of_known_dir)?;
        if above.attributes()?.file_id() != entered_dir.id {
            return Err(KeepReason::Changed.into());
        }
        entered_dir.dir = Some(above);
        Ok(())
    }

    fn keep(&mut self) {
        if let Some(entered_dir) = self.entered.last_mut() {
            entered_dir.kept = true;
        }
    }
}

/// Deletes an entry of `parent`, as far as possible.
pub(super) fn delete(run: &mut Run<'_>, parent: &DirHandle, row: Row) {
    let mut stack = DirStack { parent, entered: Vec::new() };
    remove_or_enter(run, &mut stack, row);
    while let Some(entered_dir) = stack.entered.last_mut() {
        if run.is_cancelled() {
            return;
        }
        match entered_dir.remaining.next() {
            Some(row) => remove_or_enter(run, &mut stack, row),
            None => leave_dir(run, &mut stack),
        }
    }
}

fn remove_or_enter(run: &mut Run<'_>, stack: &mut DirStack<'_>, row: Row) {
    let name = parent::entry_name(run.table, row).expect("BUG: what has no name was refused");
    let outcome = match run.table.file_type(row) {
        _ if run.mounts.binary_search(&row).is_ok() => Err(KeepReason::MountBoundary.into()),
        FileType::Directory => match enter_dir(run, stack.dir(), row, name) {
            Ok(entered_dir) => return stack.enter(entered_dir),
            Err(error) => Err(error),
        },
        _ => unlink(run, stack.dir(), row, name),
    };
    let gone = run.report.gone.len();
    if !run.record(row, gone, outcome) {
        stack.keep();
    }
}

fn enter_dir(
    run: &Run<'_>,
    dir: &DirHandle,
    row: Row,
    name: &OsStr,
) -> Result<EnteredDir, Refusal> {
    let dir = dir.open_dir(name, MountPolicy::Refuse)?;
    let now = dir.attributes()?;
    compare(run.table, row, &now)?;
    Ok(EnteredDir {
        row,
        id: now.file_id(),
        dir: Some(dir),
        remaining: run.table.children(row),
        kept: false,
        gone: run.report.gone.len(),
    })
}

/// Removes a name. Returns the bytes freed, if it was the last name of its file.
fn unlink(run: &Run<'_>, dir: &DirHandle, row: Row, name: &OsStr) -> Result<u64, Refusal> {
    let now = dir.entry_attributes(name)?;
    compare(run.table, row, &now)?;
    dir.unlink(name)?;
    Ok(freed_with_last_name(&now))
}

/// Removes the current directory, whose entries are all done.
fn leave_dir(run: &mut Run<'_>, stack: &mut DirStack<'_>) {
    let Some(entered_dir) = stack.entered.pop() else { return };
    if let Err(error) = stack.reopen(&entered_dir) {
        // The directory was moved away: the directories above cannot be reached, and are kept.
        run.record(entered_dir.row, run.report.gone.len(), Err(error));
        return stack.entered.clear();
    }
    let outcome = if entered_dir.kept {
        Err(Refusal::Reported)
    } else {
        remove_dir(run, stack.dir(), &entered_dir)
    };
    if !run.record(entered_dir.row, entered_dir.gone, outcome) {
        stack.keep();
    }
}

fn remove_dir(
    run: &mut Run<'_>,
    dir: &DirHandle,
    entered_dir: &EnteredDir,
) -> Result<u64, Refusal> {
    let name =
        parent::entry_name(run.table, entered_dir.row).expect("BUG: what has no name was refused");
    let now = dir.entry_attributes(name)?;
    if now.file_type() != FileType::Directory || now.file_id() != entered_dir.id {
        return Err(KeepReason::Changed.into());
    }
    let mut removed = dir.remove_dir(name);
    for _ in 0..LOOKS {
        let waits =
            removed.as_ref().is_err_and(is_not_empty) && only_removed_remain(run, entered_dir);
        if !waits || run.is_cancelled() {
            break;
        }
        std::thread::sleep(LOOK_INTERVAL);
        removed = dir.remove_dir(name);
    }
    match removed {
        Ok(()) => Ok(now.allocated().unwrap_or(0)),
        Err(error) if is_not_empty(&error) => Err(report_unseen(run, entered_dir, error)),
        Err(error) => Err(error.into()),
    }
}

/// Some systems report a directory that is not empty as one that exists.
fn is_not_empty(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

/// Returns whether a directory holds only names that this run removed. Windows keeps the name of a
/// removed entry until the last program closes it, for example one that makes an index.
fn only_removed_remain(run: &Run<'_>, entered_dir: &EnteredDir) -> bool {
    if !cfg!(windows) || run.table.unread_reason(entered_dir.row).is_some() {
        return false;
    }
    let dir = entered_dir.dir.as_ref().expect("BUG: the directory at hand was open");
    let mut only_removed = true;
    let listed = dir.for_each_name(&mut |name| {
        only_removed &= run.table.child(entered_dir.row, name).is_some();
    });
    listed.is_ok() && only_removed
}

/// Reports the entries that keep a directory from being empty.
fn report_unseen(run: &mut Run<'_>, entered_dir: &EnteredDir, not_empty: io::Error) -> Refusal {
    if run.table.unread_reason(entered_dir.row).is_some() {
        return KeepReason::NotSeen.into();
    }
    let dir = entered_dir.dir.as_ref().expect("BUG: the directory at hand was open");
    let before = run.report.counts.kept;
    let (table, row) = (run.table, entered_dir.row);
    let listed = dir.for_each_name(&mut |name| {
        run.report.keep(KeepReason::NotSeen, None, row, || table.path(row).join(name));
    });
    match listed {
        Err(error) => error.into(),
        // The entries are gone again.
        Ok(()) if run.report.counts.kept == before => not_empty.into(),
        Ok(()) => Refusal::Reported,
    }
}
