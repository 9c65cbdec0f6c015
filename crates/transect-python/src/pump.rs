//! Items that a thread makes, for an iterator of Python.
//!
//! ```text
//! thread: make ─► BatchSender ─► bounded queue of batches ─► Pump::next, with the interpreter lock
//! ```
//!
//! The thread allows `next` to look for signals while it waits. `next` gives up the interpreter lock once for
//! each batch.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use transect::Cancel;

use crate::fork::Owner;

/// Items in a batch, at most.
const BATCH: usize = 1024;

/// After this time, a batch is sent when its next item arrives.
const BATCH_TIME: Duration = Duration::from_millis(2);

/// Batches that wait for the caller, at most.
const WAITING: usize = 4;

/// The longest time between two looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

pub(crate) struct BatchSender<T> {
    batch: Vec<T>,
    /// What the items of the batch count.
    count: usize,
    /// When the first item of the batch was added.
    began: Instant,
    batches: SyncSender<Vec<T>>,
}

impl<T> BatchSender<T> {
    /// Adds an item, and waits if the caller is behind. Returns false if nothing is received any more.
    pub(crate) fn send(&mut self, item: T) -> bool {
        self.send_many(item, 1)
    }

    /// Adds an item that counts as many.
    pub(crate) fn send_many(&mut self, item: T, count: usize) -> bool {
        if self.batch.is_empty() {
            self.began = Instant::now();
        }
        self.batch.push(item);
        self.count += count;
        let is_due = self.count >= BATCH || self.began.elapsed() >= BATCH_TIME;
        !is_due || self.flush()
    }

    /// Sends what was added. Returns false if nothing is received any more.
    pub(crate) fn flush(&mut self) -> bool {
        self.count = 0;
        self.batches.send(std::mem::take(&mut self.batch)).is_ok()
    }
}

/// Receives the items of a thread. Dropping it stops the thread, and waits for it.
pub(crate) struct Pump<T> {
    batch: std::vec::IntoIter<T>,
    /// `None` after the end.
    running: Option<Running<T>>,
    cancel: Cancel,
    owner: Owner,
}

struct Running<T> {
    batches: Receiver<Vec<T>>,
    thread: JoinHandle<()>,
}

impl<T: Send + 'static> Pump<T> {
    /// Runs `make` on a thread. `cancel` makes it end early.
    ///
    /// # Errors
    /// `RuntimeError` if no thread can be started.
    pub(crate) fn start(
        cancel: &Cancel,
        make: impl FnOnce(&mut BatchSender<T>) + Send + 'static,
    ) -> PyResult<Self> {
        let (sender, batches) = sync_channel(WAITING);
        let mut sender =
            BatchSender { batch: Vec::new(), count: 0, began: Instant::now(), batches: sender };
        let thread = Builder::new().spawn(move || {
            make(&mut sender);
            sender.flush();
        });
        let thread = thread.map_err(|error| {
            PyRuntimeError::new_err(format!("cannot start a thread: {}", transect::reason(&error)))
        })?;
        let (cancel, owner) = (cancel.clone(), Owner::current());
        let running = Some(Running { batches, thread });
        Ok(Self { batch: Vec::new().into_iter(), running, cancel, owner })
    }

    /// Returns the next item; `None` after the last one, or if there is none and it was cancelled.
    ///
    /// # Errors
    /// What a signal handler raised. Dropping the pump stops the thread then.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<T>> {
        loop {
            if let Some(item) = self.batch.next() {
                return Ok(Some(item));
            }
            let Some(running) = &mut self.running else { return Ok(None) };
            let batches = &mut running.batches;
            match py.detach(move || batches.recv_timeout(SIGNALS)) {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let ended = self.running.take().map(|running| running.stop(py));
                    if let Some(Err(panic)) = ended {
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
    }
}

impl<T> Running<T> {
    /// Waits until the thread is gone. It ends as it cannot send any more.
    fn stop(self, py: Python<'_>) -> std::thread::Result<()> {
        let Self { batches, thread } = self;
        drop(batches);
        py.detach(|| thread.join())
    }
}

impl<T> Drop for Pump<T> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if !self.owner.is_current() {
            // Another process has the thread, which may have held a lock of the queue.
            std::mem::forget(running);
            return;
        }
        self.cancel.cancel();
        // Without an interpreter, which ends, the threads end with the process.
        let _ = Python::try_attach(|py| running.stop(py));
    }
}
