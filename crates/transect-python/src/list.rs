//! `entries` and `glob`: the entries that `transect list` prints.

use std::cmp::Ordering;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use transect::internal::SortKey;
use transect::{Cancel, DirEntry, FieldMask};

use crate::errors;
use crate::options::{choose, parse_options};
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
    let order = match (sort, reverse) {
        (None, true) => return Err(PyValueError::new_err("reverse needs sort")),
        (None, false) => None,
        (Some(name), reverse) => Some(Order { key: key(name)?, reverse }),
    };
    if limit == Some(0) {
        return Err(PyValueError::new_err("limit must be at least 1"));
    }
    let here = PyString::new(py, ".").into_any();
    let cancel = Cancel::new();
    let options = parse_options(paths.unwrap_or(&here), options)?.cancel(cancel.clone());
    let field = order.map_or(FieldMask::empty(), |order| order.key.field());
    let plan = options
        .want(wanted(attributes) | field)
        .plan()
        .map_err(|error| errors::exception(py, &error))?;
    let walk = plan.into_iter();
    match (order, limit) {
        (None, None) => Walk::begin(py, cancel, walk),
        (None, Some(limit)) => Walk::start(py, cancel, move |items| send_first(walk, limit, items)),
        (Some(order), limit) => Walk::start(py, cancel, move |items| {
            send_sorted(walk, order, limit.unwrap_or(usize::MAX), items);
        }),
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

fn key(name: &str) -> PyResult<SortKey> {
    let unknown = format!("there is no key '{name}'; keys");
    choose(SortKey::ALL, SortKey::as_str, name, &unknown)
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
fn send_sorted(walk: transect::Walk, order: Order, limit: usize, items: &mut BatchSender<Found>) {
    let mut first = First { order, limit, entries: Vec::new() };
    for item in walk {
        match item {
            Ok(entry) => first.add(entry),
            error => {
                if !items.send(Found::One(error)) {
                    return;
                }
            }
        }
    }
    for entry in first.into_sorted() {
        if !items.send(Found::One(Ok(entry))) {
            return;
        }
    }
}

#[derive(Clone, Copy)]
struct Order {
    key: SortKey,
    reverse: bool,
}

impl Order {
    /// Orders as `transect list` does: unknown values come last in either direction, and equal entries are
    /// ordered by path.
    fn compare(self, a: &Ranked, b: &Ranked) -> Ordering {
        let known = b.value.is_some().cmp(&a.value.is_some());
        known.then_with(|| {
            let order =
                a.value.cmp(&b.value).then_with(|| self.key.compare_paths(a.path(), b.path()));
            if self.reverse { order.reverse() } else { order }
        })
    }
}

struct Ranked {
    value: Option<i128>,
    path: PathBuf,
    entry: DirEntry,
}

impl Ranked {
    /// Returns the bytes of the path, and the offset of the name in them.
    fn path(&self) -> (&[u8], usize) {
        let path = self.path.as_os_str().as_encoded_bytes();
        (path, path.len().saturating_sub(self.entry.file_name().len()))
    }
}

/// The first entries in an order.
struct First {
    order: Order,
    limit: usize,
    entries: Vec<Ranked>,
}

impl First {
    /// Entries beyond twice the limit before they are dropped.
    const SLACK: usize = 1024;

    fn add(&mut self, entry: DirEntry) {
        let (value, path) = (self.order.key.sort_value(entry.attributes()), entry.path());
        self.entries.push(Ranked { value, path, entry });
        if self.entries.len() >= self.limit.saturating_mul(2).saturating_add(Self::SLACK) {
            self.trim();
        }
    }

    fn trim(&mut self) {
        if self.limit < self.entries.len() {
            let order = self.order;
            self.entries.select_nth_unstable_by(self.limit, |a, b| order.compare(a, b));
            self.entries.truncate(self.limit);
        }
    }

    fn into_sorted(mut self) -> impl Iterator<Item = DirEntry> {
        self.trim();
        let order = self.order;
        self.entries.sort_unstable_by(|a, b| order.compare(a, b));
        self.entries.into_iter().map(|ranked| ranked.entry)
    }
}
