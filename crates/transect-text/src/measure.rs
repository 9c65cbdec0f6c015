//! Which size of an entry a view shows.

use transect::table::SubtreeTotals;

transect_sys::words! {
    /// Which size of an entry a view shows.
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
    pub fn size(self, sums: &SubtreeTotals) -> u64 {
        match self {
            Self::DiskUsage => sums.disk_usage,
            Self::Apparent => sums.apparent,
        }
    }
}
