//! The extension module of the package `transect` for Python.
//!
//! ```text
//! Python ─► scan ─► job (a thread, no interpreter lock) ─► the crate `transect` ─► Table
//! Table ─► batches ─► columns ─► arrow ─► a capsule for polars, pyarrow, DuckDB
//! Python ─► walk ─► pump (a thread) ─► batches of entries ─► Entry
//! ```
//!
//! The package is in `python/`, and docs/PYTHON.md documents it. The doc comments of functions and
//! classes here are what `help()` shows. On Windows the crate is empty so far.

#![cfg(not(windows))]

mod arrow;
mod batches;
mod columns;
mod entry;
mod errors;
mod fork;
mod html;
mod job;
mod options;
mod paths;
mod scan;
mod table;
mod usage;
mod walk;

use pyo3::prelude::*;

/// The native part of transect.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PartialResultWarning", py.get_type::<errors::PartialResultWarning>())?;
    module.add_class::<entry::Entry>()?;
    module.add_class::<errors::ErrorInfo>()?;
    module.add_class::<scan::CountsSoFar>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<usage::Usage>()?;
    module.add_class::<walk::Walk>()?;
    module.add_function(wrap_pyfunction!(scan::scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan::usage, module)?)?;
    module.add_function(wrap_pyfunction!(walk::walk, module)?)?;
    fork::register(module)
}
