//! Counters of a cache.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a cache since it was opened. They are read one by one while other threads count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Lookups answered from memory.
    pub hits: u64,
    /// Lookups that needed a query.
    pub misses: u64,
    /// Directories listed.
    pub listings: u64,
    /// Listings that were not begun or given up because of their cost, that failed, or during which
    /// the directory changed.
    pub listings_given_up: u64,
    /// Queries of one name.
    pub queries: u64,
    /// Queries whether a listing is still valid.
    pub checks: u64,
    /// Listings that were not valid any more.
    pub outdated: u64,
    /// Names and directories dropped because of a change.
    pub invalidations: u64,
    /// Directories evicted to stay within the memory limit.
    pub evictions: u64,
    /// Directories that could not be watched and are checked instead.
    pub unwatched: u64,
    /// How often notifications were lost, and everything that depended on them was dropped.
    pub lost: u64,
    /// Directories cached now, under all their paths.
    pub directories: u64,
    /// Names cached now.
    pub names: u64,
    /// Directories watched now, including those above cached ones.
    pub watches: u64,
}

impl CacheCounts {
    /// Returns all counters with their names.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let Self { directories, names, watches, .. } = *self;
        let now = [("directories", directories), ("names", names), ("watches", watches)];
        self.growing().into_iter().chain(now).collect()
    }
}

macro_rules! counters {
    ($($name:ident),*) => {
        /// The counters that all threads share.
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
        }

        impl Counters {
            pub(super) fn read(&self) -> CacheCounts {
                CacheCounts { $($name: self.$name.get(),)* ..CacheCounts::default() }
            }
        }

        impl CacheCounts {
            /// Returns the counters that only grow.
            fn growing(&self) -> impl IntoIterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*]
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

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
