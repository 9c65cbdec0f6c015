//! A bounded queue of entries: from the threads of a walk to its iterator.
//!
//! The threads add to one chunk together, under a lock, one batch at a time. So a directory, which is
//! added before a thread can read what is in it, comes out before everything in it.
//!
//! Full, the queue makes the threads wait, so memory is bounded however slow the iterator's caller
//! is. Empty chunks go back to the threads, so that their memory is used again.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::found::FoundEntries;
use crate::lock::lock;

/// Full chunks that may wait in the queue.
const CAPACITY: usize = 16;

/// Entries at which a chunk is full. It may hold one more batch.
pub(super) const CHUNK_ENTRIES: usize = 512;

/// The least time between two chunks that are not full. Waking the receiver for every directory would
/// cost more than reading the directory.
const CHUNK_INTERVAL: Duration = Duration::from_millis(1);

pub(super) struct ChunkQueue {
    state: Mutex<State>,
    /// A chunk is full, the receiver waits for any entry, or the last sender is done.
    arrived: Condvar,
    /// There is room, or the receiver is gone.
    room: Condvar,
}

struct State {
    full: VecDeque<FoundEntries>,
    /// The chunk to which the threads add.
    open: FoundEntries,
    spare: Vec<FoundEntries>,
    /// When the receiver got its last chunk.
    last_received: Instant,
    /// The receiver waits, and takes a chunk with a single entry.
    hungry: bool,
    /// Nothing will be sent any more.
    done: bool,
    /// Nothing will be received any more.
    closed: bool,
}

impl ChunkQueue {
    pub(super) fn new() -> Self {
        let state = State {
            full: VecDeque::new(),
            open: FoundEntries::default(),
            spare: Vec::new(),
            last_received: Instant::now(),
            hungry: false,
            done: false,
            closed: false,
        };
        Self { state: Mutex::new(state), arrived: Condvar::new(), room: Condvar::new() }
    }

    /// Calls `add` for the chunk that is being filled; waits while the queue is full. Returns how long
    /// it waited; `None` if the receiver is gone.
    pub(super) fn send(&self, add: impl FnOnce(&mut FoundEntries)) -> Option<Duration> {
        let mut waited = Duration::ZERO;
        let mut state = lock(&self.state);
        if state.full.len() >= CAPACITY && !state.closed {
            let began = Instant::now();
            while state.full.len() >= CAPACITY && !state.closed {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            waited = began.elapsed();
        }
        if state.closed {
            return None;
        }
        add(&mut state.open);
        let is_full = state.open.len() >= CHUNK_ENTRIES;
        if is_full {
            let spare = state.spare.pop().unwrap_or_default();
            let chunk = std::mem::replace(&mut state.open, spare);
            state.full.push_back(chunk);
        }
        let notify = is_full || std::mem::take(&mut state.hungry);
        drop(state);
        if notify {
            self.arrived.notify_one();
        }
        Some(waited)
    }

    /// Returns the next chunk, and waits for one; `None` after the last one. Takes an empty chunk for
    /// the senders.
    pub(super) fn receive(&self, mut emptied: FoundEntries) -> Option<FoundEntries> {
        emptied.clear();
        let mut state = lock(&self.state);
        loop {
            if let Some(chunk) = state.full.pop_front() {
                let was_full = state.full.len() + 1 == CAPACITY;
                state.spare.push(emptied);
                state.last_received = Instant::now();
                drop(state);
                if was_full {
                    self.room.notify_all();
                }
                return Some(chunk);
            }
            let rest = CHUNK_INTERVAL.saturating_sub(state.last_received.elapsed());
            if !state.open.is_empty() && (rest.is_zero() || state.done) {
                state.last_received = Instant::now();
                return Some(std::mem::replace(&mut state.open, emptied));
            }
            if state.done {
                return None;
            }
            state = if rest.is_zero() {
                state.hungry = true;
                self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                let waited = self.arrived.wait_timeout(state, rest);
                waited.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    /// Ends the receiving side: drops all chunks, and wakes the senders.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let dropped = (std::mem::take(&mut state.full), std::mem::take(&mut state.open));
        drop(state);
        self.room.notify_all();
        drop(dropped);
    }

    /// Ends the sending side: the receiver gets what is left.
    pub(super) fn finish(&self) {
        lock(&self.state).done = true;
        self.arrived.notify_all();
    }
}
