//! The size that areas show.

use transect::table::SubtreeTotals;

transect_sys::words! {
    /// The size that the area of an entry shows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Measure {
        /// Bytes occupied on the device, directories included.
        DiskUsage = "disk_usage",
        /// Lengths of files in bytes.
        Apparent = "apparent_size",
    }
}

impl Measure {
    /// Returns the size in bytes.
    pub(super) fn size(self, sums: &SubtreeTotals) -> u64 {
        match self {
            Self::DiskUsage => sums.disk_usage,
            Self::Apparent => sums.apparent,
        }
    }
}
