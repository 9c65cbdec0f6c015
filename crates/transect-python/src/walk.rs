//! `walk`: the entries of a tree, one after the other.
//!
//! ```text
//! thread of the caller: transect::Walk ─► Walk.__next__ ─► Entry
//! after HERE: threads of the engine ─► transect::Walk ─► pump ─► Walk.__next__ ─► Entry
//! ```
//!
//! So a small tree starts no thread, which would cost many times what reading it costs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use transect::internal::FoundEntries;
use transect::{Cancel, Diagnostics, DirEntry, Error, FieldMask, Operation, ScanError};

use crate::entry::Entry;
use crate::errors::{self, ErrorInfo};
use crate::fork::Owner;
use crate::options::parse_options;
use crate::pump::{BatchSender, Pump};

/// How long a walk reads on the thread of the caller, which looks for no signals meanwhile, before another
/// thread continues it.
const HERE: Duration = Duration::from_micros(500);

/// What a walk found.
pub(crate) enum Found {
    /// Entries and errors, as they came.
    Many(FoundEntries),
    /// An entry that was chosen, or an error.
    One(Result<DirEntry, Error>),
}

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
    text_signature = "(paths, *, attributes=True, threads=None, **filters)"
)]
pub(crate) fn walk(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    attributes: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Walk> {
    let cancel = Cancel::new();
    let options = parse_options(paths, options)?.cancel(cancel.clone()).want(wanted(attributes));
    let plan = options.plan().map_err(|error| errors::exception(py, &error))?;
    Ok(Walk::begin(cancel, plan.into_iter()))
}

/// Returns what entries must have besides names and types: all attributes, or nothing.
pub(crate) fn wanted(attributes: bool) -> FieldMask {
    if attributes { all_attributes() } else { FieldMask::empty() }
}

pub(crate) fn all_attributes() -> FieldMask {
    FieldMask::SIZE
        | FieldMask::ALLOCATED
        | FieldMask::TIMES
        | FieldMask::MODE
        | FieldMask::UID
        | FieldMask::GID
        | FieldMask::NLINK
        | FieldMask::FILE_ID
}

/// Sends entries until there are no more, or the receiver is gone.
fn send_all(mut walk: transect::Walk, items: &mut BatchSender<Found>) {
    while let Some(found) = walk.take_found() {
        let count = found.len();
        if count > 0 && !items.send_many(Found::Many(found), count) {
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

/// Where entries come from.
enum Source {
    /// The thread of the caller, which has read for this time.
    Here(Box<transect::Walk>, Duration),
    Thread(Pump<Found>),
    Closed,
}

impl Source {
    /// Returns what is found next; `None` after the end. `cancel` stops the walk.
    fn next(&mut self, py: Python<'_>, cancel: &Cancel) -> PyResult<Option<Found>> {
        let (walk, read_for) = match self {
            Self::Here(walk, read_for) => (walk, read_for),
            Self::Thread(pump) => return pump.next(py),
            Self::Closed => return Ok(None),
        };
        let began = Instant::now();
        let found = py.detach(|| walk.take_found());
        *read_for += began.elapsed();
        if *read_for > HERE && found.is_some() {
            let Self::Here(walk, _) = std::mem::replace(self, Self::Closed) else {
                return Ok(None);
            };
            let walk = walk.threads_after(Duration::ZERO);
            *self = Self::Thread(Pump::start(cancel, move |items| send_all(walk, items))?);
        }
        Ok(found.map(Found::Many))
    }
}

struct State {
    source: Source,
    /// Entries to be returned.
    found: FoundEntries,
    errors: Vec<ScanError>,
    error_count: u64,
    /// Nothing more will be returned.
    ended: bool,
    complete: bool,
}

impl State {
    /// Returns the next entry; `None` after the last one.
    fn next(&mut self, py: Python<'_>, cancel: &Cancel) -> PyResult<Option<Py<Entry>>> {
        loop {
            match self.found.take_next() {
                Some(Ok(entry)) => {
                    return Entry::new(py, entry.dir(), entry.name, entry.attributes).map(Some);
                }
                Some(Err(error)) => self.count(py, error)?,
                None => match self.source.next(py, cancel)? {
                    Some(Found::Many(found)) => self.found = found,
                    Some(Found::One(Ok(entry))) => {
                        let attributes = entry.attributes();
                        return Entry::new(py, entry.dir(), entry.file_name(), attributes)
                            .map(Some);
                    }
                    Some(Found::One(Err(error))) => self.count(py, error)?,
                    None => break,
                },
            }
        }
        if !std::mem::replace(&mut self.ended, true) {
            self.complete = self.error_count == 0 && !cancel.is_cancelled();
            if self.error_count > 0 {
                errors::warn_partial(py, self.error_count)?;
            }
        }
        Ok(None)
    }

    /// Counts an error inside a tree.
    ///
    /// # Errors
    /// The exception for a root that cannot be read, or for a walk that could not go on.
    fn count(&mut self, py: Python<'_>, error: Error) -> PyResult<()> {
        let Error::Entry(error) = error else { return Err(errors::exception(py, &error)) };
        // A root whose listing failed midway was read in part.
        if error.depth() == 0 && error.operation() != Operation::ReadDirectory {
            return Err(errors::root_exception(py, &error));
        }
        self.error_count += 1;
        if self.errors.len() < Diagnostics::DEFAULT_KEPT {
            self.errors.push(error);
        }
        Ok(())
    }

    /// Ends the walk.
    fn close(&mut self, py: Python<'_>) {
        self.ended = true;
        self.found = FoundEntries::default();
        if let Source::Thread(pump) = &mut self.source {
            pump.close(py);
        }
        self.source = Source::Closed;
    }
}

impl Walk {
    /// Returns the entries of a walk, which `cancel` stops.
    pub(crate) fn begin(cancel: Cancel, walk: transect::Walk) -> Self {
        let walk = walk.threads_after(Duration::MAX);
        Self::new(cancel, Source::Here(Box::new(walk), Duration::ZERO))
    }

    /// Returns the entries that `send` sends from a thread of its own. `cancel` stops it.
    pub(crate) fn start(
        cancel: Cancel,
        send: impl FnOnce(&mut BatchSender<Found>) + Send + 'static,
    ) -> PyResult<Self> {
        let pump = Pump::start(&cancel, send)?;
        Ok(Self::new(cancel, Source::Thread(pump)))
    }

    fn new(cancel: Cancel, source: Source) -> Self {
        let state = State {
            source,
            found: FoundEntries::default(),
            errors: Vec::new(),
            error_count: 0,
            ended: false,
            complete: false,
        };
        Self { state: Mutex::new(state), cancel, owner: Owner::current() }
    }

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

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<Entry>>> {
        let mut state = self.lock(py)?;
        let next = state.next(py, &self.cancel);
        if next.is_err() {
            state.close(py);
        }
        next
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
