//! What a cache has done.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a cache has done since it was made. The counters are read one by one while others count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Questions that were answered from memory.
    pub hits: u64,
    /// Questions for which the system had to be asked.
    pub misses: u64,
    /// Directories that were listed.
    pub listings: u64,
    /// Listings that were not begun or given up because they would have cost too much, that were
    /// refused, or during which the directory changed.
    pub listings_given_up: u64,
    /// Questions to the system about one name.
    pub queries: u64,
    /// Questions to the system whether a listing still holds.
    pub checks: u64,
    /// Listings that no longer held.
    pub outdated: u64,
    /// Names and directories that were forgotten because something happened to them.
    pub invalidations: u64,
    /// Directories that were evicted to keep within the memory.
    pub evictions: u64,
    /// Directories that could not be watched, and are checked instead.
    pub unwatched: u64,
    /// How often notifications were lost, and all that hung on them was forgotten.
    pub lost: u64,
    /// Directories that are known now, in all their spellings.
    pub directories: u64,
    /// Names of which something is known now.
    pub names: u64,
    /// Directories that are watched now, those on the way included.
    pub watches: u64,
}

macro_rules! counters {
    ($($name:ident),*) => {
        /// The counters that are shared by all threads.
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
        }

        impl Counters {
            pub(super) fn read(&self) -> CacheCounts {
                CacheCounts { $($name: self.$name.0.load(Ordering::Relaxed),)* ..CacheCounts::default() }
            }
        }
    };
}

counters!(
    hits,
    misses,
    listings,
    listings_given_up,
    queries,
    checks,
    outdated,
    invalidations,
    evictions,
    unwatched,
    lost
);

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub(super) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }
}
