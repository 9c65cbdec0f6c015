//! Writes structures of Thrift's compact protocol, in which Parquet describes its content.
//!
//! Source: Thrift's `doc/specs/thrift-compact-protocol.md`.

use crate::checksum;
use crate::read::thrift::LIST;
pub(super) use crate::read::thrift::{BINARY, STRUCT};

/// The types of values, besides those that are also read.
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;

/// Appends a number of variable length (ULEB128), as Thrift and Parquet's encodings have them.
#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number: small ones, of either sign, are short.
#[inline]
pub(super) fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

pub(super) fn structure(out: &mut Vec<u8>, fields: impl FnOnce(&mut Fields<'_>)) {
    fields(&mut Fields { out, last: 0 });
    out.push(0);
}

/// Returns a structure with a checksum of itself.
pub(super) fn sealed_structure(fields: impl FnOnce(&mut Fields<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(48);
    let mut all = Fields { out: &mut out, last: 0 };
    fields(&mut all);
    all.begin(checksum::FIELD, BINARY);
    checksum::seal(&mut out);
    out
}

/// Appends bytes with their length.
pub(super) fn binary(out: &mut Vec<u8>, value: &[u8]) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// The fields of a structure, by ascending numbers.
pub(super) struct Fields<'o> {
    out: &'o mut Vec<u8>,
    last: u8,
}

impl Fields<'_> {
    fn begin(&mut self, id: u8, kind: u8) {
        debug_assert!(id > self.last && id - self.last < 16, "BUG: fields in the wrong order");
        self.out.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    pub(super) fn bool(&mut self, id: u8, value: bool) {
        self.begin(id, if value { TRUE } else { FALSE });
    }

    pub(super) fn byte(&mut self, id: u8, value: u8) {
        self.begin(id, BYTE);
        self.out.push(value);
    }

    pub(super) fn i32(&mut self, id: u8, value: i32) {
        self.begin(id, I32);
        zigzag(self.out, value.into());
    }

    pub(super) fn i64(&mut self, id: u8, value: i64) {
        self.begin(id, I64);
        zigzag(self.out, value);
    }

    pub(super) fn binary(&mut self, id: u8, value: &[u8]) {
        self.begin(id, BINARY);
        binary(self.out, value);
    }

    pub(super) fn structure(&mut self, id: u8, fields: impl FnOnce(&mut Fields<'_>)) {
        self.begin(id, STRUCT);
        structure(self.out, fields);
    }

    /// Writes a list; `element` appends each one.
    pub(super) fn list<T>(
        &mut self,
        id: u8,
        kind: u8,
        values: impl ExactSizeIterator<Item = T>,
        mut element: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.begin(id, LIST);
        match values.len() {
            few if few < 15 => self.out.push((few as u8) << 4 | kind),
            many => {
                self.out.push(0xf0 | kind);
                varint(self.out, many as u64);
            }
        }
        values.for_each(|value| element(self.out, value));
    }

    /// Writes a list of booleans, which have a byte each.
    pub(super) fn bools(&mut self, id: u8, values: impl ExactSizeIterator<Item = bool>) {
        self.list(id, TRUE, values, |out, value| out.push(if value { TRUE } else { FALSE }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::thrift::Thrift;

    proptest! {
        #[test]
        fn thrift_structures_read_as_written(
            numbers in prop::collection::vec(any::<i64>(), 0..40),
            text in prop::collection::vec(any::<u8>(), 0..300),
            small in any::<i32>(),
        ) {
            let mut out = Vec::new();
            structure(&mut out, |fields| {
                fields.i32(1, small);
                fields.bool(3, true);
                fields.byte(4, 7);
                fields.structure(9, |fields| fields.i64(2, i64::from(small) << 31));
                fields.bools(10, numbers.iter().map(|number| number % 2 == 0));
                fields.list(12, I64, numbers.iter(), |out, &number| zigzag(out, number));
                fields.binary(15, &text);
            });
            let (mut read, mut seen) = (Vec::new(), Vec::new());
            let mut thrift = Thrift::new(&out);
            thrift.fields(|thrift, id, kind| {
                seen.push((id, kind));
                match id {
                    1 => assert_eq!(thrift.number()?, i64::from(small)),
                    9 => thrift.fields(|thrift, id, _| {
                        assert_eq!((id, thrift.number()?), (2, i64::from(small) << 31));
                        Ok(true)
                    })?,
                    12 => {
                        let (kind, length) = thrift.list()?;
                        assert_eq!(kind, I64);
                        for _ in 0..length {
                            read.push(thrift.number()?);
                        }
                    }
                    15 => assert_eq!(thrift.binary()?, text),
                    // The reader skips the others.
                    _ => return Ok(false),
                }
                Ok(true)
            }).unwrap();
            prop_assert_eq!(thrift.remaining(), 0);
            let kinds = [(1, I32), (3, TRUE), (4, BYTE), (9, STRUCT), (10, LIST), (12, LIST), (15, BINARY)];
            prop_assert_eq!(seen, kinds.map(|(id, kind)| (id, kind)));
            prop_assert_eq!(read, numbers);
        }
    }
}
