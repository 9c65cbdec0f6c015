//! Entries in the order of a sorted walk: each directory is followed by everything in it.

use std::sync::Arc;

use transect_sys::Reader;

use super::entry::DirEntry;
use super::found::FoundEntries;
use super::sink::ChunkSink;
use crate::dir::Dir;
use crate::sibling_order::SiblingOrder;
use crate::walk::SteppedWalk;

/// The directories from a root to the one that was read last, with the entries that are not delivered yet.
pub(super) struct SortedEntries {
    order: SiblingOrder,
    levels: Vec<Level>,
}

struct Level {
    dir: Arc<Dir>,
    /// The last one first.
    entries: Vec<DirEntry>,
}

impl SortedEntries {
    pub(super) fn new(order: SiblingOrder) -> Self {
        Self { order, levels: Vec::new() }
    }

    /// Takes all entries of a directory. Its errors stay in the chunk.
    pub(super) fn add(&mut self, found: &mut FoundEntries) {
        let mut entries = found.take_entries();
        let Some(dir) = entries.first().map(|entry| Arc::clone(&entry.dir)) else { return };
        entries.sort_unstable_by(|a, b| self.order.compare(&dir, &b.name, &a.name));
        self.levels.push(Level { dir, entries });
    }

    /// Moves entries to a chunk, up to the next directory that the walk reads. Returns false if that one must be
    /// read first.
    pub(super) fn deliver<R: Reader>(
        &mut self,
        walk: &SteppedWalk<R, ChunkSink>,
        to: &mut FoundEntries,
    ) -> bool {
        while let Some(Level { dir, entries }) = self.levels.last_mut() {
            let next = walk.next_below(dir);
            let comes_first = |entry: &mut DirEntry| {
                next.is_none_or(|next| self.order.compare(dir, &entry.name, next).is_le())
            };
            while let Some(entry) = entries.pop_if(comes_first) {
                to.add_entry(entry);
            }
            if !to.is_empty() || next.is_some() {
                break;
            }
            self.levels.pop();
        }
        !to.is_empty()
    }
}
