//! `walk`: the entries of a tree, one after the other.
//!
//! ```text
//! threads of the engine ─► transect::Walk ─► pump ─► batches ─► Walk.__next__ ─► Entry
//! ```
//!
//! The pump is a thread, so that `__next__` can look for signals while it waits. It gives up the
//! interpreter lock once for each batch.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use transect::{Cancel, Diagnostics, DirEntry, FieldMask, Operation, ScanError, ScanPlan, Want};

use crate::entry::Entry;
use crate::errors::{self, ErrorInfo};
use crate::fork::Owner;
use crate::options::parse_options;

/// Entries in a batch, at most.
const BATCH: usize = 1024;

/// After this time, a batch is sent when its next entry arrives.
const BATCH_TIME: Duration = Duration::from_millis(2);

/// Batches that wait for the caller, at most.
const WAITING: usize = 4;

/// The longest time between two looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Iterate over the entries of one tree or several while they are read.
///
/// `paths` is a path or an iterable of paths: str, bytes or os.PathLike. A directory comes before its
/// entries; apart from that, the order differs from run to run. The other arguments are those of `scan`.
///
/// attributes: False leaves out what needs a query for each entry, so that only names and types are
///     certain to be known.
///
/// The first `next` raises FileNotFoundError, PermissionError or another OSError if a root cannot be
/// read. Errors below the roots are data: `Walk.errors`. After the last entry they are announced by a
/// PartialResultWarning.
#[pyfunction]
#[pyo3(
    signature = (paths, *, attributes=true, **options),
    text_signature = "(paths, *, attributes=True, glob=None, exclude=None, extensions=None, regex=None, \
                      types=None, ignore_case=False, hidden=True, gitignore=False, min_depth=0, \
                      max_depth=None, min_size=None, max_size=None, follow=False, one_file_system=False, \
                      pseudo_file_systems=False, threads=None)"
)]
pub(crate) fn walk(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    attributes: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Walk> {
    let cancel = Cancel::new();
    let plan = parse_options(paths, options)?.cancel(cancel.clone()).plan();
    let plan = plan.map_err(|error| errors::exception(py, &error))?;
    let want = match attributes {
        true => Want::from(all_attributes()),
        false => Want::default(),
    };
    let (sender, batches) = sync_channel(WAITING);
    let pump = Builder::new().spawn(move || pump(&plan, want, &sender)).map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start a thread: {}", transect::reason(&error)))
    })?;
    let state = State {
        batch: Vec::new().into_iter(),
        running: Some(Running { batches, pump }),
        errors: Vec::new(),
        error_count: 0,
        complete: false,
    };
    Ok(Walk { state: Mutex::new(state), cancel, owner: Owner::current() })
}

fn all_attributes() -> FieldMask {
    FieldMask::SIZE
        | FieldMask::ALLOCATED
        | FieldMask::TIMES
        | FieldMask::MODE
        | FieldMask::UID
        | FieldMask::GID
        | FieldMask::NLINK
        | FieldMask::FILE_ID
}

#[derive(Default)]
struct Batch {
    entries: Vec<DirEntry>,
    errors: Vec<ScanError>,
}

/// Sends entries until there are no more, or the receiver is gone.
fn pump(plan: &ScanPlan, want: Want, batches: &SyncSender<Batch>) {
    let mut walk = plan.walk().want(want).peekable();
    while walk.peek().is_some() {
        let mut batch = Batch::default();
        let began = Instant::now();
        for item in walk.by_ref() {
            match item {
                Ok(entry) => batch.entries.push(entry),
                Err(error) => batch.errors.push(error),
            }
            let is_full = batch.entries.len() + batch.errors.len() >= BATCH;
            if is_full || began.elapsed() >= BATCH_TIME {
                break;
            }
        }
        if batches.send(batch).is_err() {
            return;
        }
    }
}

/// The entries of a tree while it is read: an iterator of Entry objects, and a context manager.
///
/// Memory is bounded: the threads of the walk wait while the caller is behind. They stop when the walk
/// is closed or no longer referenced.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Walk {
    state: Mutex<State>,
    cancel: Cancel,
    /// The process that has the threads.
    owner: Owner,
}

struct State {
    batch: std::vec::IntoIter<DirEntry>,
    /// `None` after the end.
    running: Option<Running>,
    errors: Vec<ScanError>,
    error_count: u64,
    complete: bool,
}

struct Running {
    batches: Receiver<Batch>,
    pump: JoinHandle<()>,
}

impl State {
    /// Waits for the next batch; returns false after the last one.
    fn receive(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(running) = &mut self.running else { return Ok(false) };
        let batch = loop {
            let batches = &mut running.batches;
            match py.detach(move || batches.recv_timeout(SIGNALS)) {
                Ok(batch) => break batch,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.finish(py)?;
                    return Ok(false);
                }
            }
        };
        self.batch = batch.entries.into_iter();
        for error in batch.errors {
            // A root whose listing failed midway was read in part.
            if error.depth() == 0 && error.operation() != Operation::ReadDirectory {
                return Err(errors::root_exception(py, &error));
            }
            self.error_count += 1;
            if self.errors.len() < Diagnostics::DEFAULT_KEPT {
                self.errors.push(error);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(Err(panic)) = self.running.take().map(|running| running.stop(py)) {
            std::panic::resume_unwind(panic);
        }
        self.complete = self.error_count == 0;
        match self.complete {
            true => Ok(()),
            false => errors::warn_partial(py, self.error_count),
        }
    }

    /// Ends the walk, which was cancelled.
    fn close(&mut self, py: Python<'_>) {
        self.batch = Vec::new().into_iter();
        if let Some(running) = self.running.take() {
            let _ = running.stop(py);
        }
    }
}

impl Running {
    /// Waits until the threads are gone. The pump ends as it cannot send any more.
    fn stop(self, py: Python<'_>) -> std::thread::Result<()> {
        py.detach(move || {
            drop(self.batches);
            self.pump.join()
        })
    }
}

impl Walk {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.owner.check()?;
        Ok(self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Walk {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        let mut state = self.lock(py)?;
        loop {
            if let Some(entry) = state.batch.next() {
                return Ok(Some(Entry::new(entry)));
            }
            match state.receive(py) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.cancel.cancel();
                    state.close(py);
                    return Err(error);
                }
            }
        }
    }

    /// Stop the walk: wait until its threads are gone. There are no more entries after it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // Before the lock, which a waiting `next` holds.
        self.cancel.cancel();
        self.lock(py)?.close(py);
        Ok(())
    }

    /// Whether everything was read: True only after the last entry, if there were no errors.
    #[getter]
    fn complete(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.complete)
    }

    /// The errors below the roots so far, as ErrorInfo objects: at most the first thousand.
    #[getter]
    fn errors(&self, py: Python<'_>) -> PyResult<Vec<ErrorInfo>> {
        Ok(self.lock(py)?.errors.iter().map(ErrorInfo::new).collect())
    }

    /// The number of errors so far.
    #[getter]
    fn error_count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.error_count)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = state.running.take() else { return };
        if !self.owner.is_current() {
            // Another process has the threads, one of which may have held a lock of the queue.
            std::mem::forget(running);
            return;
        }
        self.cancel.cancel();
        // Without an interpreter, which ends, the threads end with the process.
        let _ = Python::try_attach(|py| running.stop(py));
    }
}
