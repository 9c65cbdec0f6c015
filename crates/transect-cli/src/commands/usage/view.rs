//! The table and the rows that the command shows, in any format.

use std::time::Duration;

use transect::Outcome;
use transect::table::Table;
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
}
