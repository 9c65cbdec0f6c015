//! Entries and errors on their way from the threads of a walk to its caller.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use transect_sys::{Attributes, EntryRef, NameBuffer, Verdict};

use super::entry::DirEntry;
use crate::dir::Dir;
use crate::error::Error;
use crate::sink::{Visit, VisitEntry};

/// Entries of one or more directories, with their names in one buffer, and errors: for another thread, without a
/// copy of each name.
#[derive(Default)]
pub struct FoundEntries {
    names: NameBuffer,
    entries: Vec<(Attributes, bool)>,
    /// The directories, each with the number of entries up to its last one.
    dirs: Vec<(Arc<Dir>, usize)>,
    errors: VecDeque<Error>,
    /// The next entry to take, and its directory.
    next: usize,
    dir: usize,
}

impl FoundEntries {
    /// Returns an empty chunk with room for this many entries.
    pub(super) fn with_room(entries: usize) -> Self {
        let names = NameBuffer::with_capacity(entries, 32 * entries);
        Self { names, entries: Vec::with_capacity(entries), ..Self::default() }
    }

    /// Returns whether it has no memory that can be used again.
    pub(super) fn is_new(&self) -> bool {
        self.entries.capacity() == 0
    }

    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries and errors that are left.
    pub fn len(&self) -> usize {
        self.entries.len() + self.errors.len() - self.next
    }

    /// As [`Self::take_next`], with a copy of the entry.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Result<DirEntry, Error>> {
        Some(self.take_next()?.map(DirEntry::from))
    }

    /// Removes and returns the next entry, or the next error after the last entry; `None` after all of them.
    #[inline]
    pub fn take_next(&mut self) -> Option<Result<VisitEntry<'_>, Error>> {
        let Some((attributes, followed)) = self.entries.get(self.next) else {
            return self.errors.pop_front().map(Err);
        };
        while self.dirs[self.dir].1 <= self.next {
            self.dir += 1;
        }
        let dir = &self.dirs[self.dir].0;
        let (name, followed) = (self.names.get(self.next), *followed);
        self.next += 1;
        let entry = EntryRef { name, verdict: Verdict::Keep, followed, attributes };
        Some(Ok(VisitEntry::new(dir, entry)))
    }

    /// Removes everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.dirs.clear();
        self.errors.clear();
        (self.next, self.dir) = (0, 0);
    }

    pub(super) fn add_error(&mut self, error: Error) {
        self.errors.push_back(error);
    }

    /// Removes and returns all entries. Errors stay.
    pub(super) fn take_entries(&mut self) -> Vec<DirEntry> {
        let errors = std::mem::take(&mut self.errors);
        let entries = std::iter::from_fn(|| self.take().and_then(Result::ok)).collect();
        self.clear();
        self.errors = errors;
        entries
    }

    pub(super) fn add_entry(&mut self, entry: DirEntry) {
        self.names.push(&entry.name);
        self.entries.push((entry.attributes, entry.followed));
        self.dirs.push((entry.dir, self.entries.len()));
    }

    pub(super) fn add(&mut self, visit: &Visit<'_>) {
        let before = self.entries.len();
        self.names.reserve(visit.batch.len());
        self.entries.reserve(visit.batch.len());
        for entry in visit.batch.iter() {
            self.names.push(entry.name);
            self.entries.push((*entry.attributes, entry.followed));
        }
        if self.entries.len() > before {
            self.dirs.push((Arc::clone(visit.dir), self.entries.len()));
        }
    }
}

impl fmt::Debug for FoundEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundEntries").field("len", &self.len()).finish_non_exhaustive()
    }
}
