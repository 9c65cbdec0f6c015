//! Idle threads that help with a large directory.
//!
//! ```text
//!   thread of the directory                       idle threads
//!
//!   list ─► judge ─► PendingBatches ──── take ──► query the attributes
//!                       │ take back                     │
//!                       ▼                               │
//!              query the attributes                     │
//!                       │                               │
//!                       ▼                               ▼
//!   deliver in the order of the listing ◄──── channel of the directory
//! ```
//!
//! One thread still opens, lists, delivers and finishes the directory, so sinks do not notice. The
//! others only query attributes: the largest part of reading it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use transect_sys::Batch;

use crate::lock::lock;
use crate::walk::device_wait::Latency;

/// The other threads of a walk, as one sees them that reads a large directory. `H` is an open
/// directory.
pub(super) trait Helpers<H> {
    /// Returns whether a thread has nothing to do, or another one may be started.
    fn are_free(&self) -> bool;

    /// Returns the number of threads that may work at the moment, the caller included.
    fn threads(&self) -> usize;

    /// Returns the batches that wait for a thread.
    fn pending(&self) -> &PendingBatches<H>;

    /// Wakes a thread, or starts one, because more batches wait than the caller queries next.
    /// There may be more threads than cores if they wait for a device.
    fn call(&self, latency: Latency);
}

/// The listed batches of large directories whose attributes were not queried yet, oldest first.
pub(super) struct PendingBatches<H> {
    batches: Mutex<VecDeque<PendingBatch<H>>>,
    /// The length of `batches`. Threads without work read it before they sleep.
    len: AtomicUsize,
}

impl<H> Default for PendingBatches<H> {
    fn default() -> Self {
        Self { batches: Mutex::default(), len: AtomicUsize::new(0) }
    }
}

impl<H> PendingBatches<H> {
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    pub(super) fn push(&self, batch: PendingBatch<H>) {
        let mut batches = lock(&self.batches);
        batches.push_back(batch);
        self.len.store(batches.len(), Ordering::Relaxed);
    }

    /// Removes and returns the oldest batch.
    pub(super) fn take(&self) -> Option<PendingBatch<H>> {
        if self.len() == 0 {
            return None;
        }
        self.take_first(|_| true)
    }

    /// Removes and returns the oldest batch of a directory.
    pub(super) fn take_of(&self, handle: &Arc<H>) -> Option<PendingBatch<H>> {
        self.take_first(|batch| batch.handle.as_ref().is_some_and(|own| Arc::ptr_eq(own, handle)))
    }

    fn take_first(&self, matches: impl Fn(&PendingBatch<H>) -> bool) -> Option<PendingBatch<H>> {
        let mut batches = lock(&self.batches);
        let first = batches.iter().position(matches)?;
        let taken = batches.remove(first);
        self.len.store(batches.len(), Ordering::Relaxed);
        taken
    }
}

/// A batch on its way through the threads. When it is dropped, it goes back to the thread of its
/// directory, so that none is ever missing there, not even after a panic.
pub(super) struct PendingBatch<H> {
    batch: Batch,
    /// Its number in the listing.
    number: usize,
    /// The open directory; `None` on the way back.
    handle: Option<Arc<H>>,
    back: Sender<(usize, Batch)>,
}

impl<H> PendingBatch<H> {
    pub(super) fn new(
        batch: Batch,
        number: usize,
        handle: &Arc<H>,
        back: &Sender<(usize, Batch)>,
    ) -> Self {
        Self { batch, number, handle: Some(Arc::clone(handle)), back: back.clone() }
    }

    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Calls `query` with the directory and the batch, and sends the batch back.
    pub(super) fn finish(mut self, query: impl FnOnce(&H, &mut Batch)) {
        if let Some(handle) = &self.handle {
            query(handle, &mut self.batch);
        }
    }
}

impl<H> Drop for PendingBatch<H> {
    fn drop(&mut self) {
        // The directory is closed, or kept open, by its own thread once all batches are back.
        self.handle = None;
        // After a panic there may be no receiver.
        let _ = self.back.send((self.number, std::mem::take(&mut self.batch)));
    }
}
