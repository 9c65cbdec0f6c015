//! Trees in files.

use std::path::Path;

use pyo3::exceptions::{PyOverflowError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use transect::Cancel;
use transect_snapshot::{LiveTree, ReadError, Snapshot};
use transect_transform::publish::put_with;

use crate::columns::Column;
use crate::{errors, job};

/// Reads a snapshot for these columns. An attribute that it does not have is an error if the caller chose
/// the columns, otherwise null.
pub(crate) fn read(
    py: Python<'_>,
    path: &Path,
    columns: &[Column],
    are_chosen: bool,
) -> PyResult<LiveTree> {
    let cannot_read = |error: ReadError| exception(py, path, &error);
    let open = || Snapshot::open(path);
    let snapshot = job::run(py, &Cancel::new(), |_| Ok(()), open)?.map_err(cannot_read)?;
    let stored = snapshot.metadata().fields();
    let missing = columns.iter().find(|column| !stored.contains(column.needs()));
    if let Some(column) = missing.filter(|_| are_chosen) {
        let (path, name) = (path.display(), column.name());
        let message = format!("the snapshot '{path}' does not have '{name}'");
        return Err(PyValueError::new_err(message));
    }
    let read = || snapshot.table(Column::fields(columns) & stored);
    let table = job::run(py, &Cancel::new(), |_| Ok(()), read)?.map_err(cannot_read)?;
    Ok(LiveTree::new(table, snapshot.metadata().clone()))
}

/// Returns the exception for a snapshot that cannot be read.
pub(crate) fn exception(py: Python<'_>, path: &Path, error: &ReadError) -> PyErr {
    match error {
        ReadError::Io(error) => errors::os_exception(py, error, Some(path)),
        ReadError::Table(error) => PyOverflowError::new_err(error.to_string()),
        error => PyValueError::new_err(format!("cannot read '{}': {error}", path.display())),
    }
}

/// Stores a tree in a file.
pub(crate) fn write(py: Python<'_>, tree: &LiveTree, path: &Path) -> PyResult<()> {
    let table = tree.table();
    let mut roots = table.roots().map(|root| table.path(root));
    if let Some(root) = roots.find(|root| !root.is_absolute()) {
        return Err(PyValueError::new_err(format!(
            "the root '{0}' is not an absolute path; scan os.path.abspath('{0}')",
            root.display()
        )));
    }
    let cancel = Cancel::new();
    let write = || {
        put_with(path, |out| {
            transect_snapshot::write(table, tree.metadata(), &cancel, out).map(drop)
        })
    };
    let written = job::run(py, &cancel, |_| Ok(()), write)?;
    let report = written.map_err(|error| errors::file_exception(py, &error))?;
    for lost in &report.lost_metadata {
        let message = format!("cannot preserve {} of '{}'", lost.what, path.display());
        let message = std::ffi::CString::new(message).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    Ok(())
}
