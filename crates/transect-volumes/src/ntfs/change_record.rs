//! Records of the change journal (`$UsnJrnl:$J`).
//!
//! ```text
//! | length | version | file | directory | USN | time | reasons | … | attributes | length, offset | name |
//! ```
//!
//! Version 3 has references of 128 bits, of which NTFS uses the lower half. Version 4 has parts of files that
//! changed, and no names: such records accompany others.
//!
//! Source: [MS-FSCC] 2.3.65, `USN_RECORD_V2` to `USN_RECORD_V4` in `winioctl.h`.

use transect_sys::record::dirinfo::nanoseconds;

use super::super::source::Fields;
use super::record::Damaged;

/// Records do not reach beyond such a page; the rest of it is zeros.
pub(super) const PAGE: usize = 4096;

/// A record with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangeRecord<'a> {
    /// References to the file and to the directory with the name, as they are stored.
    pub(super) file: u64,
    pub(super) directory: u64,
    pub(super) usn: i64,
    /// Nanoseconds since 1970 UTC.
    pub(super) time: Option<i64>,
    pub(super) reasons: u32,
    pub(super) attributes: u32,
    /// In UTF-16, lowest byte first.
    pub(super) name: &'a [u8],
}

/// What there is in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    Change(ChangeRecord<'a>),
    /// A record of a version without names, or whose name is empty.
    Nameless,
}

/// Returns whether a page of a journal that begins at `offset` may begin with these bytes.
///
/// The number of a record is its place in the journal, and records begin at the beginning of each page.
pub(super) fn begins_page(page: &[u8], offset: u64) -> bool {
    let fields = Fields(page);
    let usn = match fields.u16(4) {
        2 => fields.u64(24),
        3 | 4 => fields.u64(40),
        _ => return false,
    };
    let length = fields.u32(0) as usize;
    usn % PAGE as u64 == offset % PAGE as u64
        && (60..=PAGE).contains(&length)
        && length.is_multiple_of(8)
}

/// Iterates over the records of one page. A damaged record is an error; if its length is impossible, it is the last item.
pub(super) struct Records<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Result<Found<'a>, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.0);
        let length = Fields(rest).u32(0) as usize;
        if length == 0 {
            return None;
        }
        if length < 8 || !length.is_multiple_of(8) || length > rest.len() {
            return Some(Err(Damaged));
        }
        let (record, rest) = rest.split_at(length);
        self.0 = rest;
        Some(parse(record))
    }
}

fn parse(record: &[u8]) -> Result<Found<'_>, Damaged> {
    let fields = Fields(record);
    // How much longer both references are than in version 2.
    let longer = match fields.u16(4) {
        2 => 0,
        3 => 16,
        4 => return Ok(Found::Nameless),
        _ => return Err(Damaged),
    };
    let name_length = usize::from(fields.u16(56 + longer));
    let name_begin = usize::from(fields.u16(58 + longer));
    let name = record.get(name_begin..name_begin + name_length).ok_or(Damaged)?;
    if name.is_empty() {
        return Ok(Found::Nameless);
    }
    if name_begin < 60 + longer || !name_length.is_multiple_of(2) {
        return Err(Damaged);
    }
    Ok(Found::Change(ChangeRecord {
        file: fields.u64(8),
        directory: fields.u64(16 + longer / 2),
        usn: fields.u64(24 + longer).cast_signed(),
        time: nanoseconds(fields.u64(32 + longer).cast_signed()),
        reasons: fields.u32(40 + longer),
        attributes: fields.u32(52 + longer),
        name,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: u16, name: &str) -> Vec<u8> {
        let longer = if version == 3 { 16 } else { 0 };
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut record = vec![0; (60 + longer + name.len()).next_multiple_of(8)];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        put(4, &version.to_le_bytes());
        put(8, &7_u64.to_le_bytes());
        put(16 + longer / 2, &5_u64.to_le_bytes());
        put(24 + longer, &4096_i64.to_le_bytes());
        put(40 + longer, &0x102_u32.to_le_bytes());
        put(52 + longer, &0x20_u32.to_le_bytes());
        put(56 + longer, &(name.len() as u16).to_le_bytes());
        put(58 + longer, &(60 + longer as u16).to_le_bytes());
        put(60 + longer, &name);
        let length = record.len() as u32;
        record[..4].copy_from_slice(&length.to_le_bytes());
        record
    }

    #[test]
    fn change_records_of_all_versions_to_the_end_of_the_page() {
        let page = [record(2, "ä"), record(4, "x"), record(3, "name"), vec![0; 64]].concat();
        let found: Vec<_> = Records(&page).collect();
        let change = |name| ChangeRecord {
            file: 7,
            directory: 5,
            usn: 4096,
            time: None,
            reasons: 0x102,
            attributes: 0x20,
            name,
        };
        let expected = [
            Ok(Found::Change(change(b"\xE4\0".as_slice()))),
            Ok(Found::Nameless),
            Ok(Found::Change(change(b"n\0a\0m\0e\0".as_slice()))),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn change_records_impossible_damaged_once() {
        for (at, byte) in [(0, 7), (1, 9), (4, 5), (56, 99), (56, 1), (58, 8)] {
            let mut page = [record(2, "name"), record(2, "next"), vec![0; 64]].concat();
            page[at] = byte;
            let found: Vec<_> = Records(&page).collect();
            assert_eq!(found.iter().filter(|it| it.is_err()).count(), 1, "{at}: {found:?}");
            assert_eq!(found.len(), if at < 2 { 1 } else { 2 }, "{at}: {found:?}");
        }
    }

    #[test]
    fn change_records_that_fill_a_page_or_have_no_name_not_damaged() {
        let mut nameless = record(2, "");
        nameless[58] = 0;
        let long = record(2, &"\u{1b}:*?\u{ffff}".repeat(51));
        let mut page = [record(2, "\u{d7ff}"), nameless, long].concat();
        while page.len() < PAGE {
            let next = record(3, &"x".repeat(((PAGE - page.len() - 76) / 2).min(255)));
            page.extend(next);
        }
        assert_eq!(page.len(), PAGE, "the last record ends with the page");
        let found: Result<Vec<_>, _> = Records(&page).collect();
        let nameless = found.unwrap().iter().filter(|&it| *it == Found::Nameless).count();
        assert_eq!(nameless, 1);
    }

    #[test]
    fn page_begins_with_record_of_its_place() {
        let page = record(2, "name");
        assert!(begins_page(&page, 0) && begins_page(&page, 8192));
        for (at, byte) in [(0, 7), (1, 0x20), (4, 1), (24, 8)] {
            let mut page = page.clone();
            page[at] = byte;
            assert!(!begins_page(&page, 0), "{at}");
        }
        assert!(!begins_page(&[b'x'; PAGE], 0) && !begins_page(&[0; PAGE], 0));
    }
}
