//! `Rows`: rows and columns for data frames.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::interface::{ArrowArrayStream, ArrowSchema, BatchSource};

/// Rows with named columns, which libraries for data frames read.
///
/// Libraries that support the Arrow PyCapsule interface read the object itself, without a copy between
/// Python objects: polars.DataFrame(rows), pyarrow.table(rows), DuckDB by the name of the variable. Each
/// reads all rows from the beginning.
#[pyclass(frozen, subclass, module = "transect")]
pub(crate) struct Rows {
    source: Box<dyn Fn() -> Box<dyn BatchSource> + Send + Sync>,
}

impl Rows {
    /// Returns the rows of a source, which `source` makes for each reader.
    pub(crate) fn new<S: BatchSource>(source: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self { source: Box::new(move || Box::new(source())) }
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| (self.source)().rows())
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
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Return the columns and their types: the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of((self.source)().as_ref());
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
        let stream = ArrowArrayStream::new((self.source)());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
