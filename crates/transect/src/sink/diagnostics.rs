//! Errors, vanished entries, and entries left out: everything that is not in a result.

use std::collections::BTreeMap;

use transect_sys::FaultKind;

use crate::error::{Operation, ScanError};
use crate::sink::{Omission, SkipReason};

/// Errors with their paths, and counts of everything that is not in a result.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The number of errors.
    pub errors: u64,
    /// Errors by operation and kind.
    pub errors_by: BTreeMap<(Operation, FaultKind), u64>,
    /// Roots that could not be read at all.
    pub failed_roots: u64,
    /// Entries deleted between listing and reading.
    pub vanished: u64,
    /// Entries left out, or not read, on purpose, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// The first errors of each thread, up to the limit; sorted by [`Diagnostics::sort`].
    pub kept_errors: Vec<ScanError>,
    keep_limit: usize,
}

impl Diagnostics {
    /// The default number of errors kept per thread.
    pub const DEFAULT_KEPT: usize = 1000;

    /// Returns empty diagnostics that keep `keep_limit` errors per thread.
    pub fn new(keep_limit: usize) -> Self {
        Self { keep_limit, ..Self::default() }
    }

    /// Returns whether nothing failed.
    pub fn is_complete(&self) -> bool {
        self.errors == 0
    }

    /// Counts what is missing, and keeps an error if there is room.
    pub fn add<'a>(&mut self, omission: impl Into<Omission<'a>>) {
        let omission = omission.into();
        self.count(&omission);
        if let Omission::Failed(error) = omission
            && self.has_room()
        {
            self.kept_errors.push(error);
        }
    }

    /// Counts what is missing without keeping an error.
    pub(crate) fn count(&mut self, omission: &Omission<'_>) {
        match omission {
            Omission::Failed(error) => self.count_error(error),
            Omission::Vanished(_) => self.vanished += 1,
            Omission::Skipped { reason, .. } => *self.skipped.entry(*reason).or_default() += 1,
        }
    }

    /// Returns whether another error would be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.kept_errors.len() < self.keep_limit
    }

    /// Counts an error without keeping it.
    pub(crate) fn count_error(&mut self, error: &ScanError) {
        self.errors += 1;
        *self.errors_by.entry((error.operation(), error.kind())).or_default() += 1;
        // A root whose listing failed midway was read in part.
        let unread = error.operation() != Operation::ReadDirectory;
        self.failed_roots += u64::from(error.depth() == 0 && unread);
    }

    /// Returns a copy without the kept errors.
    pub(crate) fn counts(&self) -> Self {
        Self {
            errors_by: self.errors_by.clone(),
            skipped: self.skipped.clone(),
            kept_errors: Vec::new(),
            ..*self
        }
    }

    /// Merges the diagnostics of another thread.
    pub fn merge(&mut self, other: Self) {
        self.errors += other.errors;
        self.failed_roots += other.failed_roots;
        self.vanished += other.vanished;
        for (key, count) in other.errors_by {
            *self.errors_by.entry(key).or_default() += count;
        }
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        self.kept_errors.extend(other.kept_errors);
    }

    /// Sorts the kept errors by path and operation, so that their order does not depend on the
    /// schedule.
    pub fn sort(&mut self) {
        self.kept_errors.sort_by(|a, b| (a.path(), a.operation()).cmp(&(b.path(), b.operation())));
    }
}
