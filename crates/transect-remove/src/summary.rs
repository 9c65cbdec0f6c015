//! What a removal would come to, before anything is touched.

use std::path::Path;

use transect::table::{Row, Table};

/// What is to be removed, as the scan found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Everything else: links, pipes, sockets, devices.
    pub others: u64,
    /// Allocated bytes of all of it, every file once.
    pub disk_usage: u64,
    /// Those that would be free afterwards.
    pub freed: u64,
    /// Those of files that have further names elsewhere, and stay.
    pub shared: u64,
    /// How many files these are.
    pub shared_files: u64,
    /// Directories on the way to what is mounted: they stay.
    pub above_mounts: u64,
    /// Places where something is mounted. What is there counts for nothing above, and stays.
    pub mounts: u64,
    /// Directories that the scan did not read, or not to their end. What they hold is not known and
    /// stays.
    pub unread: u64,
    /// Errors that the scan met.
    pub errors: u64,
}

impl Summary {
    pub(super) fn of(table: &Table, chosen: &[Row], mounts: &[Row]) -> Self {
        let totals = table.selection_totals(chosen, mounts);
        let mut summary = Self {
            files: totals.files,
            directories: totals.directories,
            others: totals.others,
            disk_usage: totals.disk_usage,
            freed: totals.exclusive(),
            shared: totals.shared,
            shared_files: totals.shared_files,
            mounts: mounts.len() as u64,
            unread: totals.unread,
            errors: chosen.iter().map(|&row| table.errors(row)).sum(),
            ..Self::default()
        };
        for row in directories_above(table, chosen, mounts) {
            summary.above_mounts += 1;
            summary.freed = summary.freed.saturating_sub(table.allocated(row).unwrap_or(0));
        }
        summary
    }
}

/// Returns the chosen directories that hold what is mounted.
fn directories_above(table: &Table, chosen: &[Row], mounts: &[Row]) -> Vec<Row> {
    let mut above = Vec::new();
    for &mount in mounts.iter().filter(|&mount| chosen.binary_search(mount).is_err()) {
        let mut row = mount;
        while let Some(parent) = table.parent(row) {
            above.push(parent);
            row = parent;
            if chosen.binary_search(&row).is_ok() {
                break;
            }
        }
    }
    above.sort_unstable();
    above.dedup();
    above
}

/// Returns the rows at which something is mounted now, and which lie in what is chosen: the
/// outermost of them. Nothing where the system does not tell of its mounts.
pub(super) fn mounted_rows(table: &Table, chosen: &[Row]) -> Vec<Row> {
    let points = transect_sys::host::mount_points().unwrap_or_default();
    let mut rows = Vec::new();
    for root in table.roots() {
        let Ok(path) = Path::new(table.name(root)).canonicalize() else { continue };
        rows.extend(points.iter().filter_map(|point| {
            let mut names = point.strip_prefix(&path).ok()?.iter();
            names.try_fold(root, |row, name| table.child(row, name))
        }));
    }
    let is_chosen = |row: Row| chosen.binary_search(&row).is_ok();
    rows.retain(|&row| std::iter::successors(Some(row), |&row| table.parent(row)).any(is_chosen));
    table.outermost(rows)
}
