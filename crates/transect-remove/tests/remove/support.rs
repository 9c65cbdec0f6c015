//! Helpers for the tests of removals.

use std::path::{Path, PathBuf};

use transect::table::{Row, Table, TableBuilder};
use transect::{Cancel, FieldMask, ScanOptions};
use transect_remove::{KeepReason, Removal, Report};
#[cfg(target_os = "linux")]
use transect_testkit::TempDir;

/// Scans a tree with all columns that removals compare.
pub(crate) fn scanned(root: impl AsRef<Path>) -> Table {
    scanned_with(FieldMask::FILE_ID, ScanOptions::new([root.as_ref()]))
}

pub(crate) fn scanned_with(columns: FieldMask, options: ScanOptions) -> Table {
    let builder = TableBuilder::new(Removal::COLUMNS | columns);
    let outcome = options.plan().unwrap().run(|| builder.sink()).unwrap();
    outcome.sink.into_table().unwrap()
}

/// Returns the row of a path below the first root.
#[track_caller]
pub(crate) fn row(table: &Table, path: &str) -> Row {
    let root = table.roots().next().unwrap();
    Path::new(path).iter().fold(root, |row, name| table.child(row, name).unwrap())
}

pub(crate) fn rows<const N: usize>(table: &Table, paths: [&str; N]) -> [Row; N] {
    paths.map(|path| row(table, path))
}

pub(crate) fn chosen<'t, const N: usize>(table: &'t Table, paths: [&str; N]) -> Removal<'t> {
    Removal::new(table, rows(table, paths)).unwrap()
}

pub(crate) fn delete(removal: &Removal<'_>) -> Report {
    removal.delete(&Cancel::new(), &mut |_, _| {})
}

/// Deletes the entries at these paths below the root of a table.
pub(crate) fn delete_at<const N: usize>(table: &Table, paths: [&str; N]) -> Report {
    delete(&chosen(table, paths))
}

/// Returns the paths of kept entries below a root, and the reasons.
pub(crate) fn kept(report: &Report, root: &Path) -> Vec<(PathBuf, KeepReason)> {
    let mut kept: Vec<_> = report
        .kept
        .iter()
        .map(|kept| (kept.path.strip_prefix(root).unwrap().to_owned(), kept.reason))
        .collect();
    kept.sort();
    assert_eq!(kept.len() as u64, report.counts.kept);
    kept
}

/// Returns the paths reported as gone, below a root.
pub(crate) fn gone(table: &Table, report: &Report, root: &Path) -> Vec<PathBuf> {
    let path = |&row: &Row| table.path(row).strip_prefix(root).unwrap().to_owned();
    let mut gone: Vec<PathBuf> = report.gone.iter().map(path).collect();
    gone.sort();
    gone
}

pub(crate) fn paths<const N: usize>(paths: [&str; N]) -> Vec<PathBuf> {
    paths.map(PathBuf::from).to_vec()
}

/// Writes a file, and creates its parent directories.
pub(crate) fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Returns whether the path exists; a dangling link counts.
pub(crate) fn is_there(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    path.is_symlink() || path.exists()
}

/// Creates a directory in memory if possible: changing a tree a hundred thousand times takes
/// minutes on a busy disk.
#[cfg(target_os = "linux")]
pub(crate) fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::below(memory) } else { TempDir::new() }
}
