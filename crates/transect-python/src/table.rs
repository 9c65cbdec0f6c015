//! `Table`: a tree in memory.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString};
use transect::FileType;
use transect::table::{Row, Table as EngineTable};

use crate::arrow::interface::{ArrowArrayStream, ArrowSchema};
use crate::batches::{self, TableBatches};
use crate::columns::Column;
use crate::errors::ErrorInfo;
use crate::html;
use crate::paths::decode;
use crate::usage::{self, Usage};

/// A tree that was read: totals, errors, and all entries for data frames.
///
/// Libraries that support the Arrow PyCapsule interface read the object itself, without a copy between
/// Python objects: polars.DataFrame(table), pyarrow.table(table), DuckDB by the name of the variable. Its
/// rows are in tree order: a directory comes before its entries, which are sorted by name.
///
/// The columns of one entry: path, dir (the directory that holds it), name (of a root, its path as
/// given), extension (without the dot; null for directories), type, depth (0 for a root), size and
/// allocated (bytes), mtime, ctime, atime and btime (times in UTC), mode, uid, gid, nlink, inode, device,
/// path_raw (the bytes of the path, if it is not UTF-8; then path is readable text, and differs from
/// it). An attribute that is not known is null.
#[pyclass(frozen, module = "transect")]
#[derive(Debug)]
pub(crate) struct Table {
    table: Arc<EngineTable>,
    columns: Vec<Column>,
    /// Whether the table may hold directories that no filter selected.
    filtered: bool,
}

impl Table {
    pub(crate) fn new(table: Arc<EngineTable>, columns: Vec<Column>, filtered: bool) -> Self {
        Self { table, columns, filtered }
    }

    fn batches(&self) -> TableBatches {
        TableBatches::new(Arc::clone(&self.table), self.columns.clone(), self.filtered)
    }

    fn count(&self, file_type: FileType) -> u64 {
        self.table.iter().filter(|&row| self.table.file_type(row) == file_type).count() as u64
    }
}

#[pymethods]
impl Table {
    /// The roots, as they were given, sorted.
    #[getter]
    fn roots<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
        self.table.roots().map(|root| decode(py, self.table.name(root))).collect()
    }

    /// The number of regular files: of names, not of inodes.
    #[getter]
    fn files(&self) -> u32 {
        self.table.grand_total().files
    }

    /// The number of directories, roots included.
    #[getter]
    fn directories(&self) -> u32 {
        self.table.grand_total().directories
    }

    /// The number of entries that are neither regular files nor directories.
    #[getter]
    fn others(&self) -> u32 {
        self.table.grand_total().others
    }

    /// The number of symbolic links.
    #[getter]
    fn symlinks(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.count(FileType::Symlink))
    }

    /// The bytes that everything occupies, as du counts them: a file with several names once.
    #[getter]
    fn disk_usage(&self) -> u64 {
        self.table.grand_total().disk_usage
    }

    /// The lengths of everything but directories, in bytes: a file with several names once.
    #[getter]
    fn apparent_size(&self) -> u64 {
        self.table.grand_total().apparent
    }

    /// The number of names beyond the first of each file.
    #[getter]
    fn hard_links(&self) -> u64 {
        self.table.hard_links()
    }

    /// Whether everything could be read.
    #[getter]
    fn complete(&self) -> bool {
        self.table.diagnostics().is_complete()
    }

    /// The errors below the roots, as ErrorInfo objects: at least the first thousand.
    #[getter]
    fn errors(&self) -> Vec<ErrorInfo> {
        self.table.diagnostics().kept_errors.iter().map(ErrorInfo::new).collect()
    }

    /// The number of errors.
    #[getter]
    fn error_count(&self) -> u64 {
        self.table.diagnostics().errors
    }

    /// The number of entries that were deleted between being listed and being read.
    #[getter]
    fn vanished(&self) -> u64 {
        self.table.diagnostics().vanished
    }

    /// How many entries were skipped on purpose, by reason, such as `mount_boundary`.
    #[getter]
    fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let skipped = PyDict::new(py);
        for (reason, count) in &self.table.diagnostics().skipped {
            skipped.set_item(reason.as_str(), count)?;
        }
        Ok(skipped)
    }

    /// The number of rows. With follow=True, more than `files`, `directories` and `others` together: a
    /// link to a directory that was read under another name is a row, too.
    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.table.iter().filter(|&row| self.is_selected(row)).count())
    }

    fn __bool__(&self) -> bool {
        !self.table.is_empty()
    }

    fn __repr__(&self) -> String {
        let state = if self.complete() { "complete" } else { "partial" };
        let (entries, bytes) = (self.table.len(), self.disk_usage());
        format!("<transect.Table: {entries} entries, {bytes} bytes of disk usage, {state}>")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        html::summary(py, &self.table, |row| self.is_selected(row))
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
        usage::largest(py, &self.table, |row| self.is_selected(row), top, by)
    }

    /// Return the table as a polars.DataFrame. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Return the table as a pandas.DataFrame. Needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// Return the table as a pyarrow.Table. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Return the columns and their types: the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of(&self.batches());
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Return a stream of record batches, each made when it is requested: the Arrow PyCapsule interface.
    /// The types are always those of `__arrow_c_schema__`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request, and the consumer converts.
        drop(requested_schema);
        PyCapsule::new_with_value(py, ArrowArrayStream::new(self.batches()), c"arrow_array_stream")
    }
}

impl Table {
    fn is_selected(&self, row: Row) -> bool {
        !self.filtered || batches::is_selected(&self.table, row)
    }
}
