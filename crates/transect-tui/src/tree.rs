//! Navigation of a table, and from one table to another of the same tree.

use std::path::{Component, Path};

use transect::FileType;
use transect::table::{Row, Table};

/// Returns the directory shown first: the root if it is the only one, otherwise `None`, the list of
/// all roots.
pub(crate) fn start_directory(table: &Table) -> Option<Row> {
    let mut roots = table.roots();
    let root = roots.next().filter(|&root| is_directory(table, root))?;
    roots.next().is_none().then_some(root)
}

pub(crate) fn is_directory(table: &Table, row: Row) -> bool {
    table.file_type(row) == FileType::Directory
}

/// Returns the entries of a directory in the order of their names; for `None`, the roots.
pub(crate) fn entries(table: &Table, directory: Option<Row>) -> Vec<Row> {
    match directory {
        Some(directory) => table.children(directory).collect(),
        None => table.roots().collect(),
    }
}

/// Returns the entry with the same path in another table.
pub(crate) fn same_path(old: &Table, row: Row, new: &Table) -> Option<Row> {
    match old.parent(row) {
        Some(parent) => new.child(same_path(old, parent, new)?, old.name(row)),
        None => new.roots().find(|&root| new.name(root) == old.name(row)),
    }
}

/// Returns the directory with the same path in another table, or its nearest existing ancestor.
pub(crate) fn nearest_directory(old: &Table, row: Row, new: &Table) -> Option<Row> {
    let there = |row| same_path(old, row, new).filter(|&row| is_directory(new, row));
    std::iter::successors(Some(row), |&row| old.parent(row)).find_map(there)
}

/// Returns the entry at a path, or its nearest known ancestor.
pub(crate) fn find_path(table: &Table, path: &Path) -> Option<Row> {
    let below = |root| Some((root, path.strip_prefix(table.name(root)).ok()?));
    // If one root contains another, only the outer one has entries.
    let (root, rest) = table.roots().find_map(below)?;
    let mut names = rest.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let step = |row: &Row| names.next().and_then(|name| table.child(*row, name));
    std::iter::successors(Some(root), step).last()
}
