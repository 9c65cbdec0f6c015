//! Counters of a cache.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)* ; $($(#[$now_doc:meta])* $now:ident,)*) => {
        /// The counters of a cache since it was opened. They are read one by one while other threads count.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct CacheCounts {
            $($(#[$doc])* pub $name: u64,)*
            $($(#[$now_doc])* pub $now: u64,)*
        }

        impl CacheCounts {
            /// Returns all counters with their names.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)* $((stringify!($now), self.$now)),*]
            }
        }

        /// The counters that all threads share.
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
        }

        impl Counters {
            /// Returns the counters that only grow.
            pub(super) fn read(&self) -> CacheCounts {
                CacheCounts { $($name: self.$name.get(),)* ..CacheCounts::default() }
            }
        }
    };
}

counters! {
    /// Lookups answered from memory.
    hits,
    /// Lookups that needed a query.
    misses,
    /// Directories listed.
    listings,
    /// Listings that were not begun or given up because of their cost, that failed, or during which
    /// the directory changed.
    listings_given_up,
    /// Queries of one name.
    queries,
    /// Queries whether a listing is still valid.
    checks,
    /// Listings that were not valid any more.
    outdated,
    /// Names and directories dropped because of a change.
    invalidations,
    /// Directories evicted to stay within the memory limit.
    evictions,
    ;
    /// Directories cached now, under all their paths.
    directories,
    /// Names cached now.
    names,
}

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
