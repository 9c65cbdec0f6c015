//! Sort orders of entries.

use std::cmp::Reverse;

use transect::table::{Row, SubtreeTotals, Table};
use transect_text::measure::Measure;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortKey {
    #[default]
    Size,
    Count,
    Name,
    /// The newest change of content in the entry or below it.
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortOrder {
    pub(crate) key: SortKey,
    /// The largest, the newest, or the last letter first.
    pub(crate) descending: bool,
    pub(crate) measure: Measure,
}

impl SortOrder {
    /// Returns the usual order for a key: the largest first, but names from A to Z.
    pub(crate) fn by(key: SortKey, measure: Measure) -> Self {
        Self { key, descending: key != SortKey::Name, measure }
    }

    /// Returns the order by a key; reversed if it is the current key.
    pub(crate) fn select_key(self, key: SortKey) -> Self {
        match key == self.key {
            true => Self { descending: !self.descending, ..self },
            false => Self::by(key, self.measure),
        }
    }

    /// Returns the amount that bars and shares represent: the sort key, or bytes if the key is not
    /// an amount.
    pub(crate) fn amount(self, sums: &SubtreeTotals) -> u64 {
        match self.key {
            SortKey::Count => sums.entries(),
            _ => self.measure.size(sums),
        }
    }

    /// Sorts the entries of one directory, which must be in the order of their names. The sort is
    /// stable.
    pub(crate) fn sort(self, table: &Table, rows: Vec<Row>) -> SortedEntries {
        let (mut max_amount, mut total) = (0, 0_u64);
        for &row in &rows {
            let amount = self.amount(&table.totals(row));
            max_amount = amount.max(max_amount);
            total = total.saturating_add(amount);
        }
        let rows = match self.key {
            SortKey::Name if self.descending => rows.into_iter().rev().collect(),
            SortKey::Name => rows,
            SortKey::Time => {
                // Unknown times sort as older than all others.
                self.sort_by(rows, |row| table.totals(row).newest().unwrap_or(i64::MIN))
            }
            SortKey::Size | SortKey::Count => {
                self.sort_by(rows, |row| self.amount(&table.totals(row)))
            }
        };
        SortedEntries { rows, max_amount, total }
    }

    fn sort_by<K: Ord>(self, rows: Vec<Row>, key: impl Fn(Row) -> K) -> Vec<Row> {
        // Each key is computed once: it takes two look-ups in the table.
        let mut keyed: Vec<(K, Row)> = rows.into_iter().map(|row| (key(row), row)).collect();
        if self.descending {
            keyed.sort_unstable_by(|a, b| (Reverse(&a.0), a.1).cmp(&(Reverse(&b.0), b.1)));
        } else {
            keyed.sort_unstable();
        }
        keyed.into_iter().map(|(_, row)| row).collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct SortedEntries {
    pub(crate) rows: Vec<Row>,
    pub(crate) max_amount: u64,
    pub(crate) total: u64,
}
