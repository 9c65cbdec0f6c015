//! Errors: exceptions for what the caller named, data for what lies inside a tree.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyOverflowError, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use transect::{Diagnostics, Error, ScanError};

use crate::paths::decode;

create_exception!(
    transect,
    PartialResultWarning,
    PyUserWarning,
    "Part of a tree could not be read, so the result is too small.\n\n\
     To get an exception instead: warnings.simplefilter(\"error\", transect.PartialResultWarning)."
);

/// An error inside a tree, as data. Not an exception.
#[pyclass(frozen, module = "transect")]
#[derive(Clone, Debug)]
pub(crate) struct ErrorInfo {
    /// The path of the operation.
    #[pyo3(get)]
    path: OsString,
    /// The operation that failed: `open_directory`, `read_directory`, `stat` or `read_rules`; of a file that
    /// is transformed, such as `read` or `replace`.
    #[pyo3(get)]
    operation: String,
    /// The kind of the error, such as `denied`.
    #[pyo3(get)]
    kind: &'static str,
    /// The error number of the system, or `None`: as in the module `errno`, on Windows as in
    /// `OSError.winerror`.
    #[pyo3(get)]
    errno: Option<i32>,
    /// The error in one sentence.
    #[pyo3(get)]
    message: String,
}

impl ErrorInfo {
    pub(crate) fn new(error: &ScanError) -> Self {
        Self {
            path: error.path().into(),
            operation: error.operation().as_str().to_owned(),
            kind: error.kind().as_str(),
            errno: error.io_error().raw_os_error(),
            message: error.to_string(),
        }
    }

    /// Returns the error of a file that was to be transformed.
    pub(crate) fn of_file(error: &transect_transform::Error) -> Self {
        Self {
            path: error.path().unwrap_or(Path::new("")).into(),
            operation: error.operation().as_str().replace(' ', "_"),
            kind: error.reason().as_str(),
            errno: error.io_error().and_then(io::Error::raw_os_error),
            message: error.to_string(),
        }
    }
}

#[pymethods]
impl ErrorInfo {
    fn __repr__(&self) -> String {
        format!("<transect.ErrorInfo: {}>", self.message)
    }
}

/// Returns the exception for an error that prevents a walk.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Root(error) | Error::Entry(error) => root_exception(py, error),
        Error::ThreadStart(source) => os_exception(py, source, None),
        Error::NoRoots | Error::InvalidPattern(..) | Error::InvalidDepths { .. } => {
            PyValueError::new_err(error.to_string())
        }
        Error::TooManyEntries => PyOverflowError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Returns the exception for a root that cannot be read: `FileNotFoundError`, `PermissionError` or
/// another subclass of `OSError`, with the path.
pub(crate) fn root_exception(py: Python<'_>, error: &ScanError) -> PyErr {
    os_exception(py, error.io_error(), Some(error.path()))
}

/// Returns the subclass of `OSError` for an error of the system.
pub(crate) fn os_exception(py: Python<'_>, error: &io::Error, path: Option<&Path>) -> PyErr {
    let reason = transect::reason(error);
    let Some(number) = error.raw_os_error() else { return PyOSError::new_err(reason) };
    let message = reason.split(" (os error ").next();
    // The class returns an object of the subclass for this number. On Windows, it takes the number of the
    // system from the fourth argument, which it ignores elsewhere.
    let path = path.map(|path| decode(py, path));
    match py.get_type::<PyOSError>().call1((number, message, path, number)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

/// Returns the exception for the first root that could not be read.
pub(crate) fn failed_root(py: Python<'_>, diagnostics: &Diagnostics) -> PyResult<()> {
    let errors = &diagnostics.kept_errors;
    match errors.iter().find(|error| diagnostics.failed_roots > 0 && error.depth() == 0) {
        Some(error) => Err(root_exception(py, error)),
        None => Ok(()),
    }
}

/// What errors in a result mean.
pub(crate) const PARTIAL: &str = "the result is partial; the attribute `errors` lists them";

/// Warns that there were errors, and what they mean.
pub(crate) fn warn_partial(py: Python<'_>, errors: u64, meaning: &str) -> PyResult<()> {
    let errors = transect_text::units::counted(errors, "error", "errors");
    let message = format!("{errors}: {meaning}");
    let message = std::ffi::CString::new(message).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PartialResultWarning>(), &message, 1)
}

/// Returns the exception for a file that cannot be written.
pub(crate) fn file_exception(py: Python<'_>, error: &transect_transform::Error) -> PyErr {
    match error.io_error() {
        Some(source) => os_exception(py, source, error.path()),
        None => PyOSError::new_err(error.to_string()),
    }
}
