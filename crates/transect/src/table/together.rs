//! What several entries come to together: removing them at once frees files that removing each of
//! them alone would not.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::{Row, Table};

/// What several entries come to with all that is below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Together {
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

impl Together {
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
        let mut part = Part::of(&rows, &[]);
        rows.retain(|&row| self.parent(row).is_none_or(|parent| !part.holds(self, parent)));
        rows
    }

    /// Returns what `rows` come to with all that is below them, but for what is in and below
    /// `without`. Neither is to hold a row twice, or one below another: [`Table::outermost`].
    ///
    /// Every file with further names is looked at, wherever it lies, and every directory; entries
    /// are not.
    pub fn together(&self, rows: &[Row], without: &[Row]) -> Together {
        let mut left_out = Part::of(without, &[]);
        let inside = |row: &Row| !left_out.holds(self, *row);
        let rows: Vec<Row> = rows.iter().copied().filter(inside).collect();
        let mut together = Together::default();
        for &row in &rows {
            let sums = self.sums(row);
            together.files += u64::from(sums.files);
            together.directories += u64::from(sums.directories);
            together.others += u64::from(sums.others);
            together.disk_usage = together.disk_usage.saturating_add(sums.disk_usage);
        }
        let mut all = Part::of(&rows, &[]);
        for &row in without.iter().filter(|&&row| all.holds(self, row)) {
            let sums = self.sums(row);
            together.files -= u64::from(sums.files);
            together.directories -= u64::from(sums.directories);
            together.others -= u64::from(sums.others);
            together.disk_usage = together.disk_usage.saturating_sub(sums.disk_usage);
        }
        let mut part = Part::of(&rows, without);
        for linked in self.shared.linked() {
            let here = |&&row: &&u32| part.holds(self, Row(row));
            let names = linked.rows.iter().filter(here).count();
            let Some(&first) = linked.rows.first().filter(|_| names > 0) else { continue };
            let bytes = self.allocated(Row(first)).unwrap_or(0);
            if !part.holds(self, Row(first)) {
                together.disk_usage = together.disk_usage.saturating_add(bytes);
            }
            if names < linked.rows.len() || !linked.all_here {
                together.shared = together.shared.saturating_add(bytes);
                together.shared_files += 1;
            }
        }
        let directories = self.directories.all.iter().map(|directory| Row(directory.row));
        let unread = directories.filter(|&row| self.directories.unread(row).is_some());
        together.unread = unread.filter(|&row| part.holds(self, row)).count() as u64;
        together
    }
}

/// Which rows lie in or below some, and not in or below others.
struct Part {
    /// What is known of rows; of all below them the same, where nothing else is said.
    known: HashMap<Row, bool, FixedState>,
    way: Vec<Row>,
}

impl Part {
    fn of(rows: &[Row], without: &[Row]) -> Self {
        let inside = rows.iter().map(|&row| (row, true));
        let outside = without.iter().map(|&row| (row, false));
        Self { known: inside.chain(outside).collect(), way: Vec::new() }
    }

    /// Every directory on the way is looked at once, however often it is passed.
    fn holds(&mut self, table: &Table, row: Row) -> bool {
        let mut answer = self.known.get(&row).copied();
        let mut above = table.parent(row);
        while let (None, Some(row)) = (answer, above) {
            answer = self.known.get(&row).copied();
            above = table.parent(row);
            self.way.push(row);
        }
        let answer = answer.unwrap_or(false);
        self.known.extend(self.way.drain(..).map(|row| (row, answer)));
        answer
    }
}
