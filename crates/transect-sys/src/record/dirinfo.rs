//! The records that `NtQueryDirectoryFile` and `GetFileInformationByHandleEx` write on Windows.
//!
//! ```text
//!  0     4     8                      40     48     56    60    64    68                 name
//!  +-----+-----+----+----+----+------+------+------+-----+-----+-----+-----------------+------+
//!  |next |index|born|read|writ|change| end  |alloc |attr |name |EA or| short name, id, | name |
//!  |     |     |    |    |    |      |of    |      |     |len  |tag  | by layout       |      |
//!  +-----+-----+----+----+----+------+------+------+-----+-----+-----+-----------------+------+
//! ```
//! (`FILE_FULL_DIR_INFORMATION` and its kin, `ntifs.h`: [MS-FSCC] 2.4.14, 2.4.8, 2.4.18, 2.4.17.
//! Little endian; times in 100 ns since 1601; lengths of names in bytes, names in UTF-16 and not
//! terminated; `next` counts from the beginning of the record and is 0 in the last.)

use std::ops::Range;

/// The fields of a record besides the common ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// `FILE_FULL_DIR_INFORMATION`: no further field.
    Full,
    /// `FILE_BOTH_DIR_INFORMATION`: the 8.3 name.
    Both,
    /// `FILE_ID_FULL_DIR_INFORMATION`: the file id.
    IdFull,
    /// `FILE_ID_BOTH_DIR_INFORMATION`: the 8.3 name and the file id.
    IdBoth,
}

impl Layout {
    /// Returns the offset of the name.
    pub const fn header_length(self) -> usize {
        match self {
            Self::Full => 68,
            Self::Both => 94,
            Self::IdFull => 80,
            Self::IdBoth => 104,
        }
    }

    const fn file_id(self) -> Option<usize> {
        match self {
            Self::Full | Self::Both => None,
            Self::IdFull => Some(72),
            Self::IdBoth => Some(96),
        }
    }

    /// Returns whether records contain the 8.3 name.
    pub const fn has_short_name(self) -> bool {
        matches!(self, Self::Both | Self::IdBoth)
    }

    /// Returns whether records contain the file id.
    pub const fn has_file_id(self) -> bool {
        self.file_id().is_some()
    }
}

/// Offsets of the length of the 8.3 name (one byte) and of the 8.3 name.
const SHORT_NAME: (usize, usize) = (68, 70);

/// The longest 8.3 name in bytes: twelve UTF-16 units.
const MAX_SHORT_NAME: usize = 24;

/// Set in `FILE_ATTRIBUTE_*` if the record's next field is a reparse tag.
const REPARSE_POINT: u32 = 0x400;

/// One record. Times are in 100 ns since 1601; 0 if the file system does not store them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `FILE_ATTRIBUTE_*`.
    pub attributes: u32,
    /// `IO_REPARSE_TAG_*`; 0 if the entry is not a reparse point.
    pub reparse_tag: u32,
    /// Time of creation.
    pub created: i64,
    /// Time of last access.
    pub accessed: i64,
    /// Time of last change of the content.
    pub written: i64,
    /// Time of last change of the attributes.
    pub changed: i64,
    /// Length in bytes.
    pub size: u64,
    /// Bytes occupied.
    pub allocated: u64,
    /// Number of the file in its volume; `None` if the layout lacks it, or the file system has no
    /// number of 64 bits (0 and -1: [MS-FSCC] 2.1.9).
    pub file_id: Option<u64>,
    /// Range of the name in the buffer: an even number of bytes, at least two.
    pub name: Range<usize>,
    /// Range of the 8.3 name in the buffer; empty if there is none.
    pub short_name: Range<usize>,
}

/// Iterates over the records of a buffer, without `.` and `..`.
///
/// A record that exceeds the buffer, overlaps the next, or has an invalid name ends the iteration
/// with an `Err` that describes the problem.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    buffer: &'a [u8],
    layout: Layout,
    at: Option<usize>,
}

impl<'a> Records<'a> {
    /// Returns the records of a buffer that one call filled. Bytes after the last record are
    /// ignored. A buffer must hold at least one record.
    pub fn new(buffer: &'a [u8], layout: Layout) -> Self {
        Self { buffer, layout, at: Some(0) }
    }

    fn parse(&mut self, at: usize) -> Result<Record, &'static str> {
        let layout = self.layout;
        let bytes = self.buffer.get(at..).unwrap_or_default();
        if bytes.len() < layout.header_length() {
            return Err("a directory record is cut off");
        }
        let next = read_u32(bytes, 0) as usize;
        let length = read_u32(bytes, 60) as usize;
        let room = if next == 0 { bytes.len() } else { next };
        let Some(end) = layout.header_length().checked_add(length).filter(|&end| end <= room)
        else {
            return Err("a directory record overlaps the next or the end");
        };
        if next >= bytes.len() {
            return Err("a directory record places the next one outside the buffer");
        }
        let name = &bytes[layout.header_length()..end];
        if length == 0
            || !length.is_multiple_of(2)
            || name.chunks_exact(2).any(|unit| unit == [0, 0])
        {
            return Err("a directory record has an invalid name");
        }
        let attributes = read_u32(bytes, 56);
        let tag = if attributes & REPARSE_POINT != 0 { read_u32(bytes, 64) } else { 0 };
        let (short_length, short_at) = SHORT_NAME;
        let short_name = if layout.has_short_name() {
            let length = usize::from(bytes[short_length]);
            if length > MAX_SHORT_NAME || !length.is_multiple_of(2) {
                return Err("a directory record has an invalid 8.3 name");
            }
            at + short_at..at + short_at + length
        } else {
            0..0
        };
        let size =
            u64::try_from(read_i64(bytes, 40)).map_err(|_| "a file has a negative length")?;
        let allocated =
            u64::try_from(read_i64(bytes, 48)).map_err(|_| "a file has a negative size")?;
        // Nothing fails from here on: an error must end the iteration.
        self.at = (next != 0).then_some(at + next);
        Ok(Record {
            attributes,
            reparse_tag: tag,
            created: read_i64(bytes, 8),
            accessed: read_i64(bytes, 16),
            written: read_i64(bytes, 24),
            changed: read_i64(bytes, 32),
            size,
            allocated,
            file_id: layout
                .file_id()
                .map(|offset| read_i64(bytes, offset) as u64)
                .filter(|&id| id != 0 && id != u64::MAX),
            name: at + layout.header_length()..at + end,
            short_name,
        })
    }
}

/// Returns four bytes at an offset within a header.
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    let field = bytes[at..].first_chunk::<4>().expect("BUG: the header was checked to be whole");
    u32::from_le_bytes(*field)
}

/// Returns eight bytes at an offset within a header.
fn read_i64(bytes: &[u8], at: usize) -> i64 {
    let field = bytes[at..].first_chunk::<8>().expect("BUG: the header was checked to be whole");
    i64::from_le_bytes(*field)
}

impl Iterator for Records<'_> {
    type Item = Result<Record, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        const DOT: &[u8] = b".\0";
        const DOT_DOT: &[u8] = b".\0.\0";
        loop {
            let at = self.at.take()?;
            match self.parse(at) {
                Ok(record) if [DOT, DOT_DOT].contains(&&self.buffer[record.name.clone()]) => {}
                answer => return Some(answer),
            }
        }
    }
}

/// Returns the UTF-16 units of a name in a buffer.
pub fn utf16_units(name: &[u8]) -> impl Iterator<Item = u16> + Clone + '_ {
    name.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit))
}

/// The error for a surrogate without its pair: the name is not Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpairedSurrogate;

/// Appends a name as UTF-8.
///
/// # Errors
/// [`UnpairedSurrogate`] if the name is not Unicode; then nothing is appended.
#[inline]
pub fn append_utf8(
    units: impl Iterator<Item = u16> + Clone,
    out: &mut Vec<u8>,
) -> Result<(), UnpairedSurrogate> {
    let start = out.len();
    let mut rest = units;
    // Most names are ASCII to the end.
    loop {
        let before = rest.clone();
        match rest.next() {
            None => return Ok(()),
            Some(unit @ 1..0x80) => out.push(unit as u8),
            Some(_) => {
                rest = before;
                break;
            }
        }
    }
    for character in char::decode_utf16(rest) {
        let Ok(character) = character else {
            out.truncate(start);
            return Err(UnpairedSurrogate);
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(())
}

/// Converts 100 ns since 1601 to nanoseconds since 1970. `None` for 0: the file system does not
/// store this time.
pub fn nanoseconds(filetime: i64) -> Option<i64> {
    /// Seconds from 1601 to 1970, in units of 100 ns.
    const EPOCH: i64 = 11_644_473_600 * 10_000_000;
    (filetime != 0).then(|| filetime.saturating_sub(EPOCH).saturating_mul(100))
}

/// Writes records, for tests and fuzzing.
#[derive(Debug)]
pub struct Encoder {
    layout: Layout,
    buffer: Vec<u8>,
    last: Option<usize>,
}

impl Encoder {
    /// Returns an encoder for one layout.
    pub fn new(layout: Layout) -> Self {
        Self { layout, buffer: Vec::new(), last: None }
    }

    /// Appends a record. Ignores the ranges in `record`.
    pub fn add(&mut self, record: &Record, name: &[u16], short_name: &[u16]) -> &mut Self {
        self.buffer.resize(self.buffer.len().next_multiple_of(8), 0);
        let at = self.buffer.len();
        if let Some(last) = self.last.replace(at) {
            self.buffer[last..last + 4].copy_from_slice(&((at - last) as u32).to_le_bytes());
        }
        self.buffer.resize(at + self.layout.header_length(), 0);
        let header = &mut self.buffer[at..];
        let mut put = |offset: usize, bytes: &[u8]| {
            header[offset..offset + bytes.len()].copy_from_slice(bytes);
        };
        put(8, &record.created.to_le_bytes());
        put(16, &record.accessed.to_le_bytes());
        put(24, &record.written.to_le_bytes());
        put(32, &record.changed.to_le_bytes());
        put(40, &record.size.to_le_bytes());
        put(48, &record.allocated.to_le_bytes());
        put(56, &record.attributes.to_le_bytes());
        put(60, &(name.len() as u32 * 2).to_le_bytes());
        put(64, &record.reparse_tag.to_le_bytes());
        if let Some(offset) = self.layout.file_id() {
            put(offset, &record.file_id.unwrap_or(0).to_le_bytes());
        }
        if self.layout.has_short_name() {
            let short: Vec<u8> = short_name.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            put(SHORT_NAME.0, &[short.len() as u8]);
            put(SHORT_NAME.1, &short);
        }
        self.buffer.extend(name.iter().flat_map(|unit| unit.to_le_bytes()));
        self
    }

    /// Returns the encoded records.
    pub fn finish(self) -> Vec<u8> {
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAYOUTS: [Layout; 4] = [Layout::Full, Layout::Both, Layout::IdFull, Layout::IdBoth];

    fn record(size: u64) -> Record {
        Record {
            attributes: 0x20,
            reparse_tag: 0,
            created: 1,
            accessed: 2,
            written: 3,
            changed: 4,
            size,
            allocated: size.next_multiple_of(4096),
            file_id: None,
            name: 0..0,
            short_name: 0..0,
        }
    }

    fn utf16(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn text(buffer: &[u8], range: Range<usize>) -> String {
        String::from_utf16(&utf16_units(&buffer[range]).collect::<Vec<_>>()).unwrap()
    }

    fn buffer(layout: Layout, names: &[&str]) -> Vec<u8> {
        let mut encoder = Encoder::new(layout);
        for (size, name) in names.iter().enumerate() {
            encoder.add(&record(size as u64), &utf16(name), &[]);
        }
        encoder.finish()
    }

    fn names(buffer: &[u8], layout: Layout) -> Vec<String> {
        Records::new(buffer, layout).map(|r| text(buffer, r.unwrap().name)).collect()
    }

    /// Written by Wine 8 for `FileIdFullDirectoryInformation` of a directory on ext4 with a file of
    /// six bytes and a directory.
    #[test]
    fn dirinfo_recorded_wine_buffer_parsed() {
        let recorded = include_bytes!("recorded/id-full.bin");
        let found: Vec<Record> =
            Records::new(recorded, Layout::IdFull).collect::<Result<_, _>>().unwrap();
        let names: Vec<String> = found.iter().map(|r| text(recorded, r.name.clone())).collect();
        assert_eq!(names, ["file", "sub"]);
        assert_eq!((found[0].attributes, found[0].size, found[0].allocated), (0x20, 6, 4096));
        assert_eq!((found[1].attributes, found[1].size), (0x10, 0));
        assert!(found.iter().all(|r| r.file_id.is_some() && nanoseconds(r.written).is_some()));
    }

    #[test]
    fn dirinfo_every_layout_last_record_included() {
        for layout in LAYOUTS {
            let long = "x".repeat(255);
            let given = ["one", "é", ".hidden", "...", &long, "last"];
            assert_eq!(names(&buffer(layout, &given), layout), given, "{layout:?}");
        }
    }

    #[test]
    fn dirinfo_dot_entries_skipped_anywhere() {
        for given in [&[".", "..", "a"][..], &["a", ".", ".."], &[".", ".."], &["..", "a", "."]] {
            let found = names(&buffer(Layout::IdFull, given), Layout::IdFull);
            assert!(found.iter().all(|name| name == "a"), "{given:?}: {found:?}");
            assert_eq!(found.len(), given.iter().filter(|&&name| name == "a").count());
        }
    }

    #[test]
    fn dirinfo_fields_of_every_layout() {
        for layout in LAYOUTS {
            let mut encoder = Encoder::new(layout);
            let given = Record {
                attributes: 0x410,
                reparse_tag: 0xA000_000C,
                file_id: Some(0x1234_5678_9ABC),
                ..record(77)
            };
            encoder.add(&given, &utf16("long name.text"), &utf16("LONGNA~1.TEX"));
            let buffer = encoder.finish();
            let found = Records::new(&buffer, layout).next().unwrap().unwrap();
            assert_eq!(found.file_id, given.file_id.filter(|_| layout.has_file_id()));
            assert_eq!((found.attributes, found.reparse_tag), (0x410, 0xA000_000C));
            assert_eq!((found.created, found.accessed, found.written, found.changed), (1, 2, 3, 4));
            assert_eq!((found.size, found.allocated), (77, 4096));
            let short = if layout.has_short_name() { "LONGNA~1.TEX" } else { "" };
            assert_eq!(text(&buffer, found.short_name), short);
        }
    }

    #[test]
    fn dirinfo_extended_attribute_size_not_reparse_tag() {
        let mut encoder = Encoder::new(Layout::Full);
        encoder.add(&Record { reparse_tag: 40, ..record(1) }, &utf16("a"), &[]);
        let buffer = encoder.finish();
        assert_eq!(Records::new(&buffer, Layout::Full).next().unwrap().unwrap().reparse_tag, 0);
    }

    #[test]
    fn dirinfo_reserved_file_ids_absent() {
        for id in [0, u64::MAX] {
            let mut encoder = Encoder::new(Layout::IdFull);
            encoder.add(&Record { file_id: Some(id), ..record(1) }, &utf16("a"), &[]);
            let buffer = encoder.finish();
            let found = Records::new(&buffer, Layout::IdFull).next().unwrap().unwrap();
            assert_eq!(found.file_id, None);
        }
    }

    #[test]
    fn dirinfo_zero_next_offset_ends_buffer() {
        let mut buffer = buffer(Layout::IdFull, &["a", "b", "c"]);
        let second = u32::from_le_bytes(*buffer.first_chunk().unwrap()) as usize;
        buffer[second..second + 4].fill(0);
        assert_eq!(names(&buffer, Layout::IdFull), ["a", "b"]);
    }

    #[test]
    fn dirinfo_unaligned_records_parsed() {
        // Windows aligns records to eight bytes, but the parser does not depend on it.
        let one = buffer(Layout::IdFull, &["abc"]);
        let mut shifted = one.clone();
        shifted.push(0xEE);
        let next = shifted.len() as u32;
        shifted[..4].copy_from_slice(&next.to_le_bytes());
        shifted.extend_from_slice(&one);
        assert_eq!(names(&shifted, Layout::IdFull), ["abc", "abc"]);
    }

    #[test]
    fn dirinfo_malformed_record_error_ends_iteration() {
        let layout = Layout::IdFull;
        let good = buffer(layout, &["good", "bad", "never"]);
        let second = u32::from_le_bytes(*good.first_chunk().unwrap()) as usize;
        for (what, at, damage) in [
            ("an odd length of name", 60, 5),
            ("no name", 60, 0),
            ("a name beyond the next record", 60, 200),
            ("a name beyond all", 60, u32::MAX),
            ("a next inside the header", 0, 8),
            ("a next inside the name", 0, 82),
            ("a next outside the buffer", 0, 100_000),
            ("a next at the edge of numbers", 0, u32::MAX),
            ("a negative length", 44, u32::MAX),
        ] {
            let mut broken = good.clone();
            broken[second + at..second + at + 4].copy_from_slice(&damage.to_le_bytes());
            let mut records = Records::new(&broken, layout);
            assert!(records.next().unwrap().is_ok(), "{what}");
            assert!(records.next().unwrap().is_err(), "{what}");
            assert!(records.next().is_none(), "{what}");
        }
        let mut nul = good.clone();
        nul[second + 80..second + 82].fill(0);
        let error = Records::new(&nul, layout).nth(1).unwrap().unwrap_err();
        assert_eq!(error, "a directory record has an invalid name");
        for cut in 1..good.len() {
            // For any cut: whole records or an error, never a panic.
            let found = Records::new(&good[..cut], layout).filter(Result::is_ok).count();
            assert!(found < 3, "cut at {cut}");
        }
    }

    #[test]
    fn dirinfo_short_name_too_long_error() {
        let mut buffer = buffer(Layout::Both, &["a name that is long enough"]);
        buffer[68] = 26;
        let error = Records::new(&buffer, Layout::Both).next().unwrap().unwrap_err();
        assert_eq!(error, "a directory record has an invalid 8.3 name");
    }

    #[test]
    fn nanoseconds_since_1970_zero_absent() {
        assert_eq!(nanoseconds(0), None);
        assert_eq!(nanoseconds(116_444_736_000_000_000), Some(0));
        assert_eq!(nanoseconds(116_444_736_000_000_001), Some(100));
        assert_eq!(nanoseconds(i64::MAX), Some(i64::MAX));
        assert!(nanoseconds(1).unwrap() < 0);
    }

    #[test]
    fn append_utf8_unpaired_surrogate_error_appends_nothing() {
        for bad in [&[0xD800][..], &[0x61, 0xDC00], &[0xD800, 0x61], &[0xDC00, 0xD800]] {
            let mut out = b"kept".to_vec();
            assert_eq!(append_utf8(bad.iter().copied(), &mut out), Err(UnpairedSurrogate));
            assert_eq!(out, b"kept");
        }
    }

    proptest! {
        #[test]
        fn append_utf8_any_text(name in "\\PC{0,40}") {
            let mut out = Vec::new();
            prop_assert_eq!(append_utf8(name.encode_utf16(), &mut out), Ok(()));
            prop_assert_eq!(out, name.as_bytes());
        }

        #[test]
        fn append_utf8_any_units_text_or_unpaired(units in prop::collection::vec(any::<u16>(), 0..40)) {
            let mut out = Vec::new();
            match String::from_utf16(&units) {
                Ok(text) => {
                    prop_assert_eq!(append_utf8(units.iter().copied(), &mut out), Ok(()));
                    prop_assert_eq!(out, text.as_bytes());
                }
                Err(_) => {
                    prop_assert_eq!(append_utf8(units.iter().copied(), &mut out), Err(UnpairedSurrogate));
                }
            }
        }

        #[test]
        fn dirinfo_any_bytes_no_panic(
            buffer in prop::collection::vec(any::<u8>(), 0..600),
            layout in prop::sample::select(&LAYOUTS[..]),
        ) {
            for record in Records::new(&buffer, layout).flatten() {
                prop_assert!(record.name.end <= buffer.len() && !record.name.is_empty());
                prop_assert!(record.short_name.end <= buffer.len());
            }
        }
    }
}
