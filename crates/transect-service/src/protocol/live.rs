//! Entries and changes of followed trees. Such an answer may have many frames: the first byte of each tells whether
//! another one follows.

use std::path::{Path, PathBuf};

use transect::{Attributes, FileType};
use transect_live::{Change, ChangeKind, Cursor};
use transect_sys::name_from_bytes;

use super::bytes::append_string;
use super::{ByteReader, ProtocolError, WireLayout};

/// What follows a frame of such an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// Nothing: the answer is complete.
    Last = 0,
    /// Another frame.
    More = 1,
    /// The service does not follow all of this tree. The rest of the frame is the reason.
    Unknown = 2,
}

impl Part {
    /// Takes it from the beginning of a frame.
    ///
    /// # Errors
    /// It is malformed.
    pub fn take(from: &mut ByteReader<'_>) -> Result<Self, ProtocolError> {
        match from.u8()? {
            0 => Ok(Self::Last),
            1 => Ok(Self::More),
            2 => Ok(Self::Unknown),
            _ => Err(ProtocolError("an unknown part")),
        }
    }
}

/// The most words of a search: each is looked for in all names.
pub const MAX_WORDS: usize = 256;

/// Words that the names of all wanted entries contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordSearch<'a> {
    /// The words; without any, all entries are wanted.
    pub words: Vec<&'a [u8]>,
    /// Whether the case of ASCII letters is ignored.
    pub ignore_case: bool,
}

impl<'a> WordSearch<'a> {
    pub(super) fn append(&self, out: &mut Vec<u8>) {
        out.push(self.ignore_case.into());
        self.words.iter().for_each(|word| append_string(out, word));
    }

    pub(super) fn take(from: &mut ByteReader<'a>) -> Result<Self, ProtocolError> {
        let ignore_case = from.u8()? != 0;
        let mut words = Vec::new();
        while !from.is_empty() {
            if words.len() == MAX_WORDS {
                return Err(ProtocolError("too many words"));
            }
            words.push(from.string()?);
        }
        Ok(Self { words, ignore_case })
    }
}

/// What the first frame of an answer with entries begins with, after its [`Part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryStart {
    /// The place of these entries in the changes.
    pub cursor: Cursor,
}

/// An entry: in tree order, a directory before its entries. The name is the bytes in a message, or a copy of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryRow<N> {
    /// The number of steps from the path of the request; 0 for that itself.
    pub depth: u16,
    /// False for a directory that is there only because of what is below it.
    pub is_match: bool,
    /// Whether nothing is in it.
    pub is_empty: bool,
    /// The name; of the first entry, the path of the request.
    pub name: N,
    /// The attributes that were requested.
    pub attributes: Attributes,
    /// The number of the system's error, if it is a directory that cannot be opened.
    pub error: Option<i32>,
}

/// Appends an entry.
pub fn append_entry(out: &mut Vec<u8>, layout: WireLayout, row: &EntryRow<&[u8]>) {
    let flags = [row.is_match, row.is_empty, row.error.is_some()];
    out.extend_from_slice(&row.depth.to_le_bytes());
    out.push(flags.iter().enumerate().fold(0, |all, (bit, &flag)| all | u8::from(flag) << bit));
    append_string(out, row.name);
    layout.append(&row.attributes, out);
    row.error.iter().for_each(|error| out.extend_from_slice(&error.to_le_bytes()));
}

/// Takes an entry.
///
/// # Errors
/// It is malformed.
pub fn take_entry<'a>(
    from: &mut ByteReader<'a>,
    layout: WireLayout,
) -> Result<EntryRow<&'a [u8]>, ProtocolError> {
    let (depth, flags) = (from.u16()?, from.u8()?);
    let [is_match, is_empty, has_error] = [1, 2, 4].map(|bit| flags & bit != 0);
    let (name, attributes) = (from.string()?, layout.take(from)?);
    let error = if has_error { Some(from.u32()?.cast_signed()) } else { None };
    Ok(EntryRow { depth, is_match, is_empty, name, attributes, error })
}

/// Where a client is in the changes, and what it wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceOfClient {
    /// Its place; `None` if it only wants to know that of now.
    pub cursor: Option<Cursor>,
    /// Whether to answer only when something changed.
    pub wait: bool,
}

/// What stands for no cursor.
const NO_CURSOR: Cursor = Cursor { instance: 0, updates: u64::MAX };

impl PlaceOfClient {
    pub(super) fn append(self, out: &mut Vec<u8>) {
        append_cursor(out, self.cursor.unwrap_or(NO_CURSOR));
        out.push(self.wait.into());
    }

    pub(super) fn take(from: &mut ByteReader<'_>) -> Result<Self, ProtocolError> {
        let cursor = Some(take_cursor(from)?).filter(|&cursor| cursor != NO_CURSOR);
        Ok(Self { cursor, wait: from.u8()? != 0 })
    }
}

/// What the first frame of an answer with changes begins with, after its [`Part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesHeader {
    /// The place after the changes.
    pub cursor: Cursor,
    /// The client has lost its place: no changes follow, and it must compare everything itself.
    pub is_lost: bool,
    /// The service has lost notifications, and compared everything.
    pub was_gap: bool,
    /// The root is not at its path any more.
    pub is_root_gone: bool,
    /// The number of entries of the tree.
    pub entries: u64,
    /// The number of its directories that are not watched although they were read.
    pub unwatched: u64,
    /// The number of errors in it: as a rule, directories that cannot be opened.
    pub errors: u64,
}

impl ChangesHeader {
    /// Appends it.
    pub fn append(self, out: &mut Vec<u8>) {
        append_cursor(out, self.cursor);
        let flags = [self.is_lost, self.was_gap, self.is_root_gone];
        out.extend(flags.map(u8::from));
        let counts = [self.entries, self.unwatched, self.errors];
        out.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
    }

    /// Takes it.
    ///
    /// # Errors
    /// It is malformed.
    pub fn take(from: &mut ByteReader<'_>) -> Result<Self, ProtocolError> {
        let cursor = take_cursor(from)?;
        let mut flag = || from.u8().map(|byte| byte != 0);
        let (is_lost, was_gap, is_root_gone) = (flag()?, flag()?, flag()?);
        let (entries, unwatched, errors) = (from.u64()?, from.u64()?, from.u64()?);
        Ok(Self { cursor, is_lost, was_gap, is_root_gone, entries, unwatched, errors })
    }
}

impl EntryStart {
    /// Appends it.
    pub fn append(self, out: &mut Vec<u8>) {
        append_cursor(out, self.cursor);
    }

    /// Takes it.
    ///
    /// # Errors
    /// It is malformed.
    pub fn take(from: &mut ByteReader<'_>) -> Result<Self, ProtocolError> {
        Ok(Self { cursor: take_cursor(from)? })
    }
}

fn append_cursor(out: &mut Vec<u8>, cursor: Cursor) {
    out.extend_from_slice(&cursor.instance.to_le_bytes());
    out.extend_from_slice(&cursor.updates.to_le_bytes());
}

fn take_cursor(from: &mut ByteReader<'_>) -> Result<Cursor, ProtocolError> {
    Ok(Cursor { instance: from.u64()?, updates: from.u64()? })
}

/// Appends a change.
pub fn append_change(out: &mut Vec<u8>, change: &Change) {
    out.push(change.kind as u8);
    out.push(change.file_type as u8);
    append_path(out, &change.path);
    append_path(out, change.from.as_deref().unwrap_or(Path::new("")));
}

/// Takes a change.
///
/// # Errors
/// It is malformed.
pub fn take_change(from: &mut ByteReader<'_>) -> Result<Change, ProtocolError> {
    let kind = usize::from(from.u8()?);
    let kind = *ChangeKind::ALL.get(kind).ok_or(ProtocolError("an unknown kind of change"))?;
    let file_type = usize::from(from.u8()?);
    let file_type = *FileType::ALL.get(file_type).ok_or(ProtocolError("an unknown file type"))?;
    let path = take_path(from)?;
    let before = Some(take_path(from)?).filter(|path| !path.as_os_str().is_empty());
    Ok(Change::new(kind, path, before, file_type))
}

/// Its length takes four bytes: a tree may be deeper than the longest path that the system accepts.
fn append_path(out: &mut Vec<u8>, path: &Path) {
    let path = path.as_os_str().as_encoded_bytes();
    out.extend_from_slice(&(path.len() as u32).to_le_bytes());
    out.extend_from_slice(path);
}

fn take_path(from: &mut ByteReader<'_>) -> Result<PathBuf, ProtocolError> {
    let length = from.u32()? as usize;
    Ok(name_from_bytes(from.take(length)?.to_vec()).into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transect::FieldMask;

    use super::super::record::tests::any_attributes;
    use super::*;

    proptest! {
        #[test]
        fn entry_round_trip(
            depth in any::<u16>(),
            [is_match, is_empty] in any::<[bool; 2]>(),
            name in prop::collection::vec(any::<u8>(), 0..300),
            attributes in any_attributes(),
            error in any::<Option<i32>>(),
        ) {
            let layout = WireLayout::new(FieldMask::all());
            let mut out = Vec::new();
            let row = EntryRow { depth, is_match, is_empty, name: name.as_slice(), attributes, error };
            append_entry(&mut out, layout, &row);
            let mut from = ByteReader(&out);
            let got = take_entry(&mut from, layout).unwrap();
            prop_assert!(from.is_empty());
            prop_assert_eq!((got.depth, got.name), (depth, &name[..]));
            prop_assert_eq!((got.is_match, got.is_empty, got.error), (is_match, is_empty, error));
            prop_assert_eq!(got.attributes.known(), attributes.known() & WireLayout::ALL);
        }

        #[test]
        fn change_round_trip(
            kind in 0..4_usize,
            file_type in 0..8_usize,
            path in "[a-z/]{1,40}",
            from in proptest::option::of("[a-z/]{1,40}"),
        ) {
            let (kind, file_type) = (ChangeKind::ALL[kind], FileType::ALL[file_type]);
            let change = Change::new(kind, path.into(), from.map(PathBuf::from), file_type);
            let mut out = Vec::new();
            append_change(&mut out, &change);
            let mut from = ByteReader(&out);
            prop_assert_eq!(take_change(&mut from), Ok(change));
            prop_assert!(from.is_empty());
        }

        #[test]
        fn headers_round_trip(numbers in any::<[u64; 3]>(), flags in any::<[bool; 4]>()) {
            let cursor = Cursor { instance: numbers[0], updates: numbers[1] };
            let [is_lost, was_gap, is_root_gone, wait] = flags;
            let [entries, unwatched, errors] = numbers;
            let header = ChangesHeader {
                cursor, is_lost, was_gap, is_root_gone, entries, unwatched, errors,
            };
            let mut out = Vec::new();
            header.append(&mut out);
            prop_assert_eq!(ChangesHeader::take(&mut ByteReader(&out)), Ok(header));
            for cursor in [None, Some(cursor)] {
                let place = PlaceOfClient { cursor, wait };
                let mut out = Vec::new();
                place.append(&mut out);
                prop_assert_eq!(PlaceOfClient::take(&mut ByteReader(&out)), Ok(place));
            }
        }

        #[test]
        fn parser_random_bytes_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut from = ByteReader(&bytes);
            while take_entry(&mut from, WireLayout::new(FieldMask::all())).is_ok() {}
            let mut from = ByteReader(&bytes);
            while take_change(&mut from).is_ok() {}
            let _ = ChangesHeader::take(&mut ByteReader(&bytes));
        }
    }

    #[test]
    fn search_with_too_many_words_refused() {
        for (count, is_taken) in [(MAX_WORDS, true), (MAX_WORDS + 1, false)] {
            let mut out = Vec::new();
            WordSearch { words: vec![b"a"; count], ignore_case: false }.append(&mut out);
            assert_eq!(WordSearch::take(&mut ByteReader(&out)).is_ok(), is_taken);
        }
    }

    #[test]
    fn kinds_of_change_equal_their_number() {
        for (number, kind) in ChangeKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number);
        }
    }
}
