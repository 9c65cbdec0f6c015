//! Counters of a running search.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What a search does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing yet: the tree is being walked.
    Walk,
    /// Reads the heads and tails of files.
    Ends,
    /// Reads whole files.
    Whole,
}

/// Counters of a running search, readable at any time.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    total: AtomicU64,
    done: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Returns what the search does.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Walk,
            1 => Phase::Ends,
            _ => Phase::Whole,
        }
    }

    /// Returns how many files were read in this phase, and how many there are.
    pub fn files(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Returns how many bytes were read in all phases.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(&self, phase: Phase, files: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(files as u64, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn add_file(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
