//! Sort orders of entries.

use std::cmp::Reverse;

use transect::table::{Row, SubtreeTotals, Table};
use transect_text::measure::Measure;

use crate::growth::{Gone, TreeBefore};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortKey {
    #[default]
    Size,
    /// How the size changed since the tree was read before.
    Growth,
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
    /// an amount. Growth counts whatever its sign.
    pub(crate) fn amount(self, sums: &SubtreeTotals, growth: Option<i128>) -> u64 {
        match self.key {
            SortKey::Count => sums.entries(),
            SortKey::Growth => {
                growth.map_or(0, |growth| growth.unsigned_abs().try_into().unwrap_or(u64::MAX))
            }
            _ => self.measure.size(sums),
        }
    }

    /// Sorts the entries of one directory, which must be in the order of their names. The sort is
    /// stable. [`SortKey::Growth`] needs the tree before.
    pub(crate) fn sort(
        self,
        table: &Table,
        before: Option<&TreeBefore>,
        rows: Vec<Row>,
    ) -> SortedEntries {
        let growth = |row| before.and_then(|before| before.growth(table, row, self.measure));
        let amount = |row| {
            let growth = if self.key == SortKey::Growth { growth(row) } else { None };
            self.amount(&table.totals(row), growth)
        };
        let directory = rows.first().and_then(|&row| table.parent(row));
        let gone = before
            .zip(directory)
            .map(|(before, directory)| before.gone(table, directory, self.measure));
        let (mut max_amount, mut total) = (0, 0_u64);
        for &row in &rows {
            let amount = amount(row);
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
            // Unknown growth sorts below all others.
            SortKey::Growth => self.sort_by(rows, growth),
            SortKey::Size | SortKey::Count => self.sort_by(rows, amount),
        };
        SortedEntries { rows, max_amount, total, gone: gone.unwrap_or_default() }
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
    /// What was there before.
    pub(crate) gone: Gone,
}
