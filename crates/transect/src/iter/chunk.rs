//! Entries and errors on their way from the threads of a walk to its iterator.

use std::collections::VecDeque;
use std::sync::Arc;

use transect_sys::{Attributes, NameBuffer};

use super::entry::DirEntry;
use crate::dir::Dir;
use crate::error::ScanError;
use crate::sink::Visit;

/// Entries of one or more directories, with their names in one buffer, and errors.
#[derive(Default)]
pub(super) struct Chunk {
    names: NameBuffer,
    entries: Vec<(Attributes, bool)>,
    /// The directories, each with the number of entries up to its last one.
    dirs: Vec<(Arc<Dir<()>>, usize)>,
    errors: VecDeque<ScanError>,
    /// The next entry to take, and its directory.
    next: usize,
    dir: usize,
}

impl Chunk {
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.entries.len() && self.errors.is_empty()
    }

    /// Returns the number of entries and errors, taken or not.
    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.errors.len()
    }

    /// Removes and returns the next entry, or the next error after the last entry.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Result<DirEntry, ScanError>> {
        let Some(&(attributes, followed)) = self.entries.get(self.next) else {
            return self.errors.pop_front().map(Err);
        };
        while self.dirs[self.dir].1 <= self.next {
            self.dir += 1;
        }
        let dir = Arc::clone(&self.dirs[self.dir].0);
        let name = self.names.get(self.next).to_owned();
        self.next += 1;
        Some(Ok(DirEntry { dir, name, attributes, followed }))
    }

    /// Removes everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.dirs.clear();
        self.errors.clear();
        (self.next, self.dir) = (0, 0);
    }

    pub(super) fn add_error(&mut self, error: ScanError) {
        self.errors.push_back(error);
    }

    pub(super) fn add(&mut self, visit: &Visit<'_, ()>) {
        let before = self.entries.len();
        for entry in visit.batch.iter() {
            self.names.push(entry.name);
            self.entries.push((*entry.attributes, entry.followed));
        }
        if self.entries.len() > before {
            self.dirs.push((Arc::clone(visit.dir), self.entries.len()));
        }
    }
}
