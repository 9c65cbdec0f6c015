//! `usage`: what needs the most space.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use transect::table::{Row, SubtreeTotals, Table};
use transect::{FieldMask, FileType};

use crate::getters::methods;
use crate::paths::decode;

/// What a directory or a group of entries needs.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Usage {
    /// The path of a directory; of a group, its extension, user id or type. None stands for entries
    /// without one.
    #[pyo3(get)]
    key: Py<PyAny>,
    totals: SubtreeTotals,
}

methods! {
    impl Usage {
        getters {
            /// The bytes that it occupies: a file with several names counts at one of them.
            disk_usage(&self) -> u64 = self.totals.disk_usage;
            /// The lengths of everything but directories, in bytes.
            apparent_size(&self) -> u64 = self.totals.apparent;
            /// The number of regular files.
            files(&self) -> u32 = self.totals.files;
            /// The number of directories, itself included.
            directories(&self) -> u32 = self.totals.directories;
            /// The number of entries that are neither regular files nor directories.
            others(&self) -> u32 = self.totals.others;
            /// When any content last changed, in nanoseconds since 1970 UTC; None if that is not known.
            newest_ns(&self) -> Option<i64> = self.totals.newest();
        }

        fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
            let (key, bytes) = (self.key.bind(py).repr()?, self.totals.disk_usage);
            Ok(format!("<transect.Usage {key}: {bytes} bytes of disk usage, {} files>", self.files()))
        }
    }
}

/// Returns the `top` largest directories, or groups of entries with the same key, largest first.
pub(crate) fn largest(
    py: Python<'_>,
    table: &Table,
    is_selected: impl Fn(Row) -> bool + Sync,
    top: usize,
    by: Option<&str>,
) -> PyResult<Vec<Usage>> {
    let rows = || table.iter().filter(|&row| is_selected(row));
    match by {
        None => {
            let is_directory = |row: &Row| table.file_type(*row) == FileType::Directory;
            let usage = |row| table.totals(row).disk_usage;
            let found = py.detach(|| table.largest(rows().filter(is_directory), top, usage));
            let usage = |row| {
                let key = decode(py, table.path(row)).into_any().unbind();
                Usage { key, totals: table.totals(row) }
            };
            Ok(found.into_iter().map(usage).collect())
        }
        Some("ext") => {
            let extension = |row| match table.file_type(row) {
                FileType::Directory => Some(None),
                _ => Some(table.extension(row).filter(|extension| !extension.is_empty())),
            };
            let groups = py.detach(|| table.group(rows(), extension));
            let text = |key: Option<&OsStr>| key.map(|key| decode(py, key)).into_py_any(py);
            largest_groups(groups, top, text)
        }
        Some("owner") => {
            if !table.columns().contains(FieldMask::UID) {
                return Err(PyValueError::new_err("the table was read without the column 'uid'"));
            }
            let groups = py.detach(|| table.by_owner(rows()));
            largest_groups(groups, top, |key| key.into_py_any(py))
        }
        Some("type") => {
            let groups = py.detach(|| table.group(rows(), |row| Some(table.file_type(row))));
            largest_groups(groups, top, |key| key.as_str().into_py_any(py))
        }
        Some(unknown) => {
            let message = format!("there is no key '{unknown}'; keys: ext, owner, type");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Returns the `top` largest groups; groups of the same size keep the order of their keys.
fn largest_groups<K>(
    groups: BTreeMap<K, SubtreeTotals>,
    top: usize,
    key: impl Fn(K) -> PyResult<Py<PyAny>>,
) -> PyResult<Vec<Usage>> {
    let mut groups: Vec<(K, SubtreeTotals)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, totals)| Reverse(totals.disk_usage));
    groups.truncate(top);
    groups.into_iter().map(|(of, totals)| Ok(Usage { key: key(of)?, totals })).collect()
}
