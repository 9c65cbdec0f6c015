//! Reads structures of Thrift's compact protocol, in which Parquet describes its content. Nothing is
//! reserved for the sizes that they claim.
//!
//! Source: Thrift's `doc/specs/thrift-compact-protocol.md`.

use super::error::{ReadError, damaged};

/// The maximum nesting of what is skipped; Parquet's structures have less than ten levels.
const MAX_DEPTH: u32 = 32;

/// The types of values.
pub(crate) const BINARY: u8 = 8;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// Reads a number of variable length (ULEB128), as Thrift and Parquet's encodings have them.
#[inline]
pub(crate) fn varint(mut byte: impl FnMut() -> Result<u8, ReadError>) -> Result<u64, ReadError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    damaged("a number of more than 64 bits")
}

#[derive(Clone, Debug)]
pub(crate) struct Thrift<'b> {
    bytes: &'b [u8],
}

impl<'b> Thrift<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the number of bytes that are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn byte(&mut self) -> Result<u8, ReadError> {
        let Some((&byte, rest)) = self.bytes.split_first() else {
            return damaged("a description ends too early");
        };
        self.bytes = rest;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, ReadError> {
        varint(|| self.byte())
    }

    pub(crate) fn number(&mut self) -> Result<i64, ReadError> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a number that is not negative.
    pub(crate) fn size(&mut self) -> Result<u64, ReadError> {
        match u64::try_from(self.number()?) {
            Ok(size) => Ok(size),
            Err(_) => damaged("a negative size"),
        }
    }

    /// Reads bytes with their length.
    pub(crate) fn binary(&mut self) -> Result<&'b [u8], ReadError> {
        let length = self.varint()?;
        let Some((bytes, rest)) =
            usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length))
        else {
            return damaged("a description ends too early");
        };
        self.bytes = rest;
        Ok(bytes)
    }

    /// Reads the beginning of a list, and returns the type and the number of its elements.
    pub(crate) fn list(&mut self) -> Result<(u8, usize), ReadError> {
        let byte = self.byte()?;
        let length = match byte >> 4 {
            15 => self.varint()?,
            length => length.into(),
        };
        // Every element has at least one byte.
        match usize::try_from(length) {
            Ok(length) if length <= self.bytes.len() => Ok((byte & 15, length)),
            _ => damaged("a list that is longer than the file"),
        }
    }

    /// Reads a list of structures.
    pub(crate) fn structs(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let (kind, length) = self.list()?;
        if kind != STRUCT && length > 0 {
            return damaged("a list of something else");
        }
        (0..length).try_for_each(|_| element(self))
    }

    /// Reads a structure: calls `field` with the number and the type of each field. It returns
    /// whether it read the field; others are skipped.
    pub(crate) fn fields(
        &mut self,
        field: impl FnMut(&mut Self, i64, u8) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        self.fields_within(MAX_DEPTH, field)
    }

    fn fields_within(
        &mut self,
        depth: u32,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let mut id = 0_i64;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            id = match byte >> 4 {
                0 => self.number()?,
                delta => id.saturating_add(delta.into()),
            };
            let kind = byte & 15;
            if !field(self, id, kind)? {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), ReadError> {
        if depth == 0 {
            return damaged("a description is nested too deeply");
        }
        match kind {
            // Booleans of a field are in its type.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => {
                for _ in 0..8 {
                    self.byte()?;
                }
            }
            BINARY => drop(self.binary()?),
            LIST | 10 => {
                let (kind, length) = self.list()?;
                for _ in 0..length {
                    self.skip_element(kind, depth - 1)?;
                }
            }
            11 => {
                let length = self.varint()?;
                if length > self.bytes.len() as u64 {
                    return damaged("a map that is longer than the file");
                }
                if length > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..length {
                        self.skip_element(kinds >> 4, depth - 1)?;
                        self.skip_element(kinds & 15, depth - 1)?;
                    }
                }
            }
            STRUCT => self.fields_within(depth - 1, |_, _, _| Ok(false))?,
            _ => return damaged("a value of an unknown type"),
        }
        Ok(())
    }

    /// Skips an element of a list or map, where a boolean is a byte.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Result<(), ReadError> {
        match kind {
            1 | 2 => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn thrift_arbitrary_bytes_end_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut thrift = Thrift::new(&bytes);
            let _ = thrift.fields(|_, _, _| Ok(false));
            prop_assert!(thrift.remaining() <= bytes.len());
        }
    }

    #[test]
    fn thrift_list_longer_than_input_rejected() {
        // A list of 2^31 structures.
        let bytes = [0x19, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08];
        assert!(Thrift::new(&bytes).fields(|_, _, _| Ok(false)).is_err());
    }

    #[test]
    fn thrift_deep_nesting_rejected() {
        let bytes = vec![0x1c; 1_000_000];
        assert!(Thrift::new(&bytes).fields(|_, _, _| Ok(false)).is_err());
    }
}
