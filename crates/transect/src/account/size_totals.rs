//! The bytes in and below a directory.
//!
//! Sparse files may claim more than 2^64 bytes together. Sums saturate: [`u64::MAX`] means that
//! much or more.

use std::ops::{AddAssign, SubAssign};

/// The bytes in and below a directory, each file id once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeTotals {
    /// Apparent sizes of everything that is not a directory.
    pub apparent: u64,
    /// Allocated sizes of everything that is not a directory.
    pub allocated: u64,
    /// Apparent sizes of the directories themselves.
    pub directories_apparent: u64,
    /// Allocated sizes of the directories themselves.
    pub directories_allocated: u64,
}

impl SizeTotals {
    /// Returns the disk usage: allocated bytes, including those of directories, as `du` counts.
    pub fn disk_usage(&self) -> u64 {
        self.allocated.saturating_add(self.directories_allocated)
    }
}

impl AddAssign for SizeTotals {
    fn add_assign(&mut self, other: Self) {
        self.update_each(other, u64::saturating_add);
    }
}

impl SubAssign for SizeTotals {
    fn sub_assign(&mut self, other: Self) {
        self.update_each(other, subtract);
    }
}

impl SizeTotals {
    fn update_each(&mut self, other: Self, change: impl Fn(u64, u64) -> u64) {
        self.apparent = change(self.apparent, other.apparent);
        self.allocated = change(self.allocated, other.allocated);
        self.directories_apparent = change(self.directories_apparent, other.directories_apparent);
        self.directories_allocated =
            change(self.directories_allocated, other.directories_allocated);
    }
}

/// Subtracts from a sum. A saturated sum stays [`u64::MAX`]: its true value is unknown.
fn subtract(sum: u64, part: u64) -> u64 {
    if sum == u64::MAX { sum } else { sum - part }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(apparent: u64) -> SizeTotals {
        SizeTotals { apparent, ..SizeTotals::default() }
    }

    #[test]
    fn size_totals_saturate_in_both_directions() {
        let mut all = sum(0);
        for expected in [i64::MAX as u64, u64::MAX - 1, u64::MAX, u64::MAX] {
            all += sum(i64::MAX as u64);
            assert_eq!(all, sum(expected));
        }
        all -= sum(1);
        assert_eq!(all, sum(u64::MAX), "the excess is unknown");
        let large = SizeTotals { allocated: u64::MAX - 1, directories_allocated: 2, ..sum(0) };
        assert_eq!(large.disk_usage(), u64::MAX);
    }
}
