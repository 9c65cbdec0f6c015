//! `Entry`: one entry of a walk.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use transect::Dir;

use crate::attributes::Attributes;
use crate::getters::methods;
use crate::paths::decode;

/// An entry of a tree: its path, its type, and its attributes when it was read.
///
/// It is an os.PathLike: open(entry) and pathlib.Path(entry) work. A symbolic link is neither a
/// directory nor a file, unless the walk follows links. An attribute that is not known is None.
#[pyclass(frozen, extends = Attributes, module = "transect")]
pub(crate) struct Entry {
    dir: Arc<Dir>,
    name: Py<PyString>,
}

impl Entry {
    pub(crate) fn new(
        py: Python<'_>,
        dir: &Arc<Dir>,
        name: &OsStr,
        attributes: &transect::Attributes,
    ) -> PyResult<Py<Self>> {
        let entry = Self { dir: Arc::clone(dir), name: decode(py, name).unbind() };
        Py::new(py, (entry, Attributes::new(*attributes)))
    }
}

methods! {
    impl Entry {
        getters {
            /// The name; of a root, the path as given.
            name<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> = self.name.bind(py).clone();
            /// The number of steps below the root, which has depth 0.
            depth(&self) -> u32 = self.dir.entry_depth();
        }

        /// The path: its root as given, then the names below it. Names that are not UTF-8 have lone
        /// surrogates, as os.fsdecode makes them.
        #[getter]
        fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
            let path = match self.name.to_str(py) {
                Ok(name) => self.dir.path_of(OsStr::new(name)),
                Err(_) => self.dir.path_of(&self.name.extract::<OsString>(py)?),
            };
            Ok(decode(py, path))
        }

        fn __fspath__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
            self.path(py)
        }

        fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
            Ok(format!("<transect.Entry {}>", self.path(py)?.repr()?))
        }
    }
}
