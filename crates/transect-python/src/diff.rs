//! `diff`: what changed between two trees.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use transect::{Cancel, FieldMask, ScanOptions};
use transect_snapshot::{
    Diff as EngineDiff, DiffOptions, LiveTree, Metadata, ReadError, Snapshot, Tree,
};
use transect_sys::name_from_bytes;

use crate::columns::Column;
use crate::options::{choose, texts};
use crate::paths::{decode, parse_path};
use crate::rows::Rows;
use crate::table::Table;
use crate::{changes, errors, job, snapshot};

/// Compare two trees, and return what changed from `a` to `b`: a Diff object, one row for each change.
///
/// a, b: each a Table, the path of a snapshot, or the path of a directory, which is read now. Paths of
///     snapshots are absolute: beside one, a directory is read by its absolute path. Snapshots that are
///     given as paths are compared without being loaded into memory.
/// ignore: columns that are not compared, such as "ctime" or ["mtime", "uid"].
/// verify: compare everything, also directories whose digests are equal.
///
/// Raises an OSError if a tree cannot be read at all, and ValueError for a damaged snapshot. Trees that
/// were read in part are announced by a PartialResultWarning: then changes may be missing.
#[pyfunction]
#[pyo3(signature = (a, b, *, ignore=None, verify=false))]
pub(crate) fn diff(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    ignore: Option<&Bound<'_, PyAny>>,
    verify: bool,
) -> PyResult<Py<Diff>> {
    let mut options = DiffOptions::default();
    options.ignored = ignore.map(fields).transpose()?.unwrap_or(FieldMask::empty());
    options.verify = verify;
    let (a, b) = (Source::parse(a)?, Source::parse(b)?);
    let has_stored = a.is_stored() || b.is_stored();
    let cancel = Cancel::new();
    let work = || {
        let (a, b) = (a.read(has_stored, &cancel)?, b.read(has_stored, &cancel)?);
        let diff = compare(&a, &b, &options)?;
        let (a, b) = (a.metadata(), b.metadata());
        let (complete, unverified) = (a.complete && b.complete, a.unverified || b.unverified);
        Ok::<_, PyErr>((diff, complete, unverified, a.errors + b.errors))
    };
    let (diff, complete, unverified, errors) = job::run(py, &cancel, |_| Ok(()), work)??;
    if !complete {
        let meaning = "the trees were read in part, so changes may be missing";
        errors::warn_partial(py, errors, meaning)?;
    }
    let diff = Arc::new(diff);
    let rows = Arc::clone(&diff);
    let rows =
        Rows::in_parts(rows.changes.len(), move |part| changes::columns(&rows.changes[part]));
    Py::new(py, (Diff { diff, complete, unverified }, rows))
}

/// Returns the attributes that names of columns mean: one, or an iterable of them.
fn fields(names: &Bound<'_, PyAny>) -> PyResult<FieldMask> {
    let compared: Vec<Column> = changes::compared().collect();
    let field = |name: &String| {
        let unknown = format!("'{name}' is not compared; compared are");
        choose(&compared, Column::name, name, &unknown).map(Column::needs)
    };
    texts(names)?.iter().map(field).collect()
}

/// A tree, as it was given.
enum Source {
    Table(Arc<LiveTree>),
    Snapshot(PathBuf),
    Directory(PathBuf),
}

impl Source {
    fn parse(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(table) = argument.cast::<Table>() {
            return Ok(Self::Table(Arc::clone(table.get().tree())));
        }
        let path = parse_path(argument)?;
        let is_snapshot = Snapshot::is_likely(&path);
        Ok(if is_snapshot { Self::Snapshot(path) } else { Self::Directory(path) })
    }

    fn is_stored(&self) -> bool {
        matches!(self, Self::Snapshot(_))
    }

    fn read(self, has_stored: bool, cancel: &Cancel) -> PyResult<Side> {
        match self {
            Self::Table(tree) => Ok(Side::Live(tree)),
            Self::Snapshot(path) => match Snapshot::open(&path) {
                Ok(snapshot) => Ok(Side::Stored(path, Box::new(snapshot))),
                Err(error) => Err(cannot_read(&path, &error)),
            },
            Self::Directory(path) => {
                let path =
                    if has_stored { std::path::absolute(&path).unwrap_or(path) } else { path };
                let options = ScanOptions::new([path]).cancel(cancel.clone());
                let tree = LiveTree::read(options, FIELDS);
                Python::attach(|py| {
                    let tree = tree.map_err(|error| errors::exception(py, &error))?;
                    errors::failed_root(py, tree.table().diagnostics())?;
                    Ok(Side::Live(Arc::new(tree)))
                })
            }
        }
    }
}

/// Returns the exception for a snapshot that cannot be read, on a thread without the interpreter lock.
fn cannot_read(path: &Path, error: &ReadError) -> PyErr {
    Python::attach(|py| snapshot::exception(py, path, error))
}

/// What is read of a directory: all attributes that are compared, and the time of creation, which proves
/// moves.
const FIELDS: FieldMask = FieldMask::MTIME
    .union(FieldMask::MODE)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::NLINK)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::BTIME);

/// A tree that was read, or can be.
enum Side {
    Stored(PathBuf, Box<Snapshot>),
    Live(Arc<LiveTree>),
}

impl Side {
    fn metadata(&self) -> &Metadata {
        match self {
            Self::Stored(_, snapshot) => snapshot.metadata(),
            Self::Live(tree) => tree.metadata(),
        }
    }

    fn tree(&self) -> Tree<'_> {
        match self {
            Self::Stored(_, snapshot) => snapshot.as_ref().into(),
            Self::Live(tree) => tree.as_ref().into(),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Stored(path, _) => Some(path),
            Self::Live(_) => None,
        }
    }
}

fn compare(a: &Side, b: &Side, options: &DiffOptions) -> PyResult<EngineDiff> {
    transect_snapshot::diff(a.tree(), b.tree(), options).map_err(|error| {
        match (a.path(), b.path()) {
            (Some(a), Some(b)) => {
                let (a, b) = (a.display(), b.display());
                PyValueError::new_err(format!("cannot compare '{a}' and '{b}': {error}"))
            }
            (a, b) => cannot_read(a.or(b).unwrap_or(Path::new("")), &error),
        }
    })
}

/// What changed between two trees: numbers, and one row for each change, sorted by path.
///
/// The columns: change ("added", "removed", "modified", "renamed", "type_changed", "unreadable" or
/// "readable"), path (in the second tree, except for what is gone), path_raw (its bytes, if they are not
/// UTF-8), from and from_raw (the path in the first tree, if it is another), changed (the names of the
/// attributes that changed, with commas between), reason (why a directory could not be read), growth
/// (allocated bytes, with a sign), moved_entries (below what was added or removed; they count where they
/// moved); and for each tree, as before_… and after_…: type, size, allocated, mtime, mode, uid, gid, nlink,
/// inode, device, entries (itself and everything below it), total_allocated (of these).
#[pyclass(frozen, extends = Rows, module = "transect")]
pub(crate) struct Diff {
    diff: Arc<EngineDiff>,
    /// Whether both trees were read completely. Otherwise, changes may be missing.
    #[pyo3(get)]
    complete: bool,
    /// Whether a tree is from a snapshot without checksums, which an earlier version wrote: damage in it is not noticed.
    #[pyo3(get)]
    unverified: bool,
}

#[pymethods]
impl Diff {
    /// The numbers of changes by their kind. An entry that moved is only "renamed", and everything below it
    /// is not counted.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of = &self.diff.summary;
        let numbers = [
            ("added", of.added),
            ("removed", of.removed),
            ("modified", of.modified),
            ("renamed", of.renamed),
            ("type_changed", of.type_changed),
            ("unreadable", of.unreadable),
            ("readable", of.readable),
        ];
        let counts = PyDict::new(py);
        numbers.iter().try_for_each(|(name, number)| counts.set_item(name, number))?;
        Ok(counts)
    }

    /// The bytes that everything in the first tree occupies.
    #[getter]
    fn disk_usage_before(&self) -> u64 {
        self.diff.summary.allocated_before
    }

    /// The bytes that everything in the second tree occupies.
    #[getter]
    fn disk_usage_after(&self) -> u64 {
        self.diff.summary.allocated_after
    }

    /// The directories that grew or shrank most, as Growth objects, without those in which one subdirectory
    /// accounts for nearly all of it: at most a thousand.
    #[getter]
    fn growth(&self) -> Vec<Growth> {
        let growth = self.diff.growth.iter().cloned();
        let growth = growth.map(|it| Growth {
            path: name_from_bytes(it.path),
            before: it.before,
            after: it.after,
        });
        growth.collect()
    }

    fn __bool__(&self) -> bool {
        !self.diff.is_empty()
    }

    fn __repr__(&self) -> String {
        let state = if self.complete { "complete" } else { "partial" };
        format!("<transect.Diff: {} changes, {state}>", self.diff.changes.len())
    }
}

/// A directory whose disk usage changed.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Growth {
    /// The path in the second tree.
    #[pyo3(get)]
    path: OsString,
    /// The bytes that it occupied, with everything below it.
    #[pyo3(get)]
    before: u64,
    /// The bytes that it occupies, with everything below it.
    #[pyo3(get)]
    after: u64,
}

#[pymethods]
impl Growth {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = decode(py, &self.path).repr()?;
        let by = i128::from(self.after) - i128::from(self.before);
        Ok(format!("<transect.Growth {path}: {by:+} bytes>"))
    }
}
