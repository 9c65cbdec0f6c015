//! The measure of size: disk usage, apparent size or number of entries.

use transect::table::SubtreeTotals;

use crate::args::UsageArgs;
use crate::output::units;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Bytes occupied, directories included.
    DiskUsage,
    /// Lengths of files in bytes.
    Apparent,
    /// Numbers of entries in and below directories.
    Entries,
}

impl Measure {
    pub(super) fn of(args: &UsageArgs) -> Self {
        match args {
            UsageArgs { apparent: true, .. } => Self::Apparent,
            UsageArgs { entries: true, .. } => Self::Entries,
            _ => Self::DiskUsage,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::DiskUsage => "disk_usage",
            Self::Apparent => "apparent_size",
            Self::Entries => "entries",
        }
    }

    pub(super) fn size(self, sums: &SubtreeTotals) -> u64 {
        match self {
            Self::DiskUsage => sums.disk_usage,
            Self::Apparent => sums.apparent,
            Self::Entries => sums.entries(),
        }
    }

    pub(super) fn text(self, size: u64) -> String {
        match self {
            Self::DiskUsage | Self::Apparent => units::bytes(size),
            Self::Entries => units::count(size),
        }
    }
}
