//! Objects that a forked process cannot use: those with threads or locks of their own.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How often this process was forked from another one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Python calls it in a forked process.
#[pyfunction]
fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Makes Python call `after_fork`, on systems that have `fork`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if let Some(register) = module.py().import("os")?.getattr_opt("register_at_fork")? {
        let hooks = PyDict::new(module.py());
        hooks.set_item("after_in_child", wrap_pyfunction!(after_fork, module)?)?;
        register.call((), Some(&hooks))?;
    }
    Ok(())
}

/// The process that made an object.
#[derive(Debug)]
pub(crate) struct Owner {
    forks: u32,
}

impl Owner {
    /// Returns this process.
    pub(crate) fn current() -> Self {
        Self { forks: FORKS.load(Ordering::Relaxed) }
    }

    /// Returns whether this process made the object.
    pub(crate) fn is_current(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// # Errors
    /// `RuntimeError` if another process made the object.
    pub(crate) fn check(&self) -> PyResult<()> {
        match self.is_current() {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err(
                "this object was made before a fork, and belongs to the parent process",
            )),
        }
    }
}
