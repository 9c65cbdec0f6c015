//! Paths from and to Python, without loss: as `os.fsencode` and `os.fsdecode` convert them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Returns the paths that an argument holds: one path, or an iterable of them. A path is a `str`,
/// `bytes` or `os.PathLike`.
pub(crate) fn parse_paths(argument: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let is_path = argument.is_instance_of::<PyString>()
        || argument.is_instance_of::<PyBytes>()
        || argument.hasattr("__fspath__")?;
    if is_path {
        return Ok(vec![parse_path(argument)?]);
    }
    argument.try_iter()?.map(|path| parse_path(&path?)).collect()
}

pub(crate) fn parse_path(argument: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: OsString = match argument.cast::<PyString>() {
        Ok(text) => text.extract()?,
        Err(_) => argument.py().import("os")?.call_method1("fsdecode", (argument,))?.extract()?,
    };
    // Otherwise the system would be asked for a path that ends at the NUL.
    if path.as_encoded_bytes().contains(&0) {
        return Err(PyValueError::new_err("embedded null byte"));
    }
    Ok(path.into())
}

/// Returns a path or name as `os.fsdecode` does: what is not Unicode becomes lone surrogates.
pub(crate) fn decode<'py>(py: Python<'py>, path: impl AsRef<OsStr>) -> Bound<'py, PyString> {
    match path.as_ref().into_pyobject(py) {
        Ok(text) => text,
        Err(never) => match never {},
    }
}
