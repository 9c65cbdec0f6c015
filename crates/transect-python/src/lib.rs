//! The extension module of the package `transect` for Python.
//!
//! ```text
//! Python ─► scan ─► job (a thread, no interpreter lock) ─► the crate `transect` ─► Table
//! Table ─► batches ─► columns ─► rows ─► a capsule for polars, pyarrow, DuckDB
//! Python ─► walk ─► on the caller's thread, later a pump (a thread) ─► batches of entries ─► Entry
//! ```
//!
//! The package is in `python/`, and docs/PYTHON.md documents it. The doc comments of functions and
//! classes here are what `help()` shows.

mod attributes;
mod batches;
mod cache;
mod changes;
mod columns;
mod conditions;
mod diff;
mod directory;
mod entry;
mod errors;
mod fork;
mod getters;
mod html;
mod iterator;
mod job;
mod list;
mod live;
mod lookups;
mod map;
mod options;
mod outcome;
mod paths;
mod pump;
mod rows;
mod scan;
mod snapshot;
mod table;
mod tasks;
mod transform;
mod usage;
mod walk;
mod watch;

use pyo3::prelude::*;

/// The native part of transect.
#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PartialResultWarning", py.get_type::<errors::PartialResultWarning>())?;
    module.add("CursorLostError", py.get_type::<live::CursorLostError>())?;
    attributes::register(module)?;
    module.add_class::<cache::AttributeCache>()?;
    module.add_class::<diff::Diff>()?;
    module.add_class::<diff::Growth>()?;
    module.add_class::<directory::DirectoryReader>()?;
    module.add_class::<entry::Entry>()?;
    module.add_class::<errors::ErrorInfo>()?;
    module.add_class::<live::Changes>()?;
    module.add_class::<map::Map>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<scan::CountsSoFar>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<transform::Transform>()?;
    module.add_class::<usage::Usage>()?;
    module.add_class::<walk::Walk>()?;
    module.add_class::<watch::Change>()?;
    module.add_class::<watch::Watch>()?;
    module.add_function(wrap_pyfunction!(diff::diff, module)?)?;
    module.add_function(wrap_pyfunction!(list::glob, module)?)?;
    module.add_function(wrap_pyfunction!(list::list, module)?)?;
    module.add_function(wrap_pyfunction!(live::changes, module)?)?;
    module.add_function(wrap_pyfunction!(map::map_of, module)?)?;
    module.add_function(wrap_pyfunction!(scan::scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan::read_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(scan::usage, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::commit, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::first_task, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::give_up_task, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::parse_size, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::check_folder, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::read_part, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::run_task, module)?)?;
    module.add_function(wrap_pyfunction!(transform::transform, module)?)?;
    module.add_function(wrap_pyfunction!(walk::walk, module)?)?;
    module.add_function(wrap_pyfunction!(watch::watch, module)?)?;
    fork::register(module)
}
