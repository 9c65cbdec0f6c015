//! The measure of size: disk usage, apparent size or number of entries.

pub(super) use transect_snapshot::StoredMeasure as Measure;

use crate::args::UsageArgs;
use crate::output::units;

pub(super) fn of(args: &UsageArgs) -> Measure {
    match args {
        UsageArgs { apparent: true, .. } => Measure::Apparent,
        UsageArgs { entries: true, .. } => Measure::Entries,
        _ => Measure::DiskUsage,
    }
}

pub(super) fn text(measure: Measure, size: u64) -> String {
    match measure {
        Measure::DiskUsage | Measure::Apparent => units::bytes(size),
        Measure::Entries => units::count(size),
    }
}
