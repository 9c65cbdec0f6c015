//! `watch`: what changes in a tree, as it happens.
//!
//! ```text
//! notifications ─► LiveTree (a pump, on a thread) ─► Watch.__next__ ─► Change
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyString;
use transect::{Cancel, Error};
use transect_live::{LiveTree, Waker};

use crate::errors;
use crate::getters::methods;
use crate::iterator::Items;
use crate::job;
use crate::paths::{decode, parse_path};
use crate::pump::{BatchSender, Pump};

type Item = Result<transect_live::Change, Error>;

/// Watch a directory and everything below it. Linux and Windows.
///
/// `path` is str, bytes or os.PathLike. The call returns when the tree was read and is watched; every change after that is
/// returned by the iterator, unless it is undone before it is looked at. The iterator waits for changes, and ends when the
/// directory is not there any more, or when it is closed.
///
/// Raises FileNotFoundError, PermissionError or another OSError if the directory cannot be read, and RuntimeError if it
/// cannot be watched.
#[pyfunction]
#[pyo3(signature = (path))]
pub(crate) fn watch(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Py<Watch>> {
    let (path, cancel) = (parse_path(path)?, Cancel::new());
    let opened = job::run(py, &cancel, |_| Ok(()), || LiveTree::open(path, &cancel))?;
    let tree = opened.map_err(|error| errors::exception(py, &error))?;
    let watch =
        Watch { entries: tree.table().len(), unwatched: tree.unwatched(), gaps: Arc::default() };
    let (waker, gaps) = (tree.waker(), Arc::clone(&watch.gaps));
    let until = cancel.clone();
    let pump = Pump::start(&cancel, move |items| send_all(tree, &until, &gaps, items))?;
    let mut changes = Changes { has_ended: false, cancel: cancel.clone(), waker, pump };
    let next = move |py: Python<'_>, _: &mut _| changes.next(py);
    Py::new(py, (watch, Items::new(cancel, errors::PARTIAL, next)))
}

/// Sends changes until there are no more, or the receiver is gone.
fn send_all(mut tree: LiveTree, until: &Cancel, gaps: &AtomicU64, items: &mut BatchSender<Item>) {
    loop {
        let update = match tree.next(until) {
            Ok(Some(update)) => update,
            Ok(None) => return,
            Err(error) => {
                items.send(Err(error));
                return;
            }
        };
        gaps.fetch_add(u64::from(update.was_gap), Ordering::Relaxed);
        let is_received = update.changes.into_iter().all(|change| items.send(Ok(change)));
        if !is_received || !items.flush() {
            return;
        }
    }
}

struct Changes {
    /// The thread has ended by itself.
    has_ended: bool,
    cancel: Cancel,
    waker: Waker,
    /// Waits for its thread when it is dropped, after the thread was woken.
    pump: Pump<Item>,
}

impl Changes {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(change) = self.pump.next(py)? else {
            self.has_ended = !self.cancel.is_cancelled();
            return Ok(None);
        };
        let change = change.map_err(|error| errors::exception(py, &error))?;
        Ok(Some(Py::new(py, Change(change))?.into_any()))
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        if !self.has_ended {
            self.cancel.cancel();
            self.waker.wake();
        }
    }
}

/// What changes in a tree: an iterator of Change objects, and a context manager.
#[pyclass(frozen, extends = Items, module = "transect")]
pub(crate) struct Watch {
    /// The number of entries when watching began.
    #[pyo3(get)]
    entries: u64,
    /// The number of directories that could not be watched when watching began: changes in them are not noticed. The system
    /// limits the number of watches of a user (sysctl fs.inotify.max_user_watches).
    #[pyo3(get)]
    unwatched: u64,
    gaps: Arc<AtomicU64>,
}

#[pymethods]
impl Watch {
    /// How often notifications were lost so far. Then the whole tree is compared, and only what was created and removed
    /// in between is not returned.
    #[getter]
    fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }
}

/// A change of one entry. Applied in their order, changes lead from the names before to those of now.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Change(pub(crate) transect_live::Change);

methods! {
    impl Change {
        getters {
            /// `added`, `removed` (with everything below it), `modified`, or `renamed` (a directory, with everything below it).
            kind(&self) -> &'static str = self.0.kind.as_str();
            /// The path: the directory as given, then the names below it.
            path<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> = decode(py, &self.0.path);
            /// The path before, if the entry was renamed.
            old_path<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> =
                self.0.from.as_ref().map(|from| decode(py, from));
            /// The type, as Entry.type; of a removed entry, what it was.
            r#type(&self) -> &'static str = self.0.file_type.as_str();
        }

        fn __fspath__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
            self.path(py)
        }

        fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
            Ok(format!("<transect.Change: {} {}>", self.kind(), self.path(py).repr()?))
        }
    }
}
