//! Scans of many tasks, for `transect.distributed`: what its processes pass on is text and numbers.

use std::path::Path;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use transect::{Cancel, ScanOptions};
use transect_snapshot::tasks::{
    self, Commit, CommitLimits, MANIFEST_NAME, Task, TaskError, TaskOptions, remove_unfinished,
};
use transect_sys::host::host_name;
use transect_transform::publish::put_with;

use crate::paths::{parse_path, parse_paths};
use crate::{errors, job, snapshot};

/// The id of a task; of its part the number of rows, with those of directories that are left over, and of errors inside the
/// trees; the number of tasks that follow.
type Published = (String, u64, u64, usize);

/// Return the first task of a scan, as JSON. `options` are those of tasks, as JSON. Larger directories are shared
/// among several tasks.
#[pyfunction]
pub(crate) fn first_task(
    paths: &Bound<'_, PyAny>,
    options: &str,
    directory_entries: u64,
) -> PyResult<String> {
    let absolute = paths.py().import("os")?.getattr("path")?.getattr("abspath")?;
    let paths = parse_paths(paths)?.into_iter().map(|path| parse_path(&absolute.call1((path,))?));
    let paths: Vec<_> = paths.collect::<PyResult<_>>()?;
    let options: TaskOptions = serde_json::from_str(options).map_err(no_json)?;
    let mut task =
        Task::first(&paths, options).map_err(|error| exception(absolute.py(), &error))?;
    task.entries_of_directory = directory_entries;
    let task = task.checked().map_err(|error| exception(absolute.py(), &error))?;
    serde_json::to_string(&task).map_err(no_json)
}

/// Run a task of the scan that begins with `first`: that task, or the one that follows from `place`, the id of
/// another task and the number of its list. The task publishes its part in `folder`, unless it is there. Returns
/// whether it was, or another process was faster. `busy_threads` limits the threads while directories come from memory.
#[pyfunction]
#[pyo3(signature = (first, folder, place=None, *, entries, seconds=None, split, threads=None, busy_threads=None))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn run_task(
    py: Python<'_>,
    first: &str,
    folder: &Bound<'_, PyAny>,
    place: Option<(String, usize)>,
    entries: u64,
    seconds: Option<f64>,
    split: usize,
    threads: Option<usize>,
    busy_threads: Option<usize>,
) -> PyResult<bool> {
    let (folder, mut first) = (parse_path(folder)?, parse_task(py, first)?);
    (first.entries, first.seconds, first.split) = (entries, seconds, split);
    let first = first.checked().map_err(|error| exception(py, &error))?;
    let cancel = Cancel::new();
    let mut options = ScanOptions::default().cancel(cancel.clone());
    (options.threads, options.settings.busy_threads) = (threads, busy_threads);
    let run = || task_at(first, &folder, place)?.run_with(&folder, options);
    let result = job::run(py, &cancel, |_| Ok(()), run)?;
    result.map(|result| result.adopted).map_err(|error| exception(py, &error))
}

/// Publish a part with an error for each directory of a task that does not end. The arguments are those of `run_task`.
#[pyfunction]
#[pyo3(signature = (first, folder, place=None))]
pub(crate) fn give_up_task(
    py: Python<'_>,
    first: &str,
    folder: &Bound<'_, PyAny>,
    place: Option<(String, usize)>,
) -> PyResult<()> {
    let (folder, first) = (parse_path(folder)?, parse_task(py, first)?);
    let give_up = || task_at(first, &folder, place)?.give_up(&folder);
    py.detach(give_up).map_err(|error| exception(py, &error)).map(drop)
}

/// Check that a scan can add parts to a directory.
#[pyfunction]
pub(crate) fn check_folder(py: Python<'_>, folder: &Bound<'_, PyAny>) -> PyResult<()> {
    let folder = parse_path(folder)?;
    py.detach(|| tasks::check_folder(&folder)).map_err(|error| exception(py, &error))
}

/// Read what the part of a task says, if it is there: the id of the task, the number of rows, with those of directories that
/// are left over, of errors inside the trees, and of tasks that follow. The arguments are those of `run_task`.
#[pyfunction]
#[pyo3(signature = (first, folder, place=None))]
pub(crate) fn read_part(
    py: Python<'_>,
    first: &str,
    folder: &Bound<'_, PyAny>,
    place: Option<(String, usize)>,
) -> PyResult<Option<Published>> {
    let (folder, first) = (parse_path(folder)?, parse_task(py, first)?);
    let read = || task_at(first, &folder, place)?.published(&folder);
    let result = py.detach(read).map_err(|error| exception(py, &error))?;
    Ok(result.map(|it| (it.task, it.rows, it.errors, it.tasks.len())))
}

fn parse_task(py: Python<'_>, text: &str) -> PyResult<Task> {
    Task::from_json(text.as_bytes()).map_err(|error| exception(py, &error))
}

fn task_at(first: Task, folder: &Path, place: Option<(String, usize)>) -> Result<Task, TaskError> {
    match place {
        Some((above, list)) => first.following(folder, &above, list),
        None => Ok(first),
    }
}

/// Read a size as the program does: bytes, or with a unit, such as 512M.
#[pyfunction]
pub(crate) fn parse_size(text: &str) -> PyResult<usize> {
    transect_text::size::parse(text).map_err(PyValueError::new_err)
}

/// Check that all tasks of a scan have run and that their parts fit together, store them as one snapshot in
/// `output`, if there is one, and write the manifest. `memory` is in bytes.
///
/// Returns the number of parts, of entries, and of errors.
#[pyfunction]
#[pyo3(signature = (folder, output=None, *, memory=None, options=Vec::new()))]
pub(crate) fn commit(
    py: Python<'_>,
    folder: &Bound<'_, PyAny>,
    output: Option<&Bound<'_, PyAny>>,
    memory: Option<u64>,
    options: Vec<String>,
) -> PyResult<(usize, u64, u64)> {
    let folder = parse_path(folder)?;
    let output = output.map(parse_path).transpose()?;
    let beside = output.as_deref().and_then(Path::parent).filter(|it| !it.as_os_str().is_empty());
    let limits = CommitLimits {
        memory: memory.unwrap_or(CommitLimits::DEFAULT_MEMORY),
        folder: beside.unwrap_or(&folder).to_owned(),
    };
    let cancel = Cancel::new();
    // On a thread without the interpreter lock.
    let task = |error: TaskError| Python::attach(|py| exception(py, &error));
    let file = |error| Python::attach(|py| errors::file_exception(py, &error));
    let run = || {
        let commit = Commit::open(&folder).map_err(task)?;
        let outlined = commit.outline(&limits, &cancel).map_err(task)?;
        let mut metadata = commit.metadata();
        (metadata.host, metadata.options) = (host_name(), options);
        let manifest = commit.manifest(outlined.entries(), &metadata).map_err(task)?;
        if let Some(output) = &output {
            let mut refused = None;
            let written = put_with(output, |out| {
                outlined
                    .write(&metadata, &cancel, out)
                    .map(drop)
                    .map_err(|error| std::io::Error::other(refused.insert(error).to_string()))
            });
            match refused {
                // The output failed: its error has the name.
                Some(TaskError::Write(path, error)) if path.as_os_str().is_empty() => {
                    return Err(task(TaskError::Write(output.clone(), error)));
                }
                Some(error) => return Err(task(error)),
                None => drop(written.map_err(file)?),
            }
        }
        let written = put_with(&folder.join(MANIFEST_NAME), |out| {
            serde_json::to_writer(&mut *out, &manifest)?;
            out.write_all(b"\n")
        });
        written.map_err(file)?;
        remove_unfinished(&folder).map_err(task)?;
        Ok(manifest)
    };
    let manifest = job::run(py, &cancel, |_| Ok(()), run)??;
    Ok((manifest.parts.len(), manifest.entries, manifest.errors))
}

fn no_json(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn exception(py: Python<'_>, error: &TaskError) -> PyErr {
    match error {
        TaskError::Walk(error) => errors::exception(py, error),
        TaskError::Write(path, error) => errors::os_exception(py, error, Some(path)),
        TaskError::Read(path, error) => snapshot::exception(py, path, error),
        TaskError::Invalid(_) => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}
