//! The bytes in and below a directory.

use std::ops::{AddAssign, SubAssign};

/// Bytes in and below a directory, every file id once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Apparent sizes of everything that is not a directory.
    pub apparent: u64,
    /// Allocated sizes of everything that is not a directory.
    pub allocated: u64,
    /// Apparent sizes of the directories themselves.
    pub directories_apparent: u64,
    /// Allocated sizes of the directories themselves.
    pub directories_allocated: u64,
}

impl Sum {
    /// Returns the disk usage: allocated bytes, the directories' own included, as `du` counts.
    pub fn disk_usage(&self) -> u64 {
        self.allocated + self.directories_allocated
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.directories_apparent += other.directories_apparent;
        self.directories_allocated += other.directories_allocated;
    }
}

impl SubAssign for Sum {
    fn sub_assign(&mut self, other: Self) {
        self.apparent -= other.apparent;
        self.allocated -= other.allocated;
        self.directories_apparent -= other.directories_apparent;
        self.directories_allocated -= other.directories_allocated;
    }
}
