//! `Entry`: one entry of a walk.

use pyo3::prelude::*;
use pyo3::types::PyString;
use transect::{DirEntry, FileType};

use crate::paths::decode;

/// An entry of a tree: its path, its type, and its attributes when it was read.
///
/// It is an os.PathLike: open(entry) and pathlib.Path(entry) work. A symbolic link is neither a
/// directory nor a file, unless the walk follows links. An attribute that is not known is None.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Entry(DirEntry);

impl Entry {
    pub(crate) fn new(entry: DirEntry) -> Self {
        Self(entry)
    }
}

const BILLION: i64 = 1_000_000_000;

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

    /// The type: "file", "directory", "symlink", "block", "char", "fifo", "socket" or "unknown".
    #[getter]
    fn r#type(&self) -> &'static str {
        self.0.file_type().as_str()
    }

    /// The length in bytes.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.0.attributes().size()
    }

    /// The bytes that it occupies on the device.
    #[getter]
    fn allocated(&self) -> Option<u64> {
        self.0.attributes().allocated()
    }

    /// When the content last changed, in seconds since 1970 UTC.
    #[getter]
    fn mtime(&self) -> Option<f64> {
        // The same rounding as in os.stat.
        let seconds = |time: i64| time.div_euclid(BILLION) as f64;
        self.mtime_ns().map(|time| seconds(time) + 1e-9 * time.rem_euclid(BILLION) as f64)
    }

    /// When the content last changed, in nanoseconds since 1970 UTC.
    #[getter]
    fn mtime_ns(&self) -> Option<i64> {
        self.0.attributes().mtime()
    }

    /// When the attributes last changed, in nanoseconds since 1970 UTC.
    #[getter]
    fn ctime_ns(&self) -> Option<i64> {
        self.0.attributes().ctime()
    }

    /// When the content was last read, in nanoseconds since 1970 UTC.
    #[getter]
    fn atime_ns(&self) -> Option<i64> {
        self.0.attributes().atime()
    }

    /// When it was created, in nanoseconds since 1970 UTC.
    #[getter]
    fn btime_ns(&self) -> Option<i64> {
        self.0.attributes().btime()
    }

    /// The type and permission bits, as in os.stat.
    #[getter]
    fn mode(&self) -> Option<u16> {
        self.0.attributes().mode()
    }

    /// The user id of the owner.
    #[getter]
    fn uid(&self) -> Option<u32> {
        self.0.attributes().uid()
    }

    /// The group id.
    #[getter]
    fn gid(&self) -> Option<u32> {
        self.0.attributes().gid()
    }

    /// The number of names of the file.
    #[getter]
    fn nlink(&self) -> Option<u32> {
        self.0.attributes().nlink()
    }

    /// The inode number.
    #[getter]
    fn inode(&self) -> Option<u64> {
        self.0.attributes().inode()
    }

    /// The device number.
    #[getter]
    fn device(&self) -> Option<u64> {
        self.0.attributes().device()
    }

    /// Return whether it is a directory.
    fn is_dir(&self) -> bool {
        self.0.is_dir()
    }

    /// Return whether it is a regular file.
    fn is_file(&self) -> bool {
        self.0.is_file()
    }

    /// Return whether it is a symbolic link.
    fn is_symlink(&self) -> bool {
        self.0.file_type() == FileType::Symlink
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.path(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<transect.Entry {}>", self.path(py).repr()?))
    }
}
