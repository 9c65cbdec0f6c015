//! A directory as it was spelt, and what is known of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::cost::ListingBudget;
use super::lookup_error::LookupError;
use super::name_table::HashedName;
use super::name_table::NameTable;
use super::options::Level;
use super::record::RecordLayout;
use super::split_path;
use super::system::DirIdentity;

/// A directory under one of its spellings. `a/../b` and `b` are two of them: what `..` means only
/// the system knows, which is therefore asked for both.
#[derive(Debug)]
pub(super) struct CachedDir {
    path: PathBuf,
    /// Tells places apart, also from those that are gone.
    pub(super) number: u64,
    /// It lies in a root, so that whatever is in it may be asked about.
    pub(super) inside_roots: bool,
    /// Is held by whoever lists or checks the directory: the others wait for what comes of it.
    listing_lock: Mutex<()>,
    /// Somebody asked since it was last looked at with the aim of evicting it.
    used: AtomicBool,
    directory: RwLock<DirState>,
}

/// What is known of a directory.
#[derive(Debug, Default)]
pub(super) struct DirState {
    /// The epoch in which it became known. What was known in another is not known.
    epoch: u64,
    /// Raised when something is forgotten: what was asked before, and is answered after, is not
    /// kept.
    pub(super) changes: u64,
    /// It has been evicted: nothing more is kept in it, and whoever still has it asks for another.
    pub(super) evicted: bool,
    /// Why everything in it is refused, and how many passes had begun when that was found.
    pub(super) error: Option<(LookupError, u64)>,
    pub(super) table: NameTable,
    pub(super) listing: Option<CompleteListing>,
    pub(super) account: ListingBudget,
    pub(super) watch: WatchStatus,
    /// The bytes that it was last counted with.
    counted: usize,
}

/// A listing of which all names are in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteListing {
    /// What the directory was.
    pub(super) identity: DirIdentity,
    /// A name that is not in it is not there.
    pub(super) exact_names: bool,
    /// It may have been changed after it was listed without that being seen from its times.
    pub(super) racy: bool,
    /// How many passes had begun when it was last found to hold.
    pub(super) checked: u64,
}

/// Whether notifications tell of all changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WatchStatus {
    /// Nobody asked for any yet.
    #[default]
    Unwatched,
    /// They do.
    Watched,
    /// There are none to be had: it is checked instead.
    Unavailable,
}

/// What of a directory's table is to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// All that it says.
    Complete,
    /// All but the attributes of directories, which change without anything happening in the
    /// directory that holds them, and what links lead to.
    Watched,
    /// Which names there are.
    NamesOnly,
    /// Nothing, until it has been checked.
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

    /// Looks at what is known, and takes note that somebody did.
    #[inline]
    pub(super) fn read(&self) -> RwLockReadGuard<'_, DirState> {
        // Most often it is set: nobody's cache is disturbed by reading it.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        self.peek()
    }

    /// Looks at what is known without taking note of it.
    pub(super) fn peek(&self) -> RwLockReadGuard<'_, DirState> {
        self.directory.read().expect(POISONED)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, DirState> {
        self.directory.write().expect(POISONED)
    }

    /// Waits until nobody else lists or checks the directory.
    pub(super) fn lock_listing(&self) -> MutexGuard<'_, ()> {
        self.listing_lock.lock().expect(POISONED)
    }

    /// Returns whether anybody looked since this was last asked.
    pub(super) fn take_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    /// Returns the bytes that it takes beside what is known of the directory: its own, its path's,
    /// two counters, and its place in a map that is half full.
    pub(super) fn own_memory(&self) -> usize {
        size_of::<Self>() + self.path.capacity() + 4 * size_of::<usize>()
    }
}

const POISONED: &str = "BUG: a thread panicked while it changed what is known";

impl DirState {
    /// Returns what is to be believed in a pass.
    #[inline]
    pub(super) fn freshness(&self, level: Level, epoch: u64, revalidation: u64) -> Freshness {
        if self.epoch != epoch {
            return Freshness::Stale;
        }
        match level {
            Level::Frozen => Freshness::Complete,
            Level::Watched if self.watch == WatchStatus::Watched => Freshness::Watched,
            _ if self.listing.is_some_and(|listing| listing.checked > revalidation) => {
                Freshness::NamesOnly
            }
            _ => Freshness::Stale,
        }
    }

    /// Returns whether what is known of it belongs to an epoch.
    pub(super) fn is_of_epoch(&self, epoch: u64) -> bool {
        self.epoch == epoch
    }

    /// Returns why everything in it is refused, if that is to be believed.
    #[inline]
    pub(super) fn error(
        &self,
        freshness: Freshness,
        epoch: u64,
        revalidation: u64,
    ) -> Option<LookupError> {
        let (error, checked) = self.error?;
        let believed = match freshness {
            Freshness::Complete | Freshness::Watched => true,
            Freshness::NamesOnly | Freshness::Stale => {
                self.epoch == epoch && checked > revalidation
            }
        };
        believed.then_some(error)
    }

    /// Returns whether all names are known, and a name that is not among them is not there.
    #[inline]
    pub(super) fn has_all_names(&self) -> bool {
        self.listing.is_some_and(|listing| listing.exact_names)
    }

    /// Begins an epoch: what was known before is not known.
    pub(super) fn renew(&mut self, epoch: u64) {
        if self.epoch < epoch {
            self.forget();
            self.epoch = epoch;
            self.watch = WatchStatus::Unwatched;
            self.account = ListingBudget::default();
        }
    }

    /// Forgets all names.
    pub(super) fn forget(&mut self) {
        self.changes += 1;
        self.table = NameTable::default();
        self.listing = None;
        self.error = None;
    }

    /// Forgets one name; the table is begun anew when most of it is what was forgotten.
    pub(super) fn forget_name(&mut self, name: HashedName<'_>, layout: RecordLayout) {
        self.changes += 1;
        self.table.mark_changed(name);
        if self.table.is_mostly_obsolete(layout) {
            self.forget();
        }
    }

    /// Returns by how much the memory it takes has grown since this was last asked.
    pub(super) fn growth(&mut self) -> isize {
        let now = self.table.memory();
        now as isize - std::mem::replace(&mut self.counted, now) as isize
    }

    /// Evicts it.
    pub(super) fn evict(&mut self) {
        self.forget();
        self.evicted = true;
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_takes_what_the_documents_say() {
        let cached_dir = CachedDir::new(PathBuf::new(), 0, true);
        assert_eq!(cached_dir.own_memory(), 392);
    }
}
