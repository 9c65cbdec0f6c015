//! Totals of several entries. Removing entries together frees files that removing each of them
//! alone would not.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::{Row, SubtreeTotals, Table};

/// The totals of several entries with everything below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectionTotals {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Everything else.
    pub others: u64,
    /// Allocated bytes of everything, each file once, whichever name it is charged to.
    pub disk_usage: u64,
    /// Of these, the bytes of files with more names elsewhere, in the table or not.
    pub shared: u64,
    /// The number of such files.
    pub shared_files: u64,
    /// Directories that were not read, or not completely.
    pub unread: u64,
}

impl SelectionTotals {
    /// Returns the allocated bytes that removing everything would free.
    pub fn exclusive(&self) -> u64 {
        self.disk_usage.saturating_sub(self.shared)
    }

    fn update(&mut self, subtree: SubtreeTotals, change: impl Fn(u64, u64) -> u64) {
        self.files = change(self.files, subtree.files.into());
        self.directories = change(self.directories, subtree.directories.into());
        self.others = change(self.others, subtree.others.into());
        self.disk_usage = change(self.disk_usage, subtree.disk_usage);
    }
}

impl Table {
    /// Returns the rows that do not lie below another one of them, each once, sorted by number:
    /// entries of one directory are neighbours.
    pub fn outermost(&self, rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
        let mut rows: Vec<Row> = rows.into_iter().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut selection = Selection::of(&rows, &[]);
        rows.retain(|&row| self.parent(row).is_none_or(|parent| !selection.contains(self, parent)));
        rows
    }

    /// Returns the totals of `rows` with everything below them, except entries in or below
    /// `without`. Neither list may contain a row twice, or one row below another: see
    /// [`Table::outermost`].
    ///
    /// Checks every file with several names in the table, and every directory, but no other
    /// entries.
    pub fn selection_totals(&self, rows: &[Row], without: &[Row]) -> SelectionTotals {
        let mut left_out = Selection::of(without, &[]);
        let inside = |row: &Row| !left_out.contains(self, *row);
        let rows: Vec<Row> = rows.iter().copied().filter(inside).collect();
        let mut totals = SelectionTotals::default();
        for &row in &rows {
            totals.update(self.totals(row), u64::saturating_add);
        }
        let mut all = Selection::of(&rows, &[]);
        for &row in without.iter().filter(|&&row| all.contains(self, row)) {
            totals.update(self.totals(row), u64::saturating_sub);
        }
        let mut selection = Selection::of(&rows, without);
        for file in self.linked_files() {
            let rows = file.rows;
            let here = |&&row: &&u32| selection.contains(self, Row(row));
            let names = rows.iter().filter(here).count();
            let Some(&first) = rows.first().filter(|_| names > 0) else { continue };
            let bytes = self.allocated(Row(first)).unwrap_or(0);
            if !selection.contains(self, Row(first)) {
                totals.disk_usage = totals.disk_usage.saturating_add(bytes);
            }
            if names < rows.len() || !file.all_here {
                totals.shared = totals.shared.saturating_add(bytes);
                totals.shared_files += 1;
            }
        }
        let directories = self.all_directories().map(|directory| Row(directory.row));
        let unread =
            directories.filter(|&row| self.unread_reason(row).is_some() && self.contains(row));
        totals.unread = unread.filter(|&row| selection.contains(self, row)).count() as u64;
        totals
    }
}

/// The rows in or below some rows, and not in or below others.
struct Selection {
    /// Rows known to be in or out; everything below them is the same unless listed itself.
    membership: HashMap<Row, bool, FixedState>,
    path: Vec<Row>,
}

impl Selection {
    fn of(rows: &[Row], without: &[Row]) -> Self {
        let inside = rows.iter().map(|&row| (row, true));
        let outside = without.iter().map(|&row| (row, false));
        Self { membership: inside.chain(outside).collect(), path: Vec::new() }
    }

    /// Returns whether a row is in the selection. Checks every directory on a path once, however
    /// often it is passed.
    fn contains(&mut self, table: &Table, row: Row) -> bool {
        let mut selected = self.membership.get(&row).copied();
        let mut above = table.parent(row);
        while let (None, Some(row)) = (selected, above) {
            selected = self.membership.get(&row).copied();
            above = table.parent(row);
            self.path.push(row);
        }
        let selected = selected.unwrap_or(false);
        self.membership.extend(self.path.drain(..).map(|row| (row, selected)));
        selected
    }
}
