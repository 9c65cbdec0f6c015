//! How far a walk is, for whoever watches it.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

/// Counters of a running walk, read while it runs.
///
/// Every thread has a cache line of its own and adds to it once per directory; a reader sums them
/// up. Nothing is locked, and up to 64 threads share nothing.
#[derive(Debug)]
pub struct Progress {
    slots: Vec<CachePadded<Slot>>,
    /// Somebody wants to know where the walk is.
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

/// What has been counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressCounts {
    /// Entries delivered, directories included.
    pub entries: u64,
    /// Directories read.
    pub directories: u64,
    /// Bytes, as the sink counts them.
    pub bytes: u64,
    /// Errors met.
    pub errors: u64,
}

/// The most threads whose counts are told apart; further ones share.
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

    /// Returns what has been counted so far.
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

    /// Returns a directory that was read after the last time somebody asked.
    pub fn path(&self) -> Option<PathBuf> {
        self.path_wanted.store(true, Ordering::Relaxed);
        self.path.lock().ok()?.clone()
    }

    /// Adds what one thread counted since it last told.
    pub(crate) fn add(&self, thread: usize, counts: ProgressCounts) {
        let slot = &self.slots[thread % SLOTS];
        let add = |counter: &AtomicU64, more: u64| {
            // Bytes are what files claim, which may be more than can be counted.
            let sum = |count: u64| Some(count.saturating_add(more));
            let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        };
        add(&slot.entries, counts.entries);
        add(&slot.directories, counts.directories);
        add(&slot.bytes, counts.bytes);
        add(&slot.errors, counts.errors);
    }

    /// Tells where the walk is, if somebody wants to know.
    pub(crate) fn at(&self, path: impl FnOnce() -> PathBuf) {
        if self.path_wanted.load(Ordering::Relaxed)
            && self.path_wanted.swap(false, Ordering::Relaxed)
            && let Ok(mut current) = self.path.lock()
        {
            *current = Some(path());
        }
    }
}
