//! Columns in the layout of Arrow: <https://arrow.apache.org/docs/format/Columnar.html>.
//!
//! The builders guarantee what consumers of the C interface rely on: all buffers of a column are as
//! long as its number of values requires.

use std::any::Any;
use std::ffi::{CStr, c_void};

/// A value of fixed width.
pub(crate) trait Plain: Copy + Default + Send + 'static {}

impl Plain for u16 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for i64 {}

/// The name and type of a column. Every column may contain nulls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static CStr,
    /// A format string of the C data interface.
    pub(crate) format: &'static CStr,
}

/// Memory that a consumer reads.
pub(super) struct Buffer {
    /// Null if there is no buffer.
    pub(super) start: *const c_void,
    /// Keeps the memory; its address does not change when this moves.
    _owner: Option<Box<dyn Any + Send>>,
}

impl Buffer {
    /// Returns no buffer, such as the bitmap of a column without nulls.
    pub(super) fn none() -> Self {
        Self { start: std::ptr::null(), _owner: None }
    }

    fn of<T: Send + 'static>(values: Vec<T>) -> Self {
        Self { start: values.as_ptr().cast(), _owner: Some(Box::new(values)) }
    }
}

/// A finished column.
pub(crate) struct Array {
    pub(super) length: usize,
    pub(super) nulls: usize,
    pub(super) buffers: Vec<Buffer>,
}

/// Which values are null: a bitmap that is made for the first of them.
#[derive(Debug, Default)]
struct Validity {
    bits: Vec<u8>,
    length: usize,
    nulls: usize,
}

impl Validity {
    fn push(&mut self, valid: bool) {
        if !valid && self.nulls == 0 {
            // All values so far are valid. The bits beyond them are set by later calls.
            self.bits = vec![u8::MAX; self.length.div_ceil(8)];
        }
        self.nulls += usize::from(!valid);
        if self.nulls > 0 {
            let (byte, bit) = (self.length / 8, 1 << (self.length % 8));
            if byte == self.bits.len() {
                self.bits.push(0);
            }
            match valid {
                true => self.bits[byte] |= bit,
                false => self.bits[byte] &= !bit,
            }
        }
        self.length += 1;
    }

    fn finish(self) -> Buffer {
        if self.nulls == 0 { Buffer::none() } else { Buffer::of(self.bits) }
    }
}

/// Builds a column of values of fixed width.
#[derive(Debug)]
pub(crate) struct PlainBuilder<T> {
    values: Vec<T>,
    validity: Validity,
}

impl<T: Plain> PlainBuilder<T> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), validity: Validity::default() }
    }

    pub(crate) fn push(&mut self, value: Option<T>) {
        self.validity.push(value.is_some());
        self.values.push(value.unwrap_or_default());
    }

    pub(crate) fn finish(self) -> Array {
        let (length, nulls) = (self.values.len(), self.validity.nulls);
        Array { length, nulls, buffers: vec![self.validity.finish(), Buffer::of(self.values)] }
    }
}

/// Builds a column of texts or bytes with offsets of 8 bytes: the types `large_string` and
/// `large_binary`.
#[derive(Debug)]
pub(crate) struct BytesBuilder {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    validity: Validity,
}

impl BytesBuilder {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, bytes: Vec::new(), validity: Validity::default() }
    }

    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        self.validity.push(value.is_some());
        self.bytes.extend_from_slice(value.unwrap_or_default());
        // A buffer cannot be longer than `isize::MAX` bytes.
        self.offsets.push(self.bytes.len() as i64);
    }

    pub(crate) fn finish(self) -> Array {
        let (length, nulls) = (self.offsets.len() - 1, self.validity.nulls);
        let buffers =
            vec![self.validity.finish(), Buffer::of(self.offsets), Buffer::of(self.bytes)];
        Array { length, nulls, buffers }
    }
}
