//! `Entry`: one entry of a walk.

use pyo3::prelude::*;
use pyo3::types::PyString;
use transect::DirEntry;

use crate::attributes::Attributes;
use crate::paths::decode;

/// An entry of a tree: its path, its type, and its attributes when it was read.
///
/// It is an os.PathLike: open(entry) and pathlib.Path(entry) work. A symbolic link is neither a
/// directory nor a file, unless the walk follows links. An attribute that is not known is None.
#[pyclass(frozen, extends = Attributes, module = "transect")]
pub(crate) struct Entry(DirEntry);

impl Entry {
    pub(crate) fn new(py: Python<'_>, entry: DirEntry) -> PyResult<Py<Self>> {
        let attributes = Attributes::new(*entry.attributes());
        Py::new(py, (Self(entry), attributes))
    }
}

#[pymethods]
impl Entry {
    /// The path: its root as given, then the names below it. Names that are not UTF-8 have lone
    /// surrogates, as os.fsdecode makes them.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        decode(py, self.0.path())
    }

    /// The name; of a root, the path as given.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        decode(py, self.0.name())
    }

    /// The number of steps below the root, which has depth 0.
    #[getter]
    fn depth(&self) -> u32 {
        self.0.depth()
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.path(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<transect.Entry {}>", self.path(py).repr()?))
    }
}
