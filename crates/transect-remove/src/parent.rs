//! Opens the directory that contains an entry, step by step from the root of the walk.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use transect_sys::dir_handle::{DirHandle, MountPolicy};

use crate::compare::compare;
use crate::refusal::Refusal;
use transect::table::{Row, Table};

/// Returns the name of an entry in its directory; `None` for a root without one, such as `/` and
/// `..`.
pub(super) fn entry_name(table: &Table, row: Row) -> Option<&OsStr> {
    match table.parent(row) {
        Some(_) => Some(table.name(row)),
        None => Path::new(table.name(row)).file_name(),
    }
}

/// Opens the directory that contains an entry, one step after the other from the root of the walk,
/// and compares every directory with the walk.
pub(super) fn open_parent(table: &Table, row: Row) -> Result<DirHandle, Refusal> {
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
    table.ancestors(row).skip(1)
}

/// Opens the directory that contains a root. The user chose the path of the root, so links in it
/// are followed, as by the walk.
fn open_parent_of_root(root: &Path) -> io::Result<DirHandle> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
    // The separator at the end makes it the target of a link.
    DirHandle::open(&parent.unwrap_or(Path::new(".")).join(""))
}

/// Enters a directory. A mount point is entered only if the table proves that the walk entered it,
/// too.
fn open_child(table: &Table, dir: &DirHandle, row: Row) -> Result<DirHandle, Refusal> {
    let policy = match table.attributes(row).file_id() {
        Some(_) => MountPolicy::Cross,
        None => MountPolicy::Refuse,
    };
    let child = dir.open_dir(table.name(row), policy)?;
    compare(table, row, &child.attributes()?)?;
    Ok(child)
}
