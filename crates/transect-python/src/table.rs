//! `Table`: a tree in memory.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use transect::FileType;
use transect::table::{Row, Table as EngineTable};
use transect_snapshot::LiveTree;

use crate::batches::{self, TableBatches};
use crate::columns::Column;
use crate::errors::ErrorInfo;
use crate::getters::methods;
use crate::html;
use crate::paths::{decode, parse_path};
use crate::rows::Rows;
use crate::snapshot;
use crate::usage::{self, Usage};

/// A tree that was read: totals, errors, and all entries for data frames.
///
/// Its rows are in tree order: a directory comes before its entries, which are sorted by name. With
/// follow=True, it has more rows than `files`, `directories` and `others` together: a link to a directory
/// that was read under another name is a row, too.
///
/// The columns of one entry: path, dir (the directory that holds it), name (of a root, its path as
/// given), extension (without the dot; null for directories), type, depth (0 for a root), size and
/// allocated (bytes), mtime, ctime, atime and btime (times in UTC), mode, uid, gid, nlink, inode, device,
/// path_raw (the bytes of the path, if it is not UTF-8; then path is readable text, and differs from
/// it). An attribute that is not known is null.
#[pyclass(frozen, extends = Rows, module = "transect")]
pub(crate) struct Table {
    tree: Arc<LiveTree>,
    /// Whether the table may hold directories that no filter selected.
    filtered: bool,
}

impl Table {
    pub(crate) fn new(tree: LiveTree, filtered: bool) -> Self {
        Self { tree: Arc::new(tree), filtered }
    }

    /// Returns the object of Python, with these columns for data frames.
    pub(crate) fn into_object(self, py: Python<'_>, columns: Vec<Column>) -> PyResult<Py<Self>> {
        let complete = self.table().diagnostics().is_complete().to_string();
        let schema = batches::schema(&columns);
        let (tree, filtered) = (Arc::clone(&self.tree), self.filtered);
        let counted = Arc::clone(&tree);
        let count = move || {
            let table = counted.table();
            table.iter().filter(|&row| !filtered || batches::is_selected(table, row)).count()
        };
        let batches = move || TableBatches::new(Arc::clone(&tree), columns.clone(), filtered);
        let rows = Rows::new(schema, &[("transect.complete", complete)], count, batches);
        Py::new(py, (self, rows))
    }

    /// Returns the tree, which objects of several threads share.
    pub(crate) fn tree(&self) -> &Arc<LiveTree> {
        &self.tree
    }

    fn table(&self) -> &EngineTable {
        self.tree.table()
    }

    fn count(&self, file_type: FileType) -> u64 {
        self.table().iter().filter(|&row| self.table().file_type(row) == file_type).count() as u64
    }
}

methods! {
    impl Table {
        getters {
            /// The number of regular files: of names, not of inodes.
            files(&self) -> u32 = self.table().grand_total().files;
            /// The number of directories, roots included.
            directories(&self) -> u32 = self.table().grand_total().directories;
            /// The number of entries that are neither regular files nor directories.
            others(&self) -> u32 = self.table().grand_total().others;
            /// The number of symbolic links.
            symlinks(&self, py: Python<'_>) -> u64 = py.detach(|| self.count(FileType::Symlink));
            /// The bytes that everything occupies, as du counts them: a file with several names once.
            disk_usage(&self) -> u64 = self.table().grand_total().disk_usage;
            /// The lengths of everything but directories, in bytes: a file with several names once.
            apparent_size(&self) -> u64 = self.table().grand_total().apparent;
            /// The number of names beyond the first of each file.
            hard_links(&self) -> u64 = self.table().hard_links();
            /// Whether everything could be read.
            complete(&self) -> bool = self.table().diagnostics().is_complete();
            /// Whether the table is from a snapshot without checksums, which an earlier version wrote: damage in it is not noticed.
            unverified(&self) -> bool = self.tree.metadata().unverified;
            /// The errors below the roots, as ErrorInfo objects: at least the first thousand.
            errors(&self) -> Vec<ErrorInfo> =
                self.table().diagnostics().kept_errors.iter().map(ErrorInfo::new).collect();
            /// The number of errors.
            error_count(&self) -> u64 = self.table().diagnostics().errors;
            /// The number of entries that were deleted between being listed and being read.
            vanished(&self) -> u64 = self.table().diagnostics().vanished;
            /// When reading began, in nanoseconds since 1970 UTC; None if that is not known.
            started_ns(&self) -> Option<i64> = self.tree.metadata().started;
            /// When reading ended, in nanoseconds since 1970 UTC; None if that is not known.
            ended_ns(&self) -> Option<i64> = self.tree.metadata().ended;
            /// The name of the machine that read it; None if that is not known.
            host(&self) -> Option<&str> = self.tree.metadata().host.as_deref();
        }

        /// The roots, as they were given, sorted.
        #[getter]
        fn roots<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
            self.table().roots().map(|root| decode(py, self.table().name(root))).collect()
        }

        /// How many entries were skipped on purpose, by reason, such as `mount_boundary`.
        #[getter]
        fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let skipped = PyDict::new(py);
            for (reason, count) in &self.table().diagnostics().skipped {
                skipped.set_item(reason.as_str(), count)?;
            }
            Ok(skipped)
        }

        fn __bool__(&self) -> bool {
            !self.table().is_empty()
        }

        fn __repr__(&self) -> String {
            let state = if self.complete() { "complete" } else { "partial" };
            let (entries, bytes) = (self.table().len(), self.disk_usage());
            format!("<transect.Table: {entries} entries, {bytes} bytes of disk usage, {state}>")
        }

        fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
            html::summary(py, self.table(), |row| self.is_selected(row))
        }

        /// Return the `top` largest directories, each with everything in and below it, as Usage objects;
        /// or with `by`, the largest groups of entries with the same extension ("ext"), user id ("owner")
        /// or type ("type"). All groups together are the totals of the table.
        #[pyo3(signature = (top=20, by=None))]
        pub(crate) fn usage(
            &self,
            py: Python<'_>,
            top: usize,
            by: Option<&str>,
        ) -> PyResult<Vec<Usage>> {
            usage::largest(py, self.table(), |row| self.is_selected(row), top, by)
        }

        /// Store the table as a snapshot: a Parquet file that `read_snapshot`, `diff`, `transect usage` and
        /// DuckDB read. The file has its old content until all of the new one is written.
        ///
        /// The roots must be absolute paths, so that they mean the same everywhere. Attributes that the table
        /// was read without are null in the file.
        fn write_snapshot(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
            snapshot::write(py, &self.tree, &parse_path(path)?)
        }
    }
}

impl Table {
    fn is_selected(&self, row: Row) -> bool {
        !self.filtered || batches::is_selected(self.table(), row)
    }
}
