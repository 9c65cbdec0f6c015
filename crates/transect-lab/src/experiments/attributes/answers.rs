//! The answers of one run, summed.

use transect::{Attributes, FieldMask};
use transect_cache::LookupResult;

use crate::harness::protocol::Held;
use crate::harness::stopwatch::RunTime;

/// The attributes that all methods query.
pub(super) const WANT: FieldMask = FieldMask::MTIME.union(FieldMask::SIZE);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) found: u64,
    pub(super) missing: u64,
    pub(super) bytes: u64,
    pub(super) changed: u64,
}

impl Sums {
    pub(super) fn of(answers: &[LookupResult]) -> Self {
        let mut sums = Self::default();
        answers.iter().for_each(|answer| sums.add(answer.as_ref().ok()));
        sums
    }

    pub(super) fn add(&mut self, found: Option<&Attributes>) {
        let known = found.map(|found| (found.size().unwrap_or(0), found.mtime().unwrap_or(0)));
        self.add_known(known);
    }

    /// Adds the size and the time of a file; `None` if it does not exist. Times wrap around.
    pub(super) fn add_known(&mut self, known: Option<(u64, i64)>) {
        match known {
            None => self.missing += 1,
            Some((size, time)) => {
                self.found += 1;
                self.bytes += size;
                self.changed = self.changed.wrapping_add_signed(time);
            }
        }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            found: self.found + other.found,
            missing: self.missing + other.missing,
            bytes: self.bytes + other.bytes,
            changed: self.changed.wrapping_add(other.changed),
        }
    }
}

pub(super) struct Run {
    pub(super) sums: Sums,
    pub(super) time: RunTime,
    /// The content of the cache at the end, if there is one.
    pub(super) held: Option<Held>,
}
