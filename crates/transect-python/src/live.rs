//! `changes`: what changed in a tree that `transect live` follows.

use std::path::{Path, PathBuf};

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use transect_live::Cursor;
use transect_service::{Client, Error, TreeChanges};

use crate::errors::os_exception;
use crate::paths::parse_path;
use crate::watch::Change;

/// The system's number of the error that a name does not exist.
const ENOENT: i32 = 2;

create_exception!(
    transect,
    CursorLostError,
    PyRuntimeError,
    "A cursor is of another service, or too old: anything may have changed since.\n\n\
     The attribute `cursor` is that of now: a program that continues from there must compare the tree first."
);

/// Return what changed in a directory since a cursor, in order: a Changes object. Linux only so far.
///
/// A running `transect live` has to follow `path`. The result has every change that was made before the call.
/// since: the `cursor` of an earlier result, or what `transect changes --cursor` printed. Without it, the result has no
///     changes, and the cursor of now.
/// socket: where the service listens, if not at the default place.
///
/// Raises CursorLostError if the service does not know what changed since; RuntimeError if no service answers or follows the
/// directory; ValueError if `since` is not a cursor.
#[pyfunction]
#[pyo3(signature = (path, since=None, *, socket=None))]
pub(crate) fn changes(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    since: Option<&str>,
    socket: Option<&Bound<'_, PyAny>>,
) -> PyResult<Changes> {
    let (path, socket) = (parse_path(path)?, socket.map(parse_path).transpose()?);
    let cursor = since.map(str::parse::<Cursor>).transpose().map_err(PyValueError::new_err)?;
    let root = path.canonicalize().map_err(|error| os_exception(py, &error, Some(&path)))?;
    let answer = py.detach(|| ask(socket, &root, cursor));
    let failed = |error: Error| PyRuntimeError::new_err(error.to_string());
    let TreeChanges { header, changes, .. } = answer
        .map_err(failed)?
        .map_err(|why| {
            let path = path.display();
            PyRuntimeError::new_err(format!(
                "'{path}' is not followed: {why}; start `transect live {path}`"
            ))
        })?
        .named(&root, &path);
    if header.is_root_gone {
        let gone = std::io::Error::from_raw_os_error(ENOENT);
        return Err(os_exception(py, &gone, Some(&path)));
    }
    let now = header.cursor.to_string();
    let Some(changes) = changes else {
        let text = "the cursor is of another service or too old: anything may have changed";
        let lost = CursorLostError::new_err(text);
        lost.value(py).setattr("cursor", now)?;
        return Err(lost);
    };
    let changes = changes.into_iter().map(|change| Py::new(py, Change(change)));
    let changes = PyList::new(py, changes.collect::<PyResult<Vec<_>>>()?)?.unbind();
    Ok(Changes { changes, cursor: now, gap: header.was_gap })
}

fn ask(
    socket: Option<PathBuf>,
    root: &Path,
    cursor: Option<Cursor>,
) -> Result<Result<TreeChanges, String>, Error> {
    let socket = match socket {
        Some(socket) => socket,
        None => {
            let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            let runtime = runtime.filter(|runtime| runtime.is_absolute());
            transect_service::default_socket(runtime, std::env::temp_dir())?
        }
    };
    Client::connect(&socket)?.changes(root, cursor, false)
}

/// What changed since a cursor: an iterable of Change objects. Applied in their order, they lead from the names before to those
/// of now.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Changes {
    changes: Py<PyList>,
    /// The cursor after these changes, for the next call.
    #[pyo3(get)]
    cursor: String,
    /// Whether notifications were lost meanwhile. Then the whole tree was compared, and only what was created and removed in
    /// between is not in the result.
    #[pyo3(get)]
    gap: bool,
}

#[pymethods]
impl Changes {
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.changes.bind(py).try_iter()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.changes.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<transect.Changes: {}, cursor {}>", self.__len__(py), self.cursor)
    }
}
