//! Entries that a walk found, taken from it together.

use std::fmt;

use super::chunk::Chunk;
use crate::error::Error;
use crate::sink::VisitEntry;

/// Entries and errors that a [`Walk`](crate::Walk) found, as [`Walk::take_found`](crate::Walk::take_found)
/// returns them: for another thread, without a copy of each name.
#[derive(Default)]
pub struct FoundEntries(Chunk);

impl FoundEntries {
    pub(super) fn new(chunk: Chunk) -> Self {
        Self(chunk)
    }

    /// Removes and returns the next entry, or the next error after the last entry; `None` after all of them.
    #[inline]
    pub fn take_next(&mut self) -> Option<Result<VisitEntry<'_>, Error>> {
        self.0.take_next()
    }

    /// Returns the number of entries and errors that are left.
    pub fn len(&self) -> usize {
        self.0.left()
    }

    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for FoundEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundEntries").field("len", &self.len()).finish_non_exhaustive()
    }
}
