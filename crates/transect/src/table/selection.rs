//! What several entries come to together: removing them at once frees files that removing each of
//! them alone would not.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::{Row, Table};

/// What several entries come to with all that is below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionTotals {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Everything else.
    pub others: u64,
    /// Allocated bytes of everything, every file once, to whichever name it is charged.
    pub disk_usage: u64,
    /// Those of files that have further names elsewhere, in the table or not.
    pub shared: u64,
    /// How many files these are.
    pub shared_files: u64,
    /// Directories that were not read, or not to their end.
    pub unread: u64,
}

impl SelectionTotals {
    /// Returns the allocated bytes that would be free if all of it were removed.
    pub fn exclusive(&self) -> u64 {
        self.disk_usage.saturating_sub(self.shared)
    }
}

impl Table {
    /// Returns those of the rows that do not lie below another one of them, each once, in the order
    /// of their numbers: entries of one directory are neighbours.
    pub fn outermost(&self, rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
        let mut rows: Vec<Row> = rows.into_iter().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut selection = Selection::of(&rows, &[]);
        rows.retain(|&row| self.parent(row).is_none_or(|parent| !selection.contains(self, parent)));
        rows
    }

    /// Returns what `rows` come to with all that is below them, but for what is in and below
    /// `without`. Neither is to hold a row twice, or one below another: [`Table::outermost`].
    ///
    /// Every file with further names is looked at, wherever it lies, and every directory; entries
    /// are not.
    pub fn selection_totals(&self, rows: &[Row], without: &[Row]) -> SelectionTotals {
        let mut left_out = Selection::of(without, &[]);
        let inside = |row: &Row| !left_out.contains(self, *row);
        let rows: Vec<Row> = rows.iter().copied().filter(inside).collect();
        let mut totals = SelectionTotals::default();
        for &row in &rows {
            let subtree = self.totals(row);
            totals.files += u64::from(subtree.files);
            totals.directories += u64::from(subtree.directories);
            totals.others += u64::from(subtree.others);
            totals.disk_usage = totals.disk_usage.saturating_add(subtree.disk_usage);
        }
        let mut all = Selection::of(&rows, &[]);
        for &row in without.iter().filter(|&&row| all.contains(self, row)) {
            let subtree = self.totals(row);
            totals.files -= u64::from(subtree.files);
            totals.directories -= u64::from(subtree.directories);
            totals.others -= u64::from(subtree.others);
            totals.disk_usage = totals.disk_usage.saturating_sub(subtree.disk_usage);
        }
        let mut selection = Selection::of(&rows, without);
        for linked in self.shared.linked() {
            let here = |&&row: &&u32| selection.contains(self, Row(row));
            let names = linked.rows.iter().filter(here).count();
            let Some(&first) = linked.rows.first().filter(|_| names > 0) else { continue };
            let bytes = self.allocated(Row(first)).unwrap_or(0);
            if !selection.contains(self, Row(first)) {
                totals.disk_usage = totals.disk_usage.saturating_add(bytes);
            }
            if names < linked.rows.len() || !linked.all_here {
                totals.shared = totals.shared.saturating_add(bytes);
                totals.shared_files += 1;
            }
        }
        let directories = self.directories.all.iter().map(|directory| Row(directory.row));
        let unread = directories.filter(|&row| self.directories.unread_reason(row).is_some());
        totals.unread = unread.filter(|&row| selection.contains(self, row)).count() as u64;
        totals
    }
}

/// Which rows lie in or below some, and not in or below others.
struct Selection {
    /// What is known of rows; of all below them the same, where nothing else is said.
    membership: HashMap<Row, bool, FixedState>,
    path: Vec<Row>,
}

impl Selection {
    fn of(rows: &[Row], without: &[Row]) -> Self {
        let inside = rows.iter().map(|&row| (row, true));
        let outside = without.iter().map(|&row| (row, false));
        Self { membership: inside.chain(outside).collect(), path: Vec::new() }
    }

    /// Every directory on the way is looked at once, however often it is passed.
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
