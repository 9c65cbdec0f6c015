//! `scan`: a tree as a table.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use transect::table::{Table as EngineTable, TableBuilder};
use transect::{Cancel, Error, FieldMask, Filters, Progress, ProgressCounts, ScanOptions};

use crate::columns::Column;
use crate::table::Table;
use crate::usage::Usage;
use crate::{errors, job, options};

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
/// min_depth, max_depth: steps below the roots. min_size, max_size: lengths in bytes.
/// follow: follow symbolic links. one_file_system: stay on the file systems of the roots.
/// pseudo_file_systems: read /proc and the like.
/// threads: the number of threads; by default one for each processor, more while a disk is slow.
///
/// Raises FileNotFoundError, PermissionError or another OSError if a root cannot be read. Errors below
/// the roots are data: `Table.errors`. They are also announced by a PartialResultWarning.
#[pyfunction]
#[pyo3(
    signature = (paths, *, columns=None, progress=None, **options),
    text_signature = "(paths, *, columns=None, progress=None, glob=None, exclude=None, extensions=None, \
                      regex=None, types=None, ignore_case=False, hidden=True, gitignore=False, \
                      min_depth=0, max_depth=None, min_size=None, max_size=None, follow=False, \
                      one_file_system=False, pseudo_file_systems=False, threads=None)"
)]
pub(crate) fn scan(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let columns = match columns {
        Some(names) if names.is_empty() => {
            return Err(PyValueError::new_err("columns must not be empty"));
        }
        Some(names) => Column::parse(&names)?,
        None => Column::defaults(),
    };
    let options = options::parse_options(paths, options)?;
    let filtered = options.filters != Filters::new();
    let fields = columns.iter().fold(FieldMask::empty(), |fields, column| fields | column.needs());
    let table = read(py, options, fields, meter(py, progress)?)?;
    let diagnostics = table.diagnostics();
    errors::failed_root(py, diagnostics)?;
    if !diagnostics.is_complete() {
        errors::warn_partial(py, diagnostics.errors)?;
    }
    Ok(Table::new(Arc::new(table), columns, filtered))
}

/// Read one tree or several, and return what needs the most space: `scan(paths).usage(top, by)`.
///
/// The other arguments are those of `scan`.
#[pyfunction]
#[pyo3(
    signature = (paths, *, top=20, by=None, progress=None, **options),
    text_signature = "(paths, *, top=20, by=None, progress=None, glob=None, exclude=None, extensions=None, \
                      regex=None, types=None, ignore_case=False, hidden=True, gitignore=False, \
                      min_depth=0, max_depth=None, min_size=None, max_size=None, follow=False, \
                      one_file_system=False, pseudo_file_systems=False, threads=None)"
)]
pub(crate) fn usage(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    top: usize,
    by: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Usage>> {
    let columns = Some(vec!["uid".to_owned()]);
    scan(py, paths, columns, progress, options)?.usage(py, top, by)
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
) -> PyResult<EngineTable> {
    let (cancel, progress) = (Cancel::new(), Arc::new(Progress::new()));
    let options = options.cancel(cancel.clone()).progress(Arc::clone(&progress));
    let plan = options.plan().map_err(|error| errors::exception(py, &error))?;
    let builder = TableBuilder::new(fields);
    let show = |finished| match &meter {
        Some(meter) => meter.call1((CountsSoFar::new(progress.counts(), finished),)).map(drop),
        None => Ok(()),
    };
    let read = || -> Result<EngineTable, Error> { plan.run(|| builder.sink())?.sink.into_table() };
    let table = job::run(py, &cancel, |_| show(false), read)?;
    show(true)?;
    table.map_err(|error| errors::exception(py, &error))
}
