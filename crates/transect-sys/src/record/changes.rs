//! The records that `ReadDirectoryChangesW` writes on Windows.
//!
//! ```text
//!  0     4      8        12
//!  +-----+------+--------+------+
//!  |next |action|name len| name |
//!  +-----+------+--------+------+
//! ```
//! (`FILE_NOTIFY_INFORMATION`: [MS-FSCC] 2.7.1. Little endian; the name in UTF-16, its length in
//! bytes; `next` counts from the beginning of the record and is 0 in the last.)

/// Offset of the name.
const HEADER_LENGTH: usize = 12;

/// Iterates over the names in a buffer, as bytes of UTF-16.
///
/// A record that exceeds the buffer, overlaps the next, or has an invalid name ends the iteration
/// with an `Err` that describes the problem.
#[derive(Clone, Debug)]
pub struct ChangedNames<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> ChangedNames<'a> {
    /// Returns the names in a buffer that one call filled.
    pub fn new(buffer: &'a [u8]) -> Self {
        Self { rest: Some(buffer) }
    }
}

impl<'a> Iterator for ChangedNames<'a> {
    type Item = Result<&'a [u8], &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.rest.take()?;
        let (Some(next), Some(length)) = (read_u32(record, 0), read_u32(record, 8)) else {
            return Some(Err("a change record is cut off"));
        };
        let room = if next == 0 { record.len() } else { next };
        let Some(name) = HEADER_LENGTH
            .checked_add(length)
            .filter(|&end| end <= room)
            .and_then(|end| record.get(HEADER_LENGTH..end))
        else {
            return Some(Err("a change record overlaps the next or the end"));
        };
        if length == 0 || !length.is_multiple_of(2) {
            return Some(Err("a change record has an invalid name"));
        }
        if next != 0 {
            let Some(rest) = record.get(next..) else {
                return Some(Err("a change record places the next one outside the buffer"));
            };
            self.rest = Some(rest);
        }
        Some(Ok(name))
    }
}

/// Returns four bytes at an offset, or `None` beyond the end.
fn read_u32(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*field) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a buffer as the system fills it.
    fn encode(names: &[Vec<u16>]) -> Vec<u8> {
        let mut buffer = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let start = buffer.len();
            buffer.extend([0, 0, 0, 0, 3, 0, 0, 0]);
            buffer.extend((name.len() as u32 * 2).to_le_bytes());
            buffer.extend(name.iter().flat_map(|unit| unit.to_le_bytes()));
            if number + 1 < names.len() {
                buffer.resize(buffer.len().next_multiple_of(4), 0);
                let next = (buffer.len() - start) as u32;
                buffer[start..start + 4].copy_from_slice(&next.to_le_bytes());
            }
        }
        buffer
    }

    #[test]
    fn changes_truncated_record_error_ends_iteration() {
        let whole = encode(&[vec![0x61, 0x62], vec![0x63]]);
        assert_eq!(ChangedNames::new(&whole).count(), 2);
        for length in 0..whole.len() {
            let found: Vec<_> = ChangedNames::new(&whole[..length]).collect();
            assert!(found.last().is_some_and(Result::is_err), "{length}: {found:?}");
            assert!(found.iter().filter(|name| name.is_err()).count() == 1, "{length}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn changes_names_round_trip(
            names in prop::collection::vec(prop::collection::vec(any::<u16>(), 1..20), 1..8),
        ) {
            let buffer = encode(&names);
            let found: Vec<Vec<u8>> =
                ChangedNames::new(&buffer).map(|name| name.unwrap().to_vec()).collect();
            let expected: Vec<Vec<u8>> =
                names.iter().map(|n| n.iter().flat_map(|unit| unit.to_le_bytes()).collect()).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn changes_any_bytes_no_panic(bytes in prop::collection::vec(0_u8..20, 0..300)) {
            for name in ChangedNames::new(&bytes).flatten() {
                prop_assert!(!name.is_empty() && name.len() % 2 == 0);
            }
        }
    }
}
