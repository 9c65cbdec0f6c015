//! Navigation of a table, and from one table to another of the same tree.

use std::path::{Component, Path, PathBuf};

use transect::FileType;
use transect::table::{Row, RowSet, Table};

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

/// Returns whether an entry is a further name of a file that is counted at another name.
pub(crate) fn is_further_link(table: &Table, row: Row) -> bool {
    !is_directory(table, row) && table.standalone_usage(row) > table.totals(row).disk_usage
}

/// Returns the entries of a directory in the order of their names; for `None`, the roots.
pub(crate) fn entries(table: &Table, directory: Option<Row>) -> Vec<Row> {
    match directory {
        Some(directory) => table.children(directory).collect(),
        None => table.roots().collect(),
    }
}

pub(crate) fn same_path(old: &Table, row: Row, new: &Table) -> Option<Row> {
    match old.parent(row) {
        Some(parent) => new.child(same_path(old, parent, new)?, old.name(row)),
        None => new.roots().find(|&root| new.name(root) == old.name(row)),
    }
}

/// Returns the entries with the same paths in another table. Neighbours in one directory, which may be
/// millions, are found together.
pub(crate) fn same_paths(old: &Table, rows: impl Iterator<Item = Row>, new: &Table) -> RowSet {
    let mut found = RowSet::new();
    let mut rows = rows.peekable();
    while let Some(row) = rows.next() {
        found.extend(same_path(old, row, new));
        let (Some(parent), Some(_)) = (old.parent(row), rows.peek()) else { continue };
        let mut others = same_path(old, parent, new)
            .map(|parent| new.children(parent))
            .unwrap_or_default()
            .peekable();
        // Both directories are sorted by the bytes of names, in the order of rows.
        let last = old.children(parent).next_back();
        while let Some(sibling) = rows.next_if(|&next| Some(next) <= last) {
            let name = old.name(sibling).as_encoded_bytes();
            while others.next_if(|&other| new.name(other).as_encoded_bytes() < name).is_some() {}
            found.extend(others.next_if(|&other| new.name(other).as_encoded_bytes() == name));
        }
    }
    found
}

/// Returns the directory with the same path in another table, or its nearest existing ancestor.
pub(crate) fn nearest_directory(old: &Table, row: Row, new: &Table) -> Option<Row> {
    let there = |row| same_path(old, row, new).filter(|&row| is_directory(new, row));
    old.ancestors(row).find_map(there)
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

/// Returns paths that are absolute and without links as the table spells them: those in its tree.
pub(crate) fn spelled(table: &Table, paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let root = |root| {
        Some((Path::new(table.name(root)), Path::new(table.name(root)).canonicalize().ok()?))
    };
    let roots: Vec<(&Path, PathBuf)> = table.roots().filter_map(root).collect();
    let spell = |path: PathBuf| {
        roots.iter().find_map(|(name, root)| Some(name.join(path.strip_prefix(root).ok()?)))
    };
    let mut spelled: Vec<PathBuf> = paths.into_iter().filter_map(spell).collect();
    spelled.sort_unstable();
    spelled.dedup();
    spelled
}
