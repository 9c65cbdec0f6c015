//! Counters of a running walk.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

/// Counters of a running walk, readable at any time.
///
/// Each thread adds to a cache line of its own, once per directory; [`Progress::counts`] adds them
/// up. There are no locks, and up to 64 threads share no cache line.
#[derive(Debug)]
pub struct Progress {
    slots: Vec<CachePadded<Slot>>,
    /// Set by [`Progress::path`]; the next thread to begin a directory stores its path.
    path_wanted: AtomicBool,
    path: Mutex<Option<PathBuf>>,
}

#[derive(Debug, Default)]
struct Slot {
    entries: AtomicU64,
    directories: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProgressCounts {
    /// Entries delivered, directories included.
    pub entries: u64,
    /// Directories read.
    pub directories: u64,
    /// Bytes, as counted by the sink.
    pub bytes: u64,
    /// Errors reported.
    pub errors: u64,
}

/// The maximum number of threads with counters of their own; more threads share them.
const SLOTS: usize = 64;

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Returns counters at zero.
    pub fn new() -> Self {
        let mut slots = Vec::new();
        slots.resize_with(SLOTS, CachePadded::default);
        Self { slots, path_wanted: AtomicBool::new(false), path: Mutex::new(None) }
    }

    /// Returns the counts at this moment.
    pub fn counts(&self) -> ProgressCounts {
        let mut sum = ProgressCounts::default();
        for slot in &self.slots {
            sum.entries += slot.entries.load(Ordering::Relaxed);
            sum.directories += slot.directories.load(Ordering::Relaxed);
            sum.bytes = sum.bytes.saturating_add(slot.bytes.load(Ordering::Relaxed));
            sum.errors += slot.errors.load(Ordering::Relaxed);
        }
        sum
    }

    /// Returns the path of a directory that was being read after the previous call, and requests
    /// the next one. `None` on the first call.
    pub fn path(&self) -> Option<PathBuf> {
        self.path_wanted.store(true, Ordering::Relaxed);
        self.path.lock().ok()?.clone()
    }

    /// Adds what one thread has counted since its last call.
    pub(crate) fn add(&self, thread: usize, counts: ProgressCounts) {
        let slot = &self.slots[thread % SLOTS];
        let add = |counter: &AtomicU64, more: u64| {
            // Sparse files may claim more bytes than fit into 64 bits.
            let sum = |count: u64| Some(count.saturating_add(more));
            let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        };
        add(&slot.entries, counts.entries);
        add(&slot.directories, counts.directories);
        add(&slot.bytes, counts.bytes);
        add(&slot.errors, counts.errors);
    }

    /// Stores the path that is being read, if it was requested.
    pub(crate) fn at(&self, path: impl FnOnce() -> PathBuf) {
        if self.path_wanted.load(Ordering::Relaxed)
            && self.path_wanted.swap(false, Ordering::Relaxed)
            && let Ok(mut current) = self.path.lock()
        {
            *current = Some(path());
        }
    }
}
