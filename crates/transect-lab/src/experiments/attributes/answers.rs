//! The answers of one run, added up.

use std::time::Duration;

use transect::{Attributes, FieldMask};
use transect_cache::LookupResult;

use crate::harness::protocol::Held;

/// What everybody asks for.
pub(super) const WANT: FieldMask = FieldMask::MTIME.union(FieldMask::SIZE);

/// What was answered, added up.
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

    /// Adds a size and a time, as far as they fit.
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

/// What a run came to.
pub(super) struct Run {
    pub(super) sums: Sums,
    pub(super) elapsed: Duration,
    /// What a cache holds at the end.
    pub(super) held: Option<Held>,
}
