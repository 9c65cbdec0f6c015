//! A cached directory: its state, and how much of it is fresh.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::cost::ListingBudget;
use super::lookup_error::LookupError;
use super::name_table::NameTable;
use super::options::Level;
use super::split_path;
use super::system::DirIdentity;

/// A directory under one of its paths. `a/../b` and `b` are two: only the system can resolve `..`,
/// so both are queried.
#[derive(Debug)]
pub(super) struct CachedDir {
    path: PathBuf,
    /// A unique number, never used again.
    pub(super) number: u64,
    /// The directory is inside a root, so any name in it may be looked up.
    pub(super) inside_roots: bool,
    /// Held by the thread that lists or checks the directory. Others wait for its result.
    listing_lock: Mutex<()>,
    /// Looked up since the last search for directories to evict.
    used: AtomicBool,
    directory: RwLock<DirState>,
}

/// What the cache stores of a directory.
#[derive(Debug, Default)]
pub(super) struct DirState {
    /// The epoch that the entries belong to. They are invalid in any other.
    pub(super) epoch: u64,
    /// Incremented whenever something is dropped. A query that began at another count must not be
    /// stored.
    pub(super) changes: u64,
    /// Evicted: nothing is stored here any more, and threads that still hold it get a new one.
    pub(super) evicted: bool,
    /// The error of every lookup in it, and how many revalidations had begun when it was found.
    pub(super) error: Option<(LookupError, u64)>,
    pub(super) table: NameTable,
    pub(super) listing: Option<CompleteListing>,
    pub(super) account: ListingBudget,
    /// The size of the table when it was last counted, in bytes.
    counted: usize,
}

/// A listing whose names are all in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteListing {
    /// The directory when it was listed.
    pub(super) identity: DirIdentity,
    /// Names are bytes: a name that is not listed does not exist.
    pub(super) exact_names: bool,
    /// A change right after the listing may not show in the directory's times.
    pub(super) racy: bool,
    /// How many revalidations had begun when the listing was last found valid.
    pub(super) checked: u64,
}

/// Which entries of a directory may be used without a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// All entries.
    Complete,
    /// No attributes, but which names exist.
    NamesOnly,
    /// None, until the directory is checked.
    Stale,
}

impl CachedDir {
    pub(super) fn new(path: PathBuf, number: u64, inside_roots: bool) -> Self {
        let (listing_lock, used) = (Mutex::default(), AtomicBool::new(true));
        Self { path, number, inside_roots, listing_lock, used, directory: RwLock::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn key(&self) -> &[u8] {
        split_path::key(&self.path)
    }

    /// Locks the state for reading, and marks the directory as used.
    #[inline]
    pub(super) fn read(&self) -> RwLockReadGuard<'_, DirState> {
        // Usually it is set already: reading it does not invalidate the cache line of other
        // processors.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        self.peek()
    }

    /// Locks the state for reading without marking the directory as used.
    pub(super) fn peek(&self) -> RwLockReadGuard<'_, DirState> {
        self.directory.read().expect(POISONED)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, DirState> {
        self.directory.write().expect(POISONED)
    }

    /// Waits until no other thread lists or checks the directory.
    pub(super) fn lock_listing(&self) -> MutexGuard<'_, ()> {
        self.listing_lock.lock().expect(POISONED)
    }

    /// Returns whether the directory was used since the last call.
    pub(super) fn take_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    /// Returns the size without the table: the struct, its path, two reference counts, and its slot
    /// in a map that is half full.
    pub(super) fn own_memory(&self) -> usize {
        size_of::<Self>() + self.path.capacity() + 4 * size_of::<usize>()
    }
}

const POISONED: &str = "BUG: a thread panicked while it changed what is known";

impl DirState {
    /// Returns which entries are fresh enough for a revalidation.
    #[inline]
    pub(super) fn freshness(&self, level: Level, epoch: u64, revalidation: u64) -> Freshness {
        if self.epoch != epoch {
            return Freshness::Stale;
        }
        match level {
            Level::Frozen => Freshness::Complete,
            _ if self.listing.is_some_and(|listing| listing.checked > revalidation) => {
                Freshness::NamesOnly
            }
            _ => Freshness::Stale,
        }
    }

    /// Returns the error of every lookup in it, if that is fresh enough.
    #[inline]
    pub(super) fn error(
        &self,
        freshness: Freshness,
        epoch: u64,
        revalidation: u64,
    ) -> Option<LookupError> {
        let (error, checked) = self.error?;
        (freshness == Freshness::Complete || self.epoch == epoch && checked > revalidation)
            .then_some(error)
    }

    /// Returns whether names in it were found to exist, and none to be missing since it was last listed.
    pub(super) fn exists(&self) -> bool {
        self.listing.is_some() || self.table.len() > 0 && self.account.has_spent_nothing()
    }

    /// Enters an epoch and drops entries of earlier ones.
    pub(super) fn renew(&mut self, epoch: u64) {
        if self.epoch < epoch {
            self.forget();
            self.epoch = epoch;
            self.account = ListingBudget::default();
        }
    }

    /// Drops all names, and counts this as a change.
    pub(super) fn forget(&mut self) {
        self.changes += 1;
        self.table = NameTable::default();
        self.listing = None;
        self.error = None;
    }

    /// Returns by how many bytes the table has grown since the last call.
    pub(super) fn growth(&mut self) -> isize {
        let now = self.table.memory();
        now as isize - std::mem::replace(&mut self.counted, now) as isize
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn cached_dir_size_as_documented() {
        let cached_dir = CachedDir::new(PathBuf::new(), 0, true);
        assert_eq!(cached_dir.own_memory(), 392);
    }
}
