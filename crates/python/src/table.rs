// SPDX-License-Identifier: GPL-2.0-or-later
//! A table that DataFrame libraries take without copying: the Arrow PyCapsule interface.

use crate::error;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema};
use pelton_desk::{Column, Values};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::ptr::NonNull;
use std::sync::Arc;

/// Columns of equal length, each with a name, a unit and a sentence.
#[pyclass(frozen, module = "pelton")]
pub struct Table {
    columns: Arc<pelton_desk::Table>,
    batch: RecordBatch,
}

impl Table {
    /// Of these columns, which it keeps.
    pub fn of(columns: Arc<pelton_desk::Table>) -> PyResult<Table> {
        let batch = batch(&columns).map_err(|why| PyRuntimeError::new_err(why.to_string()))?;
        Ok(Table { columns, batch })
    }

    fn by_name(&self, name: &str) -> PyResult<&Column> {
        self.columns.column(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl Table {
    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.columns.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Unit of each column; empty for names, ids, codes and counts.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        self.columns.columns.iter().try_for_each(|column| made.set_item(&column.name, column.unit))?;
        Ok(made)
    }

    /// Meaning of each column.
    #[getter]
    fn docs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        self.columns.columns.iter().try_for_each(|column| made.set_item(&column.name, &column.doc))?;
        Ok(made)
    }

    fn __len__(&self) -> usize {
        self.columns.rows()
    }

    fn __repr__(&self) -> String {
        format!("<pelton.Table of {} rows: {}>", self.columns.rows(), self.column_names().join(", "))
    }

    /// Values of a column; None where one is not known.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        listed(py, self.by_name(name)?)
    }

    /// Every column as a list.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        self.columns.columns.iter().try_for_each(|column| made.set_item(&column.name, listed(py, column)?))?;
        Ok(made)
    }

    /// Fewer rows that look the same on `width` pixels: of each step of `x`, by value of `by`, the first and the last
    /// row, and those with the least and the greatest `y`.
    #[pyo3(signature = (x, y, *, by = None, width = 1200))]
    fn thinned(&self, py: Python<'_>, x: &str, y: &str, by: Option<&str>, width: usize) -> PyResult<Table> {
        let thin = pelton_desk::lines::thinned(&self.columns, x, y, by, width);
        Table::of(Arc::new(thin.map_err(|why| error::input(py, &why, None))?))
    }

    /// The table as a polars DataFrame.
    fn to_polars<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The table as a pandas DataFrame; `index` names the column that becomes its index.
    #[pyo3(signature = (index = None))]
    fn to_pandas<'py>(slf: Bound<'py, Self>, index: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let frame = slf.py().import("pandas")?.getattr("DataFrame")?;
        let made = match frame.hasattr("from_arrow")? {
            true => frame.call_method1("from_arrow", (slf,))?,
            false => Self::to_pyarrow(slf)?.call_method0("to_pandas")?,
        };
        index.map_or(Ok(made.clone()), |index| made.call_method1("set_index", (index,)))
    }

    /// The table as a pyarrow Table.
    fn to_pyarrow<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// The schema, for consumers of Arrow data.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.batch.schema());
        let schema = schema.map_err(|why| PyRuntimeError::new_err(why.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table, for consumers of Arrow data; nothing is copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface leaves it to the producer whether it follows.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

fn listed<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyList>> {
    let is_known = |row: usize| column.known.as_ref().is_none_or(|known| known[row]);
    fn some<T: Copy>(values: &[T], is_known: impl Fn(usize) -> bool) -> impl ExactSizeIterator<Item = Option<T>> {
        values.iter().enumerate().map(move |(row, value)| is_known(row).then_some(*value))
    }
    match &column.values {
        Values::U32(values) => PyList::new(py, some(values, is_known)),
        Values::U64(values) => PyList::new(py, some(values, is_known)),
        Values::I64(values) => PyList::new(py, some(values, is_known)),
        Values::F64(values) => PyList::new(py, some(values, is_known)),
        Values::Bool(values) => PyList::new(py, some(values, is_known)),
        Values::Words { at, words } => {
            let texts = at.iter().enumerate().map(|(row, &at)| is_known(row).then_some(words[at as usize].as_str()));
            PyList::new(py, texts)
        }
    }
}

fn batch(table: &Arc<pelton_desk::Table>) -> Result<RecordBatch, ArrowError> {
    let arrays = table.columns.iter().map(|column| array(table, column)).collect::<Result<Vec<_>, _>>()?;
    let fields = table.columns.iter().zip(&arrays).map(|(column, array)| {
        let about = [("unit", column.unit), ("doc", &column.doc)];
        let about = about.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Field::new(&column.name, arrow_array::Array::data_type(array).clone(), column.known.is_some())
            .with_metadata(about)
    });
    let rows = RecordBatchOptions::new().with_row_count(Some(table.rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays, &rows)
}

fn array(table: &Arc<pelton_desk::Table>, column: &Column) -> Result<ArrayRef, ArrowError> {
    let nulls = || column.known.as_ref().map(|known| NullBuffer::from(known.as_slice()));
    Ok(match &column.values {
        Values::U32(values) => Arc::new(UInt32Array::new(lent_values(table, values), nulls())),
        Values::U64(values) => Arc::new(UInt64Array::new(lent_values(table, values), nulls())),
        Values::I64(values) => Arc::new(Int64Array::new(lent_values(table, values), nulls())),
        Values::F64(values) => Arc::new(Float64Array::new(lent_values(table, values), nulls())),
        Values::Bool(values) => Arc::new(BooleanArray::new(BooleanBuffer::from(values.as_slice()), nulls())),
        Values::Words { at, words } => {
            // Signed, since pandas takes no other places of words; there are fewer than 2^31.
            let places = Int32Array::new(lent_values(table, at), nulls());
            Arc::new(DictionaryArray::<Int32Type>::try_new(places, Arc::new(StringArray::from(words.clone())))?)
        }
    })
}

/// Values of a column of the table, as numbers of equal size.
fn lent_values<T, N: ArrowNativeType>(table: &Arc<pelton_desk::Table>, values: &Vec<T>) -> ScalarBuffer<N> {
    // SAFETY: callers hand on what they took out of the table. Places of words are below 2^31, as their texts are kept.
    ScalarBuffer::from(unsafe { lent(table, values) })
}

/// The values as a buffer that keeps their table alive.
///
/// # Safety
/// The values belong to the table.
unsafe fn lent<T>(table: &Arc<pelton_desk::Table>, values: &Vec<T>) -> Buffer {
    let owner: Arc<pelton_desk::Table> = Arc::clone(table);
    let start = NonNull::from(values.as_slice()).cast::<u8>();
    // SAFETY: the table, of which the buffer owns a share, keeps the values; nothing changes a table that is shared. A
    // vector is aligned for its values.
    unsafe { Buffer::from_custom_allocation(start, std::mem::size_of_val(values.as_slice()), owner) }
}

/// A table of rows of a result: a list of objects as JSON, and names of columns in order.
#[pyfunction]
pub fn rows(py: Python<'_>, list: &str, order: Vec<String>) -> PyResult<Table> {
    let rows: Result<Vec<serde_json::Value>, _> = serde_json::from_str(list);
    Table::of(Arc::new(pelton_desk::rows::table(
        &rows.map_err(|why| error::input(py, &why.to_string(), None))?,
        &order,
    )))
}
