//! Alternate streams: further contents of a file, with names of their own (NTFS).

use std::ops::AddAssign;

/// The alternate streams of the files and directories of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlternateStreams {
    /// The number of streams. Those of a file with several names count once.
    pub count: u64,
    /// Their lengths in bytes.
    pub apparent: u64,
    /// The bytes they occupy outside the file table.
    pub allocated: u64,
}

impl AddAssign for AlternateStreams {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.apparent = self.apparent.saturating_add(other.apparent);
        self.allocated = self.allocated.saturating_add(other.allocated);
    }
}
