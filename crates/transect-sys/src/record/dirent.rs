//! The records that `getdents64(2)` writes on Linux.
//!
//! ```text
//!  0        8        16   18  19                     reclen
//!  +--------+--------+----+---+----------------------+
//!  | d_ino  | d_off  |len |typ| name … NUL, padding   |   next record follows
//!  +--------+--------+----+---+----------------------+
//! ```
//! (`struct linux_dirent64`, `include/linux/dirent.h`; native byte order, `len` a multiple of
//! eight.)

use std::ops::Range;

/// Bytes before the name.
pub const HEADER_LENGTH: usize = 19;

/// The longest possible record: header, a name of 255 bytes, its NUL, padding.
pub const MAX_RECORD: usize = (HEADER_LENGTH + 256).next_multiple_of(8);

/// One record of `getdents64(2)`, without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Inode number in the directory. For a mount point, that of the covered directory.
    pub inode: u64,
    /// `DT_*`.
    pub d_type: u8,
    /// Range of the name in the buffer. The byte after it is NUL.
    pub name: Range<usize>,
}

/// Iterates over the records of a buffer, without `.` and `..`.
///
/// A record that exceeds the buffer or whose name has no NUL ends the iteration with an `Err` that
/// describes the problem.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    buffer: &'a [u8],
    at: usize,
    /// Start of the record before `at`.
    last: usize,
}

impl<'a> Records<'a> {
    /// Returns the records of a buffer that `getdents64` filled.
    pub fn new(buffer: &'a [u8]) -> Self {
        Self { buffer, at: 0, last: 0 }
    }

    /// Returns `d_off` of the last record parsed: the position in the directory at which the next
    /// call would continue. For the last record of a buffer, this is where the kernel stopped.
    pub fn offset(&self) -> Option<i64> {
        let offset = self.buffer.get(self.last + 8..self.last + 16)?;
        Some(i64::from_ne_bytes(offset.try_into().ok()?))
    }

    /// Parses the record at `at`.
    ///
    /// The kernel makes the length of a record a multiple of eight (`ALIGN` in `filldir64`, `fs/readdir.c`), so the name is
    /// searched in whole words.
    #[inline]
    fn parse(&mut self) -> Result<Record, &'static str> {
        let rest = &self.buffer[self.at..];
        let Some((header, _)) = rest.split_first_chunk::<24>() else {
            return Err("a directory record is cut off");
        };
        let [inode, _, last] = *header.as_chunks::<8>().0 else { unreachable!("24 bytes") };
        let length = usize::from(u16::from_ne_bytes([last[0], last[1]]));
        if length < header.len() || length > rest.len() || !length.is_multiple_of(8) {
            return Err("a directory record has an impossible length");
        }
        let Some(end) = find_nul(&rest[NAME_WORD..length]) else {
            return Err("the name in a directory record is not NUL-terminated");
        };
        let start = self.at + HEADER_LENGTH;
        let name = start..self.at + NAME_WORD + end;
        self.last = self.at;
        self.at += length;
        Ok(Record { inode: u64::from_ne_bytes(inode), d_type: last[2], name })
    }
}

/// The word in which a name begins, after the length and type of its record.
const NAME_WORD: usize = HEADER_LENGTH / 8 * 8;

/// Returns the position of the first NUL of the name that begins in the first of these words. Tests eight bytes at a
/// time (Mycroft's test for a zero byte): names are too short for the vector search of `memchr` to pay off (it took 74
/// instructions a name on corpus `data`, callgrind).
#[inline]
fn find_nul(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    /// Sets the bytes before the name, which may be zero.
    const BEFORE: u64 = (1 << ((HEADER_LENGTH - NAME_WORD) * 8)) - 1;
    let mut before = BEFORE;
    for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word) | before;
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
        before = 0;
    }
    None
}

/// Returns whether the name at this range is `.` or `..`.
#[inline]
fn is_dot(buffer: &[u8], name: &Range<usize>) -> bool {
    name.len() <= 2 && matches!(&buffer[name.clone()], b"." | b"..")
}

impl Iterator for Records<'_> {
    type Item = Result<Record, &'static str>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.buffer.len() {
            match self.parse() {
                Ok(record) if is_dot(self.buffer, &record.name) => {}
                Ok(record) => return Some(Ok(record)),
                Err(what) => {
                    self.at = self.buffer.len();
                    return Some(Err(what));
                }
            }
        }
        None
    }
}

/// Appends a record, for tests and fuzzing.
pub fn encode(inode: u64, d_type: u8, name: &[u8], out: &mut Vec<u8>) {
    encode_at(0, inode, d_type, name, out);
}

/// Appends a record with this `d_off`, for tests.
pub fn encode_at(offset: i64, inode: u64, d_type: u8, name: &[u8], out: &mut Vec<u8>) {
    let length = (HEADER_LENGTH + name.len() + 1).next_multiple_of(8);
    let start = out.len();
    out.extend_from_slice(&inode.to_ne_bytes());
    out.extend_from_slice(&offset.to_ne_bytes());
    out.extend_from_slice(&(length as u16).to_ne_bytes());
    out.push(d_type);
    out.extend_from_slice(name);
    out.resize(start + length, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(buffer: &[u8]) -> Vec<&[u8]> {
        Records::new(buffer).map(|record| &buffer[record.unwrap().name]).collect()
    }

    #[test]
    fn dirent_dot_entries_skipped_similar_names_kept() {
        let mut buffer = Vec::new();
        for name in [&b"."[..], b"..", b"...", b".a", b"..b", b"c"] {
            encode(1, 4, name, &mut buffer);
        }
        assert_eq!(names(&buffer), [&b"..."[..], b".a", b"..b", b"c"]);
    }

    #[test]
    fn dirent_offset_of_last_record_includes_dot_entries() {
        let mut buffer = Vec::new();
        for (offset, name) in [(7, &b"a"[..]), (9, b"b"), (i64::MAX, b".")] {
            encode_at(offset, 1, 4, name, &mut buffer);
        }
        let mut records = Records::new(&buffer);
        assert!(records.next().is_some());
        assert_eq!(records.offset(), Some(7));
        assert_eq!(records.by_ref().count(), 1);
        assert_eq!(records.offset(), Some(i64::MAX));
        assert_eq!(Records::new(&[]).offset(), None);
    }

    #[test]
    fn dirent_longest_name_fits_max_record() {
        let mut buffer = Vec::new();
        encode(u64::MAX, 8, &[b'x'; 255], &mut buffer);
        assert_eq!(buffer.len(), MAX_RECORD);
        let record = Records::new(&buffer).next().unwrap().unwrap();
        assert_eq!((record.inode, record.name.len()), (u64::MAX, 255));
    }

    #[test]
    fn dirent_malformed_record_error_ends_iteration() {
        let mut buffer = Vec::new();
        encode(1, 8, b"good", &mut buffer);
        let good = buffer.len();
        encode(2, 8, b"bad", &mut buffer);
        for (what, damage) in [
            ("zero length", (16, 0)),
            ("longer than the buffer", (16, 200)),
            ("shorter than a header", (16, 8)),
            ("no multiple of eight", (16, 25)),
        ] {
            let mut broken = buffer.clone();
            broken[good + damage.0] = damage.1;
            let mut records = Records::new(&broken);
            assert!(records.next().unwrap().is_ok(), "{what}");
            assert!(records.next().unwrap().is_err(), "{what}");
            assert!(records.next().is_none(), "{what}");
        }
        assert!(Records::new(&buffer[..good + 10]).nth(1).unwrap().is_err(), "cut off");
        let mut endless = buffer.clone();
        endless[good + HEADER_LENGTH..].fill(b'x');
        let error = Records::new(&endless).nth(1).unwrap().unwrap_err();
        assert_eq!(error, "the name in a directory record is not NUL-terminated");
    }

    proptest! {
        #[test]
        fn dirent_encoded_records_round_trip(
            entries in prop::collection::vec((any::<u64>(), any::<u8>(), "[^\0/]{1,60}"), 0..50)
        ) {
            let mut buffer = Vec::new();
            for (inode, d_type, name) in &entries {
                encode(*inode, *d_type, name.as_bytes(), &mut buffer);
            }
            let parsed: Vec<_> = Records::new(&buffer)
                .map(|record| record.unwrap())
                .map(|r| (r.inode, r.d_type, buffer[r.name].to_vec()))
                .collect();
            let expected: Vec<_> = entries
                .iter()
                .filter(|(_, _, name)| name != "." && name != "..")
                .map(|(inode, d_type, name)| (*inode, *d_type, name.as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(parsed, expected);
        }

        #[test]
        fn find_nul_any_bytes(words in prop::collection::vec(prop::array::uniform8(0u8..3), 0..5)) {
            let bytes = words.as_flattened();
            let name = HEADER_LENGTH - NAME_WORD..;
            let expected = bytes.get(name.clone()).and_then(|it| it.iter().position(|&byte| byte == 0));
            prop_assert_eq!(find_nul(bytes), expected.map(|at| at + name.start));
        }

        #[test]
        fn dirent_any_bytes_no_panic(buffer in prop::collection::vec(any::<u8>(), 0..600)) {
            for record in Records::new(&buffer).flatten() {
                prop_assert!(record.name.end < buffer.len());
                prop_assert_eq!(buffer[record.name.end], 0);
            }
        }
    }
}
