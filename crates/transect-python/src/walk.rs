//! `walk`: the entries of a tree, one after the other.
//!
//! ```text
//! thread of the caller: transect::Walk ─► Walk.__next__ ─► Entry
//! after HERE: threads of the engine ─► transect::Walk ─► pump ─► Walk.__next__ ─► Entry
//! ```
//!
//! So a small tree starts no thread, which would cost many times what reading it costs.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use transect::internal::FoundEntries;
use transect::{Cancel, DirEntry, Error, FieldMask, Operation};

use crate::entry::Entry;
use crate::errors::{self, ErrorInfo};
use crate::iterator::{Errors, Items};
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
) -> PyResult<Py<Walk>> {
    let cancel = Cancel::new();
    let options = parse_options(paths, options)?.cancel(cancel.clone()).want(wanted(attributes));
    let plan = options.plan().map_err(|error| errors::exception(py, &error))?;
    Walk::begin(py, cancel, plan.into_iter())
}

/// Returns what entries must have besides names and types: all attributes, or nothing.
pub(crate) fn wanted(attributes: bool) -> FieldMask {
    if attributes { all_attributes() } else { FieldMask::empty() }
}

/// Returns all attributes that not only Windows has.
pub(crate) fn all_attributes() -> FieldMask {
    FieldMask::all() - FieldMask::ATTRIBUTES - FieldMask::REPARSE_TAG - FieldMask::SHORT_NAME
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
#[pyclass(frozen, extends = Items, module = "transect")]
pub(crate) struct Walk;

impl Walk {
    /// Returns the entries of a walk, which `cancel` stops.
    pub(crate) fn begin(
        py: Python<'_>,
        cancel: Cancel,
        walk: transect::Walk,
    ) -> PyResult<Py<Self>> {
        let walk = walk.threads_after(Duration::MAX);
        Self::new(py, cancel, Source::Here(Box::new(walk), Duration::ZERO))
    }

    /// Returns the entries that `send` sends from a thread of its own. `cancel` stops it.
    pub(crate) fn start(
        py: Python<'_>,
        cancel: Cancel,
        send: impl FnOnce(&mut BatchSender<Found>) + Send + 'static,
    ) -> PyResult<Py<Self>> {
        let pump = Pump::start(&cancel, send)?;
        Self::new(py, cancel, Source::Thread(pump))
    }

    fn new(py: Python<'_>, cancel: Cancel, source: Source) -> PyResult<Py<Self>> {
        let mut entries = Entries { source, found: FoundEntries::default(), cancel };
        let cancel = entries.cancel.clone();
        let next = move |py: Python<'_>, errors: &mut Errors| entries.next(py, errors);
        Py::new(py, (Self, Items::new(cancel, errors::PARTIAL, next)))
    }
}

#[pymethods]
impl Walk {
    /// The number of errors so far.
    #[getter]
    fn error_count(slf: PyRef<'_, Self>) -> PyResult<u64> {
        slf.as_super().error_count(slf.py())
    }
}

/// Where entries come from.
enum Source {
    /// The thread of the caller, which has read for this time.
    Here(Box<transect::Walk>, Duration),
    Thread(Pump<Found>),
    Ended,
}

struct Entries {
    source: Source,
    /// Entries to be returned.
    found: FoundEntries,
    cancel: Cancel,
}

impl Entries {
    /// Returns the next entry; `None` after the last one.
    fn next(&mut self, py: Python<'_>, errors: &mut Errors) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let next = match self.found.take_next() {
                Some(Ok(entry)) => Ok(Entry::new(py, entry.dir(), entry.name, entry.attributes)?),
                Some(Err(error)) => Err(error),
                None => match self.receive(py)? {
                    Some(Found::Many(found)) => {
                        self.found = found;
                        continue;
                    }
                    Some(Found::One(Ok(entry))) => {
                        let attributes = entry.attributes();
                        Ok(Entry::new(py, entry.dir(), entry.file_name(), attributes)?)
                    }
                    Some(Found::One(Err(error))) => Err(error),
                    None => return Ok(None),
                },
            };
            match next {
                Ok(entry) => return Ok(Some(entry.into_any())),
                Err(error) => count(py, errors, error)?,
            }
        }
    }

    /// Returns what is found next; `None` after the end.
    fn receive(&mut self, py: Python<'_>) -> PyResult<Option<Found>> {
        let (walk, read_for) = match &mut self.source {
            Source::Here(walk, read_for) => (walk, read_for),
            Source::Thread(pump) => return pump.next(py),
            Source::Ended => return Ok(None),
        };
        let began = Instant::now();
        let found = py.detach(|| walk.take_found());
        *read_for += began.elapsed();
        if *read_for > HERE
            && found.is_some()
            && let Source::Here(walk, _) = std::mem::replace(&mut self.source, Source::Ended)
        {
            let walk = walk.threads_after(Duration::ZERO);
            let pump = Pump::start(&self.cancel, move |items| send_all(walk, items))?;
            self.source = Source::Thread(pump);
        }
        Ok(found.map(Found::Many))
    }
}

/// Counts an error inside a tree.
///
/// # Errors
/// The exception for a root that cannot be read, or for a walk that could not go on.
fn count(py: Python<'_>, errors: &mut Errors, error: Error) -> PyResult<()> {
    let Error::Entry(error) = error else { return Err(errors::exception(py, &error)) };
    // A root whose listing failed midway was read in part.
    if error.depth() == 0 && error.operation() != Operation::ReadDirectory {
        return Err(errors::root_exception(py, &error));
    }
    errors.add(ErrorInfo::new(&error));
    Ok(())
}
