//! `Rows`: rows and columns for data frames.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Rows in a batch, except the last.
pub(crate) const BATCH_ROWS: usize = 65_536;

/// Columns with their names.
pub(crate) type Columns = Vec<(String, ArrayRef)>;

/// Batches of rows, each made when it is requested.
type Batches = Box<dyn Iterator<Item = RecordBatch> + Send>;

/// Rows with named columns, which libraries for data frames read.
///
/// Libraries that support the Arrow PyCapsule interface read the object itself, without a copy between
/// Python objects: polars.DataFrame(rows), pyarrow.table(rows), DuckDB by the name of the variable. Each
/// reads all rows from the beginning.
#[pyclass(frozen, subclass, module = "transect")]
pub(crate) struct Rows {
    schema: SchemaRef,
    count: Box<dyn Fn() -> usize + Send + Sync>,
    /// Makes the batches for each reader.
    batches: Box<dyn Fn() -> Batches + Send + Sync>,
}

impl Rows {
    /// Returns `count` rows, which `batches` makes for each reader. `metadata` describes them as a whole.
    pub(crate) fn new<B: Iterator<Item = RecordBatch> + Send + 'static>(
        schema: Schema,
        metadata: &[(&str, String)],
        count: impl Fn() -> usize + Send + Sync + 'static,
        batches: impl Fn() -> B + Send + Sync + 'static,
    ) -> Self {
        let version = ("transect.version", env!("CARGO_PKG_VERSION").to_owned());
        let metadata = iter::once(&version).chain(metadata);
        let metadata: HashMap<_, _> =
            metadata.map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Self {
            schema: Arc::new(schema.with_metadata(metadata)),
            count: Box::new(count),
            batches: Box::new(move || Box::new(batches())),
        }
    }

    /// Returns `count` rows, of which `columns` makes the columns of a part.
    pub(crate) fn in_parts(
        count: usize,
        columns: impl Fn(Range<usize>) -> Columns + Send + Sync + 'static,
    ) -> Self {
        let batch = move |range| {
            let columns = columns(range).into_iter().map(|(name, array)| (name, array, true));
            RecordBatch::try_from_iter_with_nullable(columns)
                .expect("BUG: columns differ in length")
        };
        let schema = Schema::clone(&batch(0..0).schema());
        let batch = Arc::new(batch);
        let batches = move || {
            let batch = Arc::clone(&batch);
            let begins = (0..count).step_by(BATCH_ROWS);
            begins.map(move |begin| batch(begin..count.min(begin + BATCH_ROWS)))
        };
        Self::new(schema, &[], move || count, batches)
    }
}

/// Returns bytes that are not UTF-8.
pub(crate) fn raw(bytes: &[u8]) -> Option<&[u8]> {
    str::from_utf8(bytes).is_err().then_some(bytes)
}

#[pymethods]
impl Rows {
    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| (self.count)())
    }

    /// Return the rows as a polars.DataFrame. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Return the rows as a pandas.DataFrame. Needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// Return the rows as a pyarrow.Table. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        // `pyarrow.table` would import pandas, where it is installed: a second, even for no rows.
        let reader = slf.py().import("pyarrow")?.getattr("RecordBatchReader")?;
        reader.call_method1("from_stream", (slf,))?.call_method0("read_all")
    }

    /// Return the columns and their types: the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
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
        let mut batches = (self.batches)();
        // A panic must not leave Rust.
        let next = move || match catch_unwind(AssertUnwindSafe(|| batches.next())) {
            Ok(batch) => batch.map(Ok),
            Err(_) => Some(Err(ArrowError::ExternalError("BUG: a panic in transect".into()))),
        };
        let reader = RecordBatchIterator::new(iter::from_fn(next), Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
