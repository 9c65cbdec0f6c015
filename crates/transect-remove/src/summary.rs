//! The result that a removal would have, before anything is touched.

use std::path::Path;

use transect::table::{Row, Table};

/// The result that a removal would have, as the walk found the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Names of regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Links, pipes, sockets and devices.
    pub others: u64,
    /// Allocated bytes of all of it, every file once.
    pub disk_usage: u64,
    /// Bytes that would become free.
    pub freed: u64,
    /// Bytes of files that keep other names elsewhere.
    pub shared: u64,
    /// The number of these files.
    pub shared_files: u64,
    /// Directories that contain a mount point: they are kept.
    pub above_mounts: u64,
    /// Mount points. They are kept, and the mounted files are not counted above.
    pub mounts: u64,
    /// Directories that the walk did not read, or not completely. Their entries are unknown, and
    /// kept.
    pub unread: u64,
    /// Errors of the walk.
    pub errors: u64,
}

impl Summary {
    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.files + self.directories + self.others
    }

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

/// Returns the chosen directories that contain a mount point.
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

/// Returns the rows of current mount points in the chosen entries, without those below another one.
/// Empty if the system does not list its mounts.
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
    rows.retain(|&row| table.ancestors(row).any(is_chosen));
    table.outermost(rows)
}
