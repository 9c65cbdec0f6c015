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

    /// Adds values, all of which are valid.
    fn push_valid(&mut self, count: usize) {
        match self.nulls {
            0 => self.length += count,
            _ => (0..count).for_each(|_| self.push(true)),
        }
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

    /// Adds many values, faster than one by one.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = Option<T>> + Clone) {
        let (before, mut valid) = (self.values.len(), 0);
        self.values.extend(values.clone().map(|value| {
            valid += usize::from(value.is_some());
            value.unwrap_or_default()
        }));
        match valid == self.values.len() - before {
            true => self.validity.push_valid(valid),
            false => values.for_each(|value| self.validity.push(value.is_some())),
        }
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

/// The type of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Binary,
    U16,
    U32,
    U64,
    I64,
    /// Nanoseconds since 1970 UTC.
    Time,
}

impl Kind {
    /// Returns the format string of the C data interface.
    pub(crate) const fn format(self) -> &'static CStr {
        match self {
            Self::Text => c"U",
            Self::Binary => c"Z",
            Self::U16 => c"S",
            Self::U32 => c"I",
            Self::U64 => c"L",
            Self::I64 => c"l",
            Self::Time => c"tsn:UTC",
        }
    }

    /// Returns the builder of a column with this many rows, or about as many.
    pub(crate) fn builder(self, rows: usize) -> Builder {
        match self {
            Self::Text | Self::Binary => Builder::Bytes(BytesBuilder::with_capacity(rows)),
            Self::U16 => Builder::U16(PlainBuilder::with_capacity(rows)),
            Self::U32 => Builder::U32(PlainBuilder::with_capacity(rows)),
            Self::U64 => Builder::U64(PlainBuilder::with_capacity(rows)),
            Self::I64 | Self::Time => Builder::I64(PlainBuilder::with_capacity(rows)),
        }
    }
}

/// Builds a column of any kind.
#[derive(Debug)]
pub(crate) enum Builder {
    Bytes(BytesBuilder),
    U16(PlainBuilder<u16>),
    U32(PlainBuilder<u32>),
    U64(PlainBuilder<u64>),
    I64(PlainBuilder<i64>),
}

impl Builder {
    /// Adds a text or bytes.
    ///
    /// # Panics
    /// If the column is of another kind. So do the methods below.
    pub(crate) fn bytes(&mut self, value: Option<&[u8]>) {
        match self {
            Self::Bytes(builder) => builder.push(value),
            _ => panic!("BUG: bytes in a column of numbers"),
        }
    }

    /// Adds a number. One that is too large for the column is null.
    pub(crate) fn number(&mut self, value: Option<u64>) {
        match self {
            Self::U16(builder) => builder.push(value.and_then(|value| value.try_into().ok())),
            Self::U32(builder) => builder.push(value.and_then(|value| value.try_into().ok())),
            Self::U64(builder) => builder.push(value),
            Self::Bytes(_) | Self::I64(_) => panic!("BUG: a number in a column of another kind"),
        }
    }

    /// Adds a time, or a number with a sign.
    pub(crate) fn signed(&mut self, value: Option<i64>) {
        match self {
            Self::I64(builder) => builder.push(value),
            _ => panic!("BUG: a number with a sign in a column of another kind"),
        }
    }

    /// Adds a null.
    pub(crate) fn null(&mut self) {
        match self {
            Self::Bytes(builder) => builder.push(None),
            Self::U16(builder) => builder.push(None),
            Self::U32(builder) => builder.push(None),
            Self::U64(builder) => builder.push(None),
            Self::I64(builder) => builder.push(None),
        }
    }

    pub(crate) fn finish(self) -> Array {
        match self {
            Self::Bytes(builder) => builder.finish(),
            Self::U16(builder) => builder.finish(),
            Self::U32(builder) => builder.finish(),
            Self::U64(builder) => builder.finish(),
            Self::I64(builder) => builder.finish(),
        }
    }
}
