//! `scan` and `read_snapshot`: a tree as a table.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use transect::{Cancel, FieldMask, Filters, Progress, ProgressCounts, ScanOptions};
use transect_snapshot::LiveTree;

use crate::columns::Column;
use crate::paths::parse_path;
use crate::table::Table;
use crate::usage::Usage;
use crate::{errors, job, options, snapshot};

/// Counts of a running scan, as `progress` receives them.
#[pyclass(frozen, module = "transect", name = "Progress")]
#[derive(Debug)]
pub(crate) struct CountsSoFar {
    /// Entries found so far.
    #[pyo3(get)]
    entries: u64,
    /// Directories read so far.
    #[pyo3(get)]
    directories: u64,
    /// The disk usage of what was found so far, in bytes. A file with several names may count more than
    /// once.
    #[pyo3(get)]
    disk_usage: u64,
    /// Errors so far.
    #[pyo3(get)]
    errors: u64,
    /// Whether this is the last call.
    #[pyo3(get)]
    finished: bool,
}

impl CountsSoFar {
    fn new(counts: ProgressCounts, finished: bool) -> Self {
        let ProgressCounts { entries, directories, bytes, errors, .. } = counts;
        Self { entries, directories, disk_usage: bytes, errors, finished }
    }
}

/// Read one tree or several into a table in memory.
///
/// `paths` is a path or an iterable of paths: str, bytes or os.PathLike. Symbolic links are not
/// followed, a file with several names counts once, and file systems like /proc are skipped below a root
/// on storage.
///
/// columns: names of the columns for data frames, in this order. Without it, all but `dir`, `ctime`,
///     `atime` and `btime`.
/// progress: True shows progress on standard error, with tqdm if it is installed. A function is called
///     with a Progress object from time to time, and at the end.
/// glob, exclude: one pattern or several, as in .gitignore files; excluded directories are not read.
/// extensions, regex: names to select; types: file types to select, such as "file".
/// ignore_case: ignore case in patterns. hidden: False excludes names that begin with a dot.
/// gitignore: apply .gitignore files, and exclude .git.
/// min_depth, max_depth: steps below the roots. min_size, max_size: lengths of files in bytes.
/// newer, older: last changed after or before a time: a datetime, a timedelta before now, or seconds
///     since 1970 UTC.
/// owner: a user id, or "USER", "USER:GROUP" or ":GROUP", by name or number.
/// perm: permission bits as a number, or as octal digits: exactly these ("644"), all of them ("-111") or
///     at least one of them ("/22").
/// empty: only empty files and directories. broken_links: only symbolic links without a target.
/// follow: follow symbolic links. every_link: with follow, read a directory through each link that leads to it, not
/// only once. one_file_system: stay on the file systems of the roots.
/// pseudo_file_systems: read /proc and the like.
/// threads: the number of threads; by default one for each processor, more while a disk is slow.
///
/// Raises FileNotFoundError, PermissionError or another OSError if a root cannot be read. Errors below
/// the roots are data: `Table.errors`. They are also announced by a PartialResultWarning.
#[pyfunction]
#[pyo3(
    signature = (paths, *, columns=None, progress=None, **options),
    text_signature = "(paths, *, columns=None, progress=None, threads=None, **filters)"
)]
pub(crate) fn scan(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<Table>> {
    let columns = Column::choose(columns.as_deref())?;
    table(py, paths, &columns, progress, options)?.into_object(py, columns)
}

/// Reads trees into a table with the attributes of these columns.
pub(crate) fn table(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    columns: &[Column],
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let options = options::parse_options(paths, options)?;
    let filtered = options.filters != Filters::new() || options.min_depth > 0;
    let tree = read(py, options, Column::fields(columns), meter(py, progress)?)?;
    let diagnostics = tree.table().diagnostics();
    errors::failed_root(py, diagnostics)?;
    if !diagnostics.is_complete() {
        errors::warn_partial(py, diagnostics.errors, errors::PARTIAL)?;
    }
    Ok(Table::new(tree, filtered))
}

/// Read one tree or several, and return what needs the most space: `scan(paths).usage(top, by)`.
///
/// The other arguments are those of `scan`.
#[pyfunction]
#[pyo3(
    signature = (paths, *, top=20, by=None, progress=None, **options),
    text_signature = "(paths, *, top=20, by=None, progress=None, threads=None, **filters)"
)]
pub(crate) fn usage(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    top: usize,
    by: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Usage>> {
    table(py, paths, &[Column::Uid], progress, options)?.usage(py, top, by)
}

/// Read a snapshot, which `Table.write_snapshot` or `transect snapshot` stored, into a table in memory.
///
/// The table is what `scan` returned then: its errors are those of that time. Data frame libraries also
/// read the file itself, without loading all of it.
///
/// columns: as for `scan`. Without it, an attribute that the snapshot does not have is null.
///
/// Raises FileNotFoundError or another OSError if the file cannot be read, and ValueError if it is not a
/// snapshot, is damaged, or does not have a column of `columns`.
#[pyfunction]
#[pyo3(signature = (path, *, columns=None))]
pub(crate) fn read_snapshot(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
) -> PyResult<Py<Table>> {
    let are_chosen = columns.is_some();
    let columns = Column::choose(columns.as_deref())?;
    let tree = snapshot::read(py, &parse_path(path)?, &columns, are_chosen)?;
    if !tree.metadata().complete {
        errors::warn_partial(py, tree.metadata().errors, errors::PARTIAL)?;
    }
    Table::new(tree, false).into_object(py, columns)
}

/// Returns the function that shows progress.
fn meter<'py>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match progress {
        Some(choice) if choice.is_instance_of::<PyBool>() => match choice.is_truthy()? {
            true => Ok(Some(py.import("transect._progress")?.call_method0("meter")?)),
            false => Ok(None),
        },
        function => Ok(function.cloned()),
    }
}

fn read(
    py: Python<'_>,
    options: ScanOptions,
    fields: FieldMask,
    meter: Option<Bound<'_, PyAny>>,
) -> PyResult<LiveTree> {
    let (cancel, progress) = (Cancel::new(), Arc::new(Progress::new()));
    let options = options.cancel(cancel.clone()).progress(Arc::clone(&progress));
    let show = |finished| match &meter {
        Some(meter) => meter.call1((CountsSoFar::new(progress.counts(), finished),)).map(drop),
        None => Ok(()),
    };
    let read = || LiveTree::read(options, fields);
    let tree = job::run(py, &cancel, |_| show(false), read)?;
    show(true)?;
    tree.map_err(|error| errors::exception(py, &error))
}
