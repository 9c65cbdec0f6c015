//! `DirectoryReader`: the names in one directory after the other, for `os_walk`.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyList};
use transect::{FieldMask, FileType};
use transect_sys::file::query_attributes;
use transect_sys::{
    Batch, Fault, ListStatus, Reader, ReaderKind, ReaderSettings, SystemReader, Want,
};

use crate::errors::os_exception;
use crate::paths::{decode, parse_path};

/// Directories, and everything else.
type Names<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

/// Reads directories with the same buffers.
#[pyclass(frozen, module = "transect")]
pub(crate) struct DirectoryReader(Mutex<(SystemReader, Batch)>);

#[pymethods]
impl DirectoryReader {
    #[new]
    fn new() -> Self {
        let reader = SystemReader::new(ReaderKind::best(), ReaderSettings::default());
        Self(Mutex::new((reader, Batch::new())))
    }

    /// Return the names of the directories in a directory, and all other names, both in the order of its
    /// listing. A link that leads to a directory is one. The names are of the type of the path.
    ///
    /// follow: False makes a path that is a link itself an error.
    fn names<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
        follow: bool,
    ) -> PyResult<Names<'py>> {
        let as_bytes = path.is_instance_of::<PyBytes>();
        let path = parse_path(path)?;
        let (reader, batch) =
            &mut *self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let exception = |fault: Fault| os_exception(py, &io::Error::from(fault), Some(&path));
        let names = (PyList::empty(py), PyList::empty(py));
        let handle = py.detach(|| reader.open_root(&path, follow)).map_err(exception)?;
        loop {
            let status = py.detach(|| {
                let status = reader.list(&handle, batch, &Want::nothing());
                reader.fill(&handle, batch, &Want::nothing());
                status
            });
            for entry in batch.iter() {
                let is_directory = match entry.file_type() {
                    FileType::Symlink => py.detach(|| is_dir(&path.join(entry.name))),
                    file_type => file_type == FileType::Directory,
                };
                let list = if is_directory { &names.0 } else { &names.1 };
                match as_bytes {
                    true => list.append(PyBytes::new(py, entry.name.as_encoded_bytes()))?,
                    false => list.append(decode(py, entry.name))?,
                }
            }
            match status {
                Ok(ListStatus::More) => {}
                // The directory was removed meanwhile.
                Ok(ListStatus::End) | Err(Fault::Vanished) => return Ok(names),
                Err(fault) => return Err(exception(fault)),
            }
        }
    }
}

/// By the whole path, as in `os.walk`: one through too many links leads nowhere.
fn is_dir(path: &Path) -> bool {
    let target = query_attributes(path, FieldMask::empty(), true);
    target.is_ok_and(|target| target.file_type() == FileType::Directory)
}
