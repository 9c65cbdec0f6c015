//! The table and the rows that the command shows, in any format.

use std::time::Duration;

use transect::Outcome;
use transect::table::{Row, SubtreeTotals, Table};
use transect_duplicates::SharedSpace;
use transect_snapshot::StoredMeasure as Measure;
use transect_sys::DiskSpace;

use super::groups::Group;
use super::tree::Line;

pub(super) enum View {
    Tree(Vec<Line>),
    Groups(Vec<Group>),
}

/// A table, its origin, and the rows to show.
pub(super) struct Usage {
    /// The walk; `None` for an imported table.
    pub(super) outcome: Option<Outcome<()>>,
    /// Whether the table is from a snapshot without checksums.
    pub(super) unverified: bool,
    pub(super) elapsed: Duration,
    pub(super) interrupted: bool,
    pub(super) table: Table,
    /// The file system of the only root; `None` for an imported table.
    pub(super) disk: Option<DiskSpace>,
    pub(super) measure: Measure,
    pub(super) view: View,
    /// What clones share; `None` without `--shared`.
    pub(super) shared: Option<SharedSpace>,
}

impl Usage {
    /// Returns the totals of an entry, with what clones share counted once if that is known.
    pub(super) fn totals(&self, row: Row) -> SubtreeTotals {
        totals(&self.table, self.shared.as_ref(), row)
    }

    pub(super) fn grand_total(&self) -> SubtreeTotals {
        let mut total = self.table.grand_total();
        let again = self.shared.as_ref().map_or(0, |shared| shared.again);
        total.disk_usage = total.disk_usage.saturating_sub(again);
        total
    }

    pub(super) fn errors(&self) -> u64 {
        let of_shared = self.shared.as_ref().map_or(0, |shared| shared.diagnostics.errors);
        self.table.diagnostics().errors + of_shared
    }

    pub(super) fn vanished(&self) -> u64 {
        let of_shared = self.shared.as_ref().map_or(0, |shared| shared.diagnostics.vanished);
        self.table.diagnostics().vanished + of_shared
    }
}

/// See [`Usage::totals`].
pub(super) fn totals(table: &Table, shared: Option<&SharedSpace>, row: Row) -> SubtreeTotals {
    let mut totals = table.totals(row);
    if let Some(shared) = shared {
        totals.disk_usage = shared.disk_usage(table, row);
    }
    totals
}
