//! The way from the root of a scan to the directory that holds an entry.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use transect_sys::dir_handle::{DirHandle, MountPolicy};

use super::Reason;
use crate::compare::compare;
use transect::table::{Row, Table};

/// Why something could not be reached or removed.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// It is not there any more.
    Vanished,
    /// It stays.
    Kept(Reason, Option<io::Error>),
    /// It stays because of what it holds, of which everything has been told.
    Told,
}

impl From<Reason> for Obstacle {
    fn from(reason: Reason) -> Self {
        Self::Kept(reason, None)
    }
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ => Self::Kept(Reason::of(&error), Some(error)),
        }
    }
}

impl Obstacle {
    /// Returns what an error means that is about a directory which was there a moment ago: it being
    /// elsewhere now does not mean that anything has gone.
    pub(super) fn moved(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Kept(Reason::Changed, Some(error)),
            _ => error.into(),
        }
    }
}

/// Returns the name that an entry has in the directory that holds it; `None` of a root that has
/// none, as `/` and `..`.
pub(super) fn name(table: &Table, row: Row) -> Option<&OsStr> {
    match table.parent(row) {
        Some(_) => Some(table.name(row)),
        None => Path::new(table.name(row)).file_name(),
    }
}

/// Opens the directory that holds an entry, one step after the other from the root of the scan, and
/// sees to it that every one of them is what the scan found.
pub(super) fn holder(table: &Table, row: Row) -> Result<DirHandle, Obstacle> {
    let mut way: Vec<Row> = ancestors(table, row).collect();
    let Some(root) = way.pop() else {
        return Ok(holder_of_root(Path::new(table.name(row)))?);
    };
    let mut folder = DirHandle::open(Path::new(table.name(root)))?;
    compare(table, root, &folder.attributes()?)?;
    for &row in way.iter().rev() {
        folder = step(table, &folder, row)?;
    }
    Ok(folder)
}

fn ancestors(table: &Table, row: Row) -> impl Iterator<Item = Row> {
    std::iter::successors(table.parent(row), |&row| table.parent(row))
}

/// Where a root lies was for the user to say: links on the way to it are followed, as by the scan.
fn holder_of_root(root: &Path) -> io::Result<DirHandle> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
    // With a separator at its end: a link that is meant as what it leads to.
    DirHandle::open(&parent.unwrap_or(Path::new(".")).join(""))
}

/// Enters a directory on the way. What is mounted there is entered if the table can tell for sure
/// that the scan did so, too.
fn step(table: &Table, folder: &DirHandle, row: Row) -> Result<DirHandle, Obstacle> {
    let mounts = match table.attributes(row).file_id() {
        Some(_) => MountPolicy::Cross,
        None => MountPolicy::Refuse,
    };
    let below = folder.open_dir(table.name(row), mounts)?;
    compare(table, row, &below.attributes()?)?;
    Ok(below)
}
