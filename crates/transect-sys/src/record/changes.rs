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

/// `FILE_ACTION_MODIFIED`. All other actions create, remove or rename the name.
const MODIFIED: usize = 3;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRecord<'a> {
    /// The name, or the path below the watched directory, as bytes of UTF-16.
    pub name: &'a [u8],
    /// The name was created, removed or renamed; otherwise the entry was modified.
    pub of_name: bool,
}

/// Iterates over the changes in a buffer.
///
/// A record that exceeds the buffer, overlaps the next, or has an invalid name ends the iteration
/// with an `Err` that describes the problem.
#[derive(Clone, Debug)]
pub struct ChangeRecords<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> ChangeRecords<'a> {
    /// Returns the changes in a buffer that one call filled.
    pub fn new(buffer: &'a [u8]) -> Self {
        Self { rest: Some(buffer) }
    }
}

impl<'a> Iterator for ChangeRecords<'a> {
    type Item = Result<ChangeRecord<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.rest.take()?;
        let [next, action, length] = [0, 4, 8].map(|at| read_u32(record, at));
        let (Some(next), Some(action), Some(length)) = (next, action, length) else {
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
        Some(Ok(ChangeRecord { name, of_name: action != MODIFIED }))
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

    /// Returns a buffer as the system fills it, with the actions 1, 2, 3 and so on.
    fn encode(names: &[Vec<u16>]) -> Vec<u8> {
        let mut buffer = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let start = buffer.len();
            buffer.extend([0, 0, 0, 0, number as u8 + 1, 0, 0, 0]);
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
        assert_eq!(ChangeRecords::new(&whole).count(), 2);
        for length in 0..whole.len() {
            let found: Vec<_> = ChangeRecords::new(&whole[..length]).collect();
            assert!(found.last().is_some_and(Result::is_err), "{length}: {found:?}");
            assert!(
                found.iter().filter(|change| change.is_err()).count() == 1,
                "{length}: {found:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn changes_names_round_trip(
            names in prop::collection::vec(prop::collection::vec(any::<u16>(), 1..20), 1..8),
        ) {
            let buffer = encode(&names);
            let found: Vec<(Vec<u8>, bool)> = ChangeRecords::new(&buffer)
                .map(|change| change.map(|it| (it.name.to_vec(), it.of_name)).unwrap())
                .collect();
            let bytes = |name: &Vec<u16>| name.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let expected: Vec<(Vec<u8>, bool)> =
                names.iter().enumerate().map(|(at, name)| (bytes(name), at != 2)).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn changes_any_bytes_no_panic(bytes in prop::collection::vec(0_u8..20, 0..300)) {
            for change in ChangeRecords::new(&bytes).flatten() {
                prop_assert!(!change.name.is_empty() && change.name.len() % 2 == 0);
            }
        }
    }
}
