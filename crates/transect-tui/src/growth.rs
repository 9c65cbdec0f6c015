//! How entries grew since the tree was read before.

use std::sync::Arc;

use transect::table::{Row, Table};
use transect_text::measure::Measure;

/// The tree before: a table of the same root.
#[derive(Clone, Debug)]
pub(crate) struct TreeBefore(pub(crate) Arc<Table>);

/// The entries of a directory that are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) entries: u64,
    pub(crate) size: u64,
}

impl TreeBefore {
    /// Returns by how many bytes an entry grew; by its size if it is new. `None` if its size is not known, before or
    /// now, because a directory could not be read.
    pub(crate) fn growth(&self, table: &Table, row: Row, measure: Measure) -> Option<i128> {
        let now = measure.size(&table.totals(row));
        let before = match self.row(table, row) {
            Some(before) if self.0.unread_reason(before).is_some() => return None,
            Some(before) => measure.size(&self.0.totals(before)),
            None => {
                let above = table.ancestors(row).skip(1);
                let known = above.filter_map(|row| self.row(table, row)).next();
                if known.is_some_and(|known| self.0.unread_reason(known).is_some()) {
                    return None;
                }
                0
            }
        };
        (table.unread_reason(row).is_none()).then_some(i128::from(now) - i128::from(before))
    }

    /// Returns the sum of the entries that were in a directory and no longer are.
    pub(crate) fn gone(&self, table: &Table, directory: Row, measure: Measure) -> Gone {
        let mut gone = Gone::default();
        let before =
            self.row(table, directory).filter(|_| table.unread_reason(directory).is_none());
        for row in before.into_iter().flat_map(|before| self.0.children(before)) {
            if table.child(directory, self.0.name(row)).is_none() {
                let totals = self.0.totals(row);
                gone.entries += totals.entries();
                gone.size = gone.size.saturating_add(measure.size(&totals));
            }
        }
        gone
    }

    /// Returns the row of an entry before.
    fn row(&self, table: &Table, row: Row) -> Option<Row> {
        match table.parent(row) {
            Some(parent) => self.0.child(self.row(table, parent)?, table.name(row)),
            None => self.0.roots().next(),
        }
    }
}
