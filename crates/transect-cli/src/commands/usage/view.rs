//! The table and the rows that the command shows, in any format, and the values of JSON and CSV.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use transect::table::{Row, SubtreeTotals, Table, UnreadReason};
use transect::{FileType, Outcome};
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

/// What JSON and CSV show, from a table or from stored totals.
pub(super) struct Report<'u> {
    pub(super) roots: Vec<PathBuf>,
    pub(super) outcome: Option<&'u Outcome<()>>,
    pub(super) unverified: bool,
    pub(super) elapsed: Duration,
    pub(super) interrupted: bool,
    pub(super) disk: Option<DiskSpace>,
    pub(super) measure: Measure,
    pub(super) total: SubtreeTotals,
    pub(super) hard_links: u64,
    pub(super) errors: u64,
    pub(super) vanished: u64,
    pub(super) rows: ReportRows<'u>,
}

pub(super) enum ReportRows<'u> {
    Entries(Vec<ReportEntry>),
    Groups(&'u [Group]),
}

pub(super) struct ReportEntry {
    pub(super) path: PathBuf,
    /// Steps below the root.
    pub(super) depth: usize,
    pub(super) file_type: FileType,
    pub(super) totals: SubtreeTotals,
    pub(super) shared: u64,
    pub(super) exclusive: u64,
    /// The least and the most that removing it would free; `None` without `--shared`.
    pub(super) freed: Option<Range<u64>>,
    pub(super) errors: u64,
    pub(super) unread: Option<UnreadReason>,
}

impl<'u> Report<'u> {
    pub(super) fn of(usage: &'u Usage, roots: Vec<PathBuf>) -> Self {
        let Usage { unverified, elapsed, interrupted, table, measure, view, shared, .. } = usage;
        let entry = |line: &Line| {
            let row = line.row;
            ReportEntry {
                path: table.path(row),
                depth: line.last.len(),
                file_type: table.file_type(row),
                totals: usage.totals(row),
                shared: table.shared(row),
                exclusive: table.exclusive(row),
                freed: shared.as_ref().map(|shared| shared.exclusive(table, row)),
                errors: table.errors(row),
                unread: table.unread_reason(row),
            }
        };
        Self {
            roots,
            outcome: usage.outcome.as_ref(),
            unverified: *unverified,
            elapsed: *elapsed,
            interrupted: *interrupted,
            disk: usage.disk,
            measure: *measure,
            total: usage.grand_total(),
            hard_links: table.hard_links(),
            errors: usage.errors(),
            vanished: usage.vanished(),
            rows: match view {
                View::Tree(lines) => ReportRows::Entries(lines.iter().map(entry).collect()),
                View::Groups(groups) => ReportRows::Groups(groups),
            },
        }
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
