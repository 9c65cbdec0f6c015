//! What threads make, as an iterator and a context manager of Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use transect::{Cancel, Diagnostics};

use crate::errors::{self, ErrorInfo};
use crate::fork::Owner;

/// The errors that do not end an iterator.
#[derive(Default)]
pub(crate) struct Errors {
    pub(crate) count: u64,
    pub(crate) kept: Vec<ErrorInfo>,
}

impl Errors {
    pub(crate) fn add(&mut self, error: ErrorInfo) {
        self.count += 1;
        if self.kept.len() < Diagnostics::DEFAULT_KEPT {
            self.kept.push(error);
        }
    }
}

/// Returns the next item, and adds errors that do not end the iterator. Dropping it stops its threads, and waits
/// for them.
type Next = Box<dyn FnMut(Python<'_>, &mut Errors) -> PyResult<Option<Py<PyAny>>> + Send>;

struct State {
    /// `None` after the end.
    next: Option<Next>,
    errors: Errors,
    complete: bool,
}

/// An iterator, and a context manager. Its threads stop when it is closed or no longer referenced.
#[pyclass(frozen, subclass, module = "transect")]
pub(crate) struct Items {
    state: Mutex<State>,
    cancel: Cancel,
    /// What errors mean.
    meaning: &'static str,
    /// The process that has the threads.
    owner: Owner,
}

impl Items {
    /// Returns the items that `next` returns, until `cancel` stops it. At the end, a warning says what errors mean.
    pub(crate) fn new(
        cancel: Cancel,
        meaning: &'static str,
        next: impl FnMut(Python<'_>, &mut Errors) -> PyResult<Option<Py<PyAny>>> + Send + 'static,
    ) -> Self {
        let state =
            State { next: Some(Box::new(next)), errors: Errors::default(), complete: false };
        Self { state: Mutex::new(state), cancel, meaning, owner: Owner::current() }
    }

    /// Returns the number of errors so far.
    pub(crate) fn error_count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.errors.count)
    }

    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.owner.check()?;
        Ok(self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Items {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let state = &mut *self.lock(py)?;
        let Some(next) = &mut state.next else { return Ok(None) };
        let item = next(py, &mut state.errors);
        if !matches!(item, Ok(Some(_))) {
            state.next = None;
        }
        if matches!(item, Ok(None)) {
            let errors = state.errors.count;
            state.complete = errors == 0 && !self.cancel.is_cancelled();
            if errors > 0 {
                errors::warn_partial(py, errors, self.meaning)?;
            }
        }
        item
    }

    /// Stop: wait until the threads are gone. There are no more items after it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // Before the lock, which a waiting `next` holds.
        self.cancel.cancel();
        self.lock(py)?.next = None;
        Ok(())
    }

    /// Whether everything was found, read and transformed: True only after the last item.
    #[getter]
    fn complete(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.complete)
    }

    /// The errors inside the trees so far, as ErrorInfo objects: at most the first thousand. Errors of files
    /// that are transformed are in their outcomes.
    #[getter]
    fn errors(&self, py: Python<'_>) -> PyResult<Vec<ErrorInfo>> {
        Ok(self.lock(py)?.errors.kept.clone())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}
