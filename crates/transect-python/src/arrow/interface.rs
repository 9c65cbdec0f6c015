//! The C data interface and the C stream interface of Arrow. The only file with `unsafe` code.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html> define the three structs. What matters
//! here:
//!
//! * The holder of a struct calls its `release` once; afterwards `release` is null. A consumer may move
//!   a struct: it copies the bytes and sets `release` to null in the source. So dropping one of ours
//!   releases it only if nothing took it over.
//! * A consumer may take over single children. Releasing a parent releases those that are left.
//! * A stream is used by one thread at a time, but by any thread.

#![expect(unsafe_code, reason = "pointers from and to libraries in other languages")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use super::array::{Array, Buffer, Field};

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// `EIO` on every Unix.
const IO_ERROR: c_int = 5;

/// A source of record batches: columns of equal length, in the order of `fields`.
pub(crate) trait BatchSource: Send + 'static {
    fn fields(&self) -> Vec<Field>;

    /// Returns pairs of texts that describe the data as a whole.
    fn metadata(&self) -> Vec<(&'static str, String)>;

    /// Returns the number of rows of all batches together.
    fn rows(&self) -> usize;

    /// Returns the next batch with its number of rows; `None` after the last one.
    fn next_batch(&mut self) -> Option<(usize, Vec<Array>)>;
}

/// The type of a column, or of a record batch as the type of a struct.
#[repr(C)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// The values of a column, or of a record batch as a struct.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// A stream of record batches.
#[repr(C)]
pub(crate) struct ArrowArrayStream {
    get_schema: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int,
    get_next: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: the pointers lead to memory that only this struct uses, and its owners are `Send`.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above; `BatchSource` is `Send`.
unsafe impl Send for ArrowArrayStream {}

/// What a schema points to.
struct SchemaData {
    /// Freed by the release of the schema.
    children: Vec<*mut ArrowSchema>,
    metadata: Vec<u8>,
}

impl ArrowSchema {
    /// Returns the schema of the batches of a source.
    pub(crate) fn of(source: &dyn BatchSource) -> Self {
        let fields = source.fields();
        let children = fields.iter().map(|field| Self::new(field, Vec::new(), Vec::new()));
        let batch = Field { name: c"", format: c"+s" };
        let mut schema = Self::new(&batch, children.collect(), encode(&source.metadata()));
        // A record batch cannot be null.
        schema.flags = 0;
        schema
    }

    fn new(field: &Field, children: Vec<Self>, metadata: Vec<u8>) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut data = Box::new(SchemaData { children, metadata });
        Self {
            format: field.format.as_ptr(),
            name: field.name.as_ptr(),
            metadata: match data.metadata.is_empty() {
                true => ptr::null(),
                false => data.metadata.as_ptr().cast(),
            },
            flags: NULLABLE,
            n_children: data.children.len() as i64,
            children: data.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(data).cast(),
        }
    }
}

/// Frees what a schema points to.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: a consumer passes a valid schema that was not released; `private_data` is what `new`
    // stored.
    let data = unsafe {
        (*schema).release = None;
        Box::from_raw((*schema).private_data.cast::<SchemaData>())
    };
    for child in data.children {
        // SAFETY: `new` made it from a box. Dropping releases it, unless a consumer took it over.
        drop(unsafe { Box::from_raw(child) });
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released, and no other code uses it.
            unsafe { release(self) }
        }
    }
}

/// Encodes pairs of texts as the interface requires: their number, then each with its length before
/// it, as integers of 4 bytes in the byte order of the machine.
fn encode(pairs: &[(&'static str, String)]) -> Vec<u8> {
    let mut bytes = (pairs.len() as i32).to_ne_bytes().to_vec();
    for text in pairs.iter().flat_map(|(key, value)| [*key, value]) {
        bytes.extend_from_slice(&(text.len() as i32).to_ne_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

/// What an array points to.
struct ArrayData {
    /// Freed by the release of the array.
    children: Vec<*mut ArrowArray>,
    starts: Vec<*const c_void>,
    _buffers: Vec<Buffer>,
}

impl ArrowArray {
    /// Returns a column.
    fn column(array: Array) -> Self {
        Self::new(array.length, array.nulls, array.buffers, Vec::new())
    }

    /// Returns a record batch. It has no nulls, and so no bitmap.
    fn batch(rows: usize, columns: Vec<Array>) -> Self {
        assert!(
            columns.iter().all(|column| column.length == rows),
            "BUG: columns differ in length"
        );
        Self::new(rows, 0, vec![Buffer::none()], columns.into_iter().map(Self::column).collect())
    }

    fn new(length: usize, nulls: usize, buffers: Vec<Buffer>, children: Vec<Self>) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let starts = buffers.iter().map(|buffer| buffer.start).collect();
        let mut data = Box::new(ArrayData { children, starts, _buffers: buffers });
        Self {
            length: length as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: data.starts.len() as i64,
            n_children: data.children.len() as i64,
            buffers: data.starts.as_mut_ptr(),
            children: data.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(data).cast(),
        }
    }

    /// Returns the array that marks the end of a stream: one that is released.
    fn end() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

/// Frees what an array points to.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: a consumer passes a valid array that was not released; `private_data` is what `new`
    // stored.
    let data = unsafe {
        (*array).release = None;
        Box::from_raw((*array).private_data.cast::<ArrayData>())
    };
    for child in data.children {
        // SAFETY: `new` made it from a box. Dropping releases it, unless a consumer took it over.
        drop(unsafe { Box::from_raw(child) });
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released, and no other code uses it.
            unsafe { release(self) }
        }
    }
}

/// What a stream points to.
struct StreamData {
    source: Box<dyn BatchSource>,
    last_error: CString,
}

impl ArrowArrayStream {
    /// Returns a stream of the batches of a source.
    pub(crate) fn new(source: Box<dyn BatchSource>) -> Self {
        let data = StreamData { source, last_error: CString::default() };
        Self {
            get_schema: stream_schema,
            get_next: stream_next,
            get_last_error: stream_error,
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(data)).cast(),
        }
    }
}

/// Writes what `make` returns to `out`; after a panic, which must not leave Rust, returns an error.
///
/// # Safety
/// `stream` is a stream that was not released, and `out` can be written.
unsafe fn answer<T>(
    stream: *mut ArrowArrayStream,
    out: *mut T,
    make: impl FnOnce(&mut dyn BatchSource) -> T,
) -> c_int {
    // SAFETY: as the caller promises; `private_data` is what `new` stored, and one thread uses it at a
    // time.
    let data = unsafe { &mut *(*stream).private_data.cast::<StreamData>() };
    match catch_unwind(AssertUnwindSafe(|| make(data.source.as_mut()))) {
        Ok(made) => {
            // SAFETY: as the caller promises. What was there is not dropped: it is not initialized.
            unsafe { out.write(made) };
            0
        }
        Err(_) => {
            data.last_error = c"BUG: a panic in transect".into();
            IO_ERROR
        }
    }
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer passes valid pointers.
    unsafe { answer(stream, out, |source| ArrowSchema::of(source)) }
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    let next = |source: &mut dyn BatchSource| match source.next_batch() {
        Some((rows, columns)) => ArrowArray::batch(rows, columns),
        None => ArrowArray::end(),
    };
    // SAFETY: the consumer passes valid pointers.
    unsafe { answer(stream, out, next) }
}

unsafe extern "C" fn stream_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: the consumer passes a stream that was not released.
    let error: &CStr = unsafe { &(*(*stream).private_data.cast::<StreamData>()).last_error };
    if error.is_empty() { ptr::null() } else { error.as_ptr() }
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the consumer passes a stream that was not released; `new` made it from a box.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private_data.cast::<StreamData>()));
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released, and no other code uses it.
            unsafe { release(self) }
        }
    }
}
