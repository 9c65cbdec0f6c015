//! Deleting an entry with all that is below it: from the deepest upwards, relative to open
//! directories, without recursion.
//!
//! The table says what is looked for. A directory is listed only if it is not empty when all that
//! the table knows of is gone: what is left then was not seen by the scan.

use std::ffi::OsStr;
use std::io;

use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::{FileId, FileType};

use super::Reason;
use crate::compare::compare;
use crate::way::{self, Obstacle};
use crate::work::Work;
use transect::table::{Children, Row};

/// How many directories are kept open on the way down. Those above are opened again from below, and
/// must then be what they were.
const OPEN: usize = 32;

/// A directory that has been entered.
struct Level {
    row: Row,
    id: Option<FileId>,
    /// Nothing while many directories below it are open.
    folder: Option<DirHandle>,
    left: Children,
    /// Something in it stays.
    kept: bool,
    /// How many rows had gone when it was entered.
    gone: usize,
}

/// The directories on the way down: the last one is at hand, the first lies in `holder`.
struct Descent<'h> {
    holder: &'h DirHandle,
    levels: Vec<Level>,
}

impl Descent<'_> {
    fn folder(&self) -> &DirHandle {
        match self.levels.last() {
            Some(level) => level.folder.as_ref().expect("BUG: the directory at hand is open"),
            None => self.holder,
        }
    }

    fn enter(&mut self, level: Level) {
        self.levels.push(level);
        if let Some(far) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[far].folder = None;
        }
    }

    /// Sees to it that the directory at hand is open, coming from one in it.
    fn reopen(&mut self, below: &Level) -> Result<(), Obstacle> {
        let Some(level) = self.levels.last_mut().filter(|level| level.folder.is_none()) else {
            return Ok(());
        };
        let below = below.folder.as_ref().expect("BUG: the directory at hand was open");
        let above = below.open_parent().map_err(Obstacle::moved)?;
        if above.attributes()?.file_id() != level.id {
            return Err(Reason::Changed.into());
        }
        level.folder = Some(above);
        Ok(())
    }

    fn keep(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.kept = true;
        }
    }
}

/// Deletes an entry of `holder`, as far as it may be.
pub(super) fn delete(work: &mut Work<'_>, holder: &DirHandle, row: Row) {
    let mut descent = Descent { holder, levels: Vec::new() };
    take(work, &mut descent, row);
    while let Some(level) = descent.levels.last_mut() {
        if work.is_cancelled() {
            return;
        }
        match level.left.next() {
            Some(row) => take(work, &mut descent, row),
            None => leave(work, &mut descent),
        }
    }
}

/// Removes an entry of the directory at hand, or enters it.
fn take(work: &mut Work<'_>, descent: &mut Descent<'_>, row: Row) {
    let name = way::name(work.table, row).expect("BUG: what has no name was refused");
    let done = match work.table.file_type(row) {
        _ if work.mounts.binary_search(&row).is_ok() => Err(Reason::MountBoundary.into()),
        FileType::Directory => match enter(work, descent.folder(), row, name) {
            Ok(level) => return descent.enter(level),
            Err(obstacle) => Err(obstacle),
        },
        _ => unlink(work, descent.folder(), row, name),
    };
    let gone = work.report.gone.len();
    if !work.settle(row, gone, done) {
        descent.keep();
    }
}

fn enter(work: &Work<'_>, folder: &DirHandle, row: Row, name: &OsStr) -> Result<Level, Obstacle> {
    let folder = folder.open_dir(name, MountPolicy::Refuse)?;
    let now = folder.attributes()?;
    compare(work.table, row, &now)?;
    Ok(Level {
        row,
        id: now.file_id(),
        folder: Some(folder),
        left: work.table.children(row),
        kept: false,
        gone: work.report.gone.len(),
    })
}

/// Removes a name. Returns the bytes that this frees, if it was the last one.
fn unlink(work: &Work<'_>, folder: &DirHandle, row: Row, name: &OsStr) -> Result<u64, Obstacle> {
    let now = folder.entry_attributes(name)?;
    compare(work.table, row, &now)?;
    folder.unlink(name)?;
    Ok(if now.nlink() == Some(1) { now.allocated().unwrap_or(0) } else { 0 })
}

/// Removes the directory at hand, now that nothing in it is left to do.
fn leave(work: &mut Work<'_>, descent: &mut Descent<'_>) {
    let Some(level) = descent.levels.pop() else { return };
    if let Err(obstacle) = descent.reopen(&level) {
        // Somebody has moved it away: nothing above can be reached, and all of it stays.
        work.settle(level.row, work.report.gone.len(), Err(obstacle));
        return descent.levels.clear();
    }
    let done =
        if level.kept { Err(Obstacle::Told) } else { remove(work, descent.folder(), &level) };
    if !work.settle(level.row, level.gone, done) {
        descent.keep();
    }
}

fn remove(work: &mut Work<'_>, folder: &DirHandle, level: &Level) -> Result<u64, Obstacle> {
    let name = way::name(work.table, level.row).expect("BUG: what has no name was refused");
    let now = folder.entry_attributes(name)?;
    if now.file_type() != FileType::Directory || now.file_id() != level.id {
        return Err(Reason::Changed.into());
    }
    match folder.remove_dir(name) {
        Ok(()) => Ok(now.allocated().unwrap_or(0)),
        // Some systems call it so.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
            ) =>
        {
            Err(tell_of_unseen(work, level, error))
        }
        Err(error) => Err(error.into()),
    }
}

/// Tells of all that lies in a directory although nothing should.
fn tell_of_unseen(work: &mut Work<'_>, level: &Level, not_empty: io::Error) -> Obstacle {
    if work.table.unread_reason(level.row).is_some() {
        return Reason::NotScanned.into();
    }
    let folder = level.folder.as_ref().expect("BUG: the directory at hand was open");
    let before = work.report.counts.kept;
    let (table, row) = (work.table, level.row);
    let listed = folder.for_each_name(&mut |name| {
        work.report.keep(Reason::NotScanned, None, row, || table.path(row).join(name));
    });
    match listed {
        Err(error) => error.into(),
        // Gone again in the meantime.
        Ok(()) if work.report.counts.kept == before => not_empty.into(),
        Ok(()) => Obstacle::Told,
    }
}
