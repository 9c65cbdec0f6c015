//! The way from the root of a scan to the directory that holds an entry.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use transect_sys::dir_handle::{DirHandle, MountPolicy};

use crate::compare::compare;
use crate::report::KeepReason;
use transect::table::{Row, Table};

/// Why something could not be reached or removed.
#[derive(Debug)]
pub(super) enum EntryError {
    /// It is not there any more.
    Vanished,
    /// It stays.
    Kept(KeepReason, Option<io::Error>),
    /// It stays because of what it holds, of which everything has been told.
    Reported,
}

impl From<KeepReason> for EntryError {
    fn from(reason: KeepReason) -> Self {
        Self::Kept(reason, None)
    }
}

impl From<io::Error> for EntryError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ => Self::Kept(KeepReason::of(&error), Some(error)),
        }
    }
}

impl EntryError {
    /// Returns what an error means that is about a directory which was there a moment ago: it being
    /// elsewhere now does not mean that anything has gone.
    pub(super) fn of_known_dir(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Kept(KeepReason::Changed, Some(error)),
            _ => error.into(),
        }
    }
}

/// Returns the name that an entry has in the directory that holds it; `None` of a root that has
/// none, as `/` and `..`.
pub(super) fn entry_name(table: &Table, row: Row) -> Option<&OsStr> {
    match table.parent(row) {
        Some(_) => Some(table.name(row)),
        None => Path::new(table.name(row)).file_name(),
    }
}

/// Opens the directory that holds an entry, one step after the other from the root of the scan, and
/// sees to it that every one of them is what the scan found.
pub(super) fn open_parent(table: &Table, row: Row) -> Result<DirHandle, EntryError> {
    let mut path: Vec<Row> = ancestors(table, row).collect();
    let Some(root) = path.pop() else {
        return Ok(open_parent_of_root(Path::new(table.name(row)))?);
    };
    let mut dir = DirHandle::open(Path::new(table.name(root)))?;
    compare(table, root, &dir.attributes()?)?;
    for &row in path.iter().rev() {
        dir = open_child(table, &dir, row)?;
    }
    Ok(dir)
}

fn ancestors(table: &Table, row: Row) -> impl Iterator<Item = Row> {
    std::iter::successors(table.parent(row), |&row| table.parent(row))
}

/// Where a root lies was for the user to say: links on the way to it are followed, as by the scan.
fn open_parent_of_root(root: &Path) -> io::Result<DirHandle> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
    // With a separator at its end: a link that is meant as what it leads to.
    DirHandle::open(&parent.unwrap_or(Path::new(".")).join(""))
}

/// Enters a directory on the way. What is mounted there is entered if the table can tell for sure
/// that the scan did so, too.
fn open_child(table: &Table, dir: &DirHandle, row: Row) -> Result<DirHandle, EntryError> {
    let policy = match table.attributes(row).file_id() {
        Some(_) => MountPolicy::Cross,
        None => MountPolicy::Refuse,
    };
    let child = dir.open_dir(table.name(row), policy)?;
    compare(table, row, &child.attributes()?)?;
    Ok(child)
}
