//! The size that areas show.

use transect::table::SubtreeTotals;

/// The size that the area of an entry shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes occupied on the device, directories included.
    DiskUsage,
    /// Lengths of files in bytes.
    Apparent,
}

impl Measure {
    /// Returns the size in bytes.
    pub(super) fn size(self, sums: &SubtreeTotals) -> u64 {
        match self {
            Self::DiskUsage => sums.disk_usage,
            Self::Apparent => sums.apparent,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::DiskUsage => "disk_usage",
            Self::Apparent => "apparent_size",
        }
    }
}
