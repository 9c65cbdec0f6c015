//! `entries` and `glob`: the entries that `transect list` prints.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use transect::internal::{SortBuffer, SortKey, SortSpec};
use transect::{Cancel, FieldMask};

use crate::errors;
use crate::options::{at_least_one, choose, parse_options};
use crate::pump::BatchSender;
use crate::walk::{Found, Walk, wanted};

/// Iterate over the entries that `transect list` prints: `walk` with an order and a limit.
///
/// paths: the current directory by default. The other arguments are those of `walk`.
///
/// sort: "path", "name", or "natural" (paths with numbers in them by value: 2 before 10); "size", "allocated", "nlink" (largest first); "mtime", "ctime", "atime" or
///     "btime" (newest first); "inode". Entries without a value come last. Without it, entries come as
///     soon as they are found, in no particular order. With it, all are kept in memory until the trees
///     are read, or about twice as many as `limit`.
/// reverse: reverse the order of `sort`.
/// limit: stop after this many entries: the first found, or the first in the order of `sort`.
#[pyfunction]
#[pyo3(
    name = "entries",
    signature = (paths=None, *, sort=None, reverse=false, limit=None, attributes=true, **options),
    text_signature = "(paths=None, *, sort=None, reverse=False, limit=None, attributes=True, threads=None, **filters)"
)]
pub(crate) fn list(
    py: Python<'_>,
    paths: Option<&Bound<'_, PyAny>>,
    sort: Option<&str>,
    reverse: bool,
    limit: Option<usize>,
    attributes: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<Walk>> {
    let limit = at_least_one("limit", limit)?;
    let spec = match (sort, reverse) {
        (None, true) => return Err(PyValueError::new_err("reverse needs sort")),
        (None, false) => None,
        (Some(name), reverse) => {
            let unknown = format!("there is no key '{name}'; keys");
            let key = choose(SortKey::ALL, SortKey::as_str, name, &unknown)?;
            Some(SortSpec { key, reverse, limit })
        }
    };
    let here = PyString::new(py, ".").into_any();
    let cancel = Cancel::new();
    let options = parse_options(paths.unwrap_or(&here), options)?.cancel(cancel.clone());
    let field = spec.map_or(FieldMask::empty(), |spec| spec.key.field());
    let plan = options
        .want(wanted(attributes) | field)
        .plan()
        .map_err(|error| errors::exception(py, &error))?;
    let walk = plan.into_iter();
    match (spec, limit) {
        (None, None) => Walk::begin(py, cancel, walk),
        (None, Some(limit)) => Walk::start(py, cancel, move |items| send_first(walk, limit, items)),
        (Some(spec), _) => Walk::start(py, cancel, move |items| send_sorted(walk, spec, items)),
    }
}

/// Iterate over the entries that match a pattern, or one of several: `entries(paths, glob=patterns)`.
///
/// Patterns are those of .gitignore files: one without a slash matches names at any depth, one with a
/// slash matches paths below `paths`. So "*.py" finds all Python files, "/*.py" those at the top, and
/// "src/**/*.py" those below src. A pattern that begins with "!" excludes.
#[pyfunction]
#[pyo3(
    signature = (patterns, paths=None, **options),
    text_signature = "(patterns, paths=None, *, sort=None, reverse=False, limit=None, attributes=True, threads=None, **filters)"
)]
pub(crate) fn glob<'py>(
    py: Python<'py>,
    patterns: &Bound<'py, PyAny>,
    paths: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = match options {
        Some(options) => options.copy()?,
        None => PyDict::new(py),
    };
    if options.contains("glob")? {
        return Err(PyValueError::new_err("the patterns are the first argument"));
    }
    options.set_item("glob", patterns)?;
    wrap_pyfunction!(list, py)?.call((paths,), Some(&options))
}

/// Sends entries as they are found.
fn send_first(walk: transect::Walk, limit: usize, items: &mut BatchSender<Found>) {
    let mut entries = 0;
    for item in walk {
        entries += usize::from(item.is_ok());
        if !items.send(Found::One(item)) || entries == limit {
            return;
        }
    }
}

/// Sends entries in an order, after the walk.
fn send_sorted(walk: transect::Walk, spec: SortSpec, items: &mut BatchSender<Found>) {
    let mut sorted = SortBuffer::new(spec);
    for item in walk {
        match item {
            Ok(entry) => {
                let path = entry.path().into_os_string().into_encoded_bytes();
                let name = path.len().saturating_sub(entry.file_name().len());
                let attributes = *entry.attributes();
                sorted.push(&attributes, path, name, entry);
            }
            error => {
                if !items.send(Found::One(error)) {
                    return;
                }
            }
        }
    }
    for (_, entry) in sorted.into_sorted() {
        if !items.send(Found::One(Ok(entry))) {
            return;
        }
    }
}
