//! The change journal: which files changed, when and why, with paths from the file table.
//!
//! A record has a name, and a reference to its directory. The directory's path is what it is now. If it is
//! gone, the journal itself has its name and where it was, unless that is too long ago. A stream that was copied from a volume
//! has no file table: all paths come from the journal.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{MAIN_SEPARATOR, PathBuf};

use transect_sys::{FileType, ReadAt, name_from_bytes};

use super::super::error::unsupported;
use super::super::index::VolumeIndex;
use super::super::threads::Effort;
use super::change_record::{ChangeRecord, Found, PAGE, Records, begins_page};
use super::facts::append_name;
use super::file_table::FileTable;
use super::join::join;
use super::record::{Damaged, Reference, bit, kind};
use super::records::{self, ROOT, Sequences};
use super::runs::Runs;
use super::stream::{Stream, Wanted};

/// The record of the directory `$Extend`.
const EXTEND: u32 = 11;
const JOURNAL_NAME: &[u8] = b"$UsnJrnl";
/// The name of the top directory in itself, in UTF-16.
const TOP_NAME: &[u8; 2] = b".\0";
/// `$J`.
const STREAM_NAME: &[u8; 4] = b"$\0J\0";
/// The most directories that are gone above one another.
const MAX_GONE: usize = 4096;
const PIECE: u64 = 1 << 20;

/// A record of a change journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalChange {
    /// The place in the journal (update sequence number).
    pub usn: i64,
    /// Nanoseconds since 1970 UTC; `None` if it is not stored.
    pub time: Option<i64>,
    /// The path below the top of the volume, `.` for the top; `None` if the directory is not known any more.
    pub path: Option<PathBuf>,
    /// The last part of the path.
    pub name: PathBuf,
    /// What happened, as `USN_REASON_*`. See [`reasons`].
    pub reasons: u32,
    /// The type of the entry.
    pub file_type: FileType,
    /// The number of the file's record in the file table.
    pub inode: u64,
}

/// The numbers of records in a change journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalCounts {
    /// Records that were shown.
    pub changes: u64,
    /// Records without names: those of version 4, which belong to others.
    pub nameless: u64,
    /// Records that cannot be read. If the length of one is impossible, what follows on its page of 4 KiB is left out, too.
    pub damaged: u64,
}

/// Words for the bits of `USN_REASON_*`.
const REASONS: &[(u32, &str)] = &[
    (0x100, "created"),
    (0x200, "deleted"),
    (0x1000, "renamed from"),
    (0x2000, "renamed to"),
    (0x1, "content overwritten"),
    (0x2, "content extended"),
    (0x4, "content truncated"),
    (0x10, "stream overwritten"),
    (0x20, "stream extended"),
    (0x40, "stream truncated"),
    (0x20_0000, "stream added or removed"),
    (0x1_0000, "hard link added or removed"),
    (0x8000, "attributes or times changed"),
    (0x800, "permissions changed"),
    (0x400, "extended attributes changed"),
    (0x10_0000, "reparse point changed"),
    (0x8_0000, "object id changed"),
    (0x2_0000, "compression changed"),
    (0x4_0000, "encryption changed"),
    (0x80_0000, "integrity changed"),
    (0x4000, "indexing changed"),
    (0x40_0000, "changed in a transaction"),
    (0x8000_0000, "closed"),
];

/// Returns words for the bits of `USN_REASON_*`; bits without a word are left out.
pub fn reasons(bits: u32) -> impl Iterator<Item = &'static str> {
    REASONS.iter().filter(move |(bit, _)| bits & bit != 0).map(|&(_, word)| word)
}

/// Reads the change journal of a volume. Ends early if `show` wants it.
pub(in super::super) fn read(
    source: &dyn ReadAt,
    effort: Effort,
    show: impl FnMut(JournalChange) -> ControlFlow<()>,
) -> io::Result<JournalCounts> {
    let table = FileTable::find(source)?;
    let (index, sequences) = join(&table, records::read(&table, effort));
    let none = || unsupported("it has no change journal");
    let record = journal_record(&index).ok_or_else(none)?;
    let wanted =
        Wanted { boot: &table.boot, what: "change journal", kind: kind::DATA, name: STREAM_NAME };
    let journal = table.find_in(record, &wanted)?.ok_or_else(none)?;
    if !journal.runs.is_small() {
        return Err(wanted.damaged());
    }
    show_records(source, &journal, Some((&index, &sequences)), show)
}

/// Reads a stream `$J` that was copied from a volume, with the holes at its beginning or without. `None` if it is not one.
pub(in super::super) fn read_stream(
    source: &dyn ReadAt,
    show: impl FnMut(JournalChange) -> ControlFlow<()>,
) -> io::Result<Option<JournalCounts>> {
    let size = source.size()?;
    let Some(first) = first_page(source, size)? else { return Ok(None) };
    let (page, clusters) = (PAGE as u64, size.div_ceil(PAGE as u64));
    let mut runs = Runs::new(PAGE as u32, clusters);
    let mut at = first;
    while at < size {
        let end = (at + PIECE).min(clusters * page);
        runs.append_in_place(at / page..end / page);
        at = end.max(source.next_data(end)? / page * page);
    }
    let journal = Stream { runs, size, initialized: size };
    show_records(source, &journal, None, show).map(Some)
}

/// Returns the first page of a stream that is not zeros; `None` if no journal can begin with it.
fn first_page(source: &dyn ReadAt, size: u64) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < size {
        at = source.next_data(at)? / PAGE as u64 * PAGE as u64;
        bytes.resize(size.saturating_sub(at).min(PIECE) as usize, 0);
        source.read_exact_at(at, &mut bytes)?;
        for (offset, page) in (at..).step_by(PAGE).zip(bytes.chunks(PAGE)) {
            if page.iter().any(|&byte| byte != 0) {
                return Ok(begins_page(page, offset).then_some(offset));
            }
        }
        at += PIECE;
    }
    Ok(None)
}

/// Shows the records of a journal, after their directories that are gone were found.
fn show_records(
    source: &dyn ReadAt,
    journal: &Stream,
    table: Option<(&VolumeIndex, &Sequences)>,
    mut show: impl FnMut(JournalChange) -> ControlFlow<()>,
) -> io::Result<JournalCounts> {
    let mut paths = Paths { table, gone: HashMap::new() };
    each_record(source, journal, |found| {
        if let Ok(Found::Change(change)) = found {
            paths.note(&change);
        }
        ControlFlow::Continue(())
    })?;
    let mut counts = JournalCounts::default();
    each_record(source, journal, |found| {
        let change = found.and_then(|found| match found {
            Found::Change(change) => paths.complete(&change).map(Some),
            Found::Nameless => Ok(None),
        });
        match change {
            Ok(Some(change)) => {
                counts.changes += 1;
                return show(change);
            }
            Ok(None) => counts.nameless += 1,
            Err(_) => counts.damaged += 1,
        }
        ControlFlow::Continue(())
    })?;
    Ok(counts)
}

fn journal_record(index: &VolumeIndex) -> Option<u32> {
    let mut at = index.begin(index.directory(EXTEND)?);
    std::iter::from_fn(|| index.next(&mut at))
        .find_map(|(name, record)| (name == JOURNAL_NAME).then_some(record))
}

/// Calls `each` for the records of a journal. Its beginning is a hole: old records are dropped there.
fn each_record(
    source: &dyn ReadAt,
    journal: &Stream,
    mut each: impl FnMut(Result<Found<'_>, Damaged>) -> ControlFlow<()>,
) -> io::Result<()> {
    let end = journal.initialized.min(journal.size).min(journal.runs.bytes());
    let mut bytes = Vec::new();
    let mut done = 0;
    for stored in journal.runs.stored() {
        // Clusters may be smaller than pages.
        let page = PAGE as u64;
        let mut at = (stored.start / page * page).max(done);
        let stored_end = stored.end.next_multiple_of(page).min(end);
        while at < stored_end {
            let length = (stored_end - at).min(PIECE);
            bytes.resize(length as usize, 0);
            journal.runs.read(source, at, &mut bytes)?;
            for found in bytes.chunks(PAGE).flat_map(Records) {
                if each(found).is_break() {
                    return Ok(());
                }
            }
            at += length;
        }
        done = done.max(at);
    }
    Ok(())
}

impl ChangeRecord<'_> {
    /// Returns whether it is of the top directory, which has its only name in itself.
    fn is_of_top(&self) -> bool {
        Reference::new(self.file).record == u64::from(ROOT)
            && self.directory == self.file
            && self.name == TOP_NAME
    }
}

struct Paths<'a> {
    /// The file table, if it is there.
    table: Option<(&'a VolumeIndex, &'a Sequences)>,
    /// Directories that do not exist any more: the last name of each, and the directory it was in.
    gone: HashMap<u64, (Vec<u8>, u64)>,
}

impl<'a> Paths<'a> {
    /// Records the name of a directory that is gone.
    fn note(&mut self, change: &ChangeRecord<'_>) {
        let mut name = Vec::new();
        if change.attributes & bit::DIRECTORY != 0
            && self.directory(change.file).is_none()
            && append_name(change.name, &mut name).is_ok()
        {
            self.gone.insert(change.file, (name, change.directory));
        }
    }

    /// Returns the number of a directory that still exists. Without a file table, only the top is known to.
    fn directory(&self, reference: u64) -> Option<u32> {
        let reference = Reference::new(reference);
        let record = u32::try_from(reference.record).ok()?;
        let Some((index, sequences)) = self.table else { return (record == ROOT).then_some(0) };
        let is_current = sequences.is_current(&index.inodes, reference);
        index.directory(record).filter(|_| is_current)
    }

    /// Returns the names that lead from the top to a directory that still exists.
    fn steps_to(&self, directory: u32) -> Option<Vec<&'a [u8]>> {
        self.table.map_or_else(|| Some(Vec::new()), |(index, _)| index.steps_to(directory))
    }

    fn complete(&self, change: &ChangeRecord<'_>) -> Result<JournalChange, Damaged> {
        let mut name = Vec::new();
        let path = if change.is_of_top() {
            name.push(b'.');
            Some(name.clone())
        } else {
            append_name(change.name, &mut name)?;
            self.path_of(change.directory).map(|path| [path.as_slice(), &name].concat())
        };
        let is_directory = change.attributes & bit::DIRECTORY != 0;
        Ok(JournalChange {
            usn: change.usn,
            time: change.time,
            path: path.map(|path| name_from_bytes(path).into()),
            name: name_from_bytes(name).into(),
            reasons: change.reasons,
            // The record has no tag, which tells links from other reparse points.
            file_type: match (is_directory, change.attributes & bit::REPARSE_POINT != 0) {
                (_, true) => FileType::Unknown,
                (true, false) => FileType::Directory,
                (false, false) => FileType::File,
            },
            inode: Reference::new(change.file).record,
        })
    }

    /// Returns the path of a directory below the top, with a separator at the end unless it is empty.
    fn path_of(&self, directory: u64) -> Option<Vec<u8>> {
        let (mut at, mut gone) = (directory, Vec::new());
        let existing = loop {
            if let Some(directory) = self.directory(at) {
                break directory;
            }
            let (name, above) = self.gone.get(&at).filter(|_| gone.len() < MAX_GONE)?;
            gone.push(name.as_slice());
            at = *above;
        };
        let mut path = Vec::new();
        for name in self.steps_to(existing)?.into_iter().chain(gone.into_iter().rev()) {
            path.extend_from_slice(name);
            path.push(MAIN_SEPARATOR as u8);
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use crate::count_changes;

    /// Returns two pages with records of all versions.
    fn pages() -> Vec<u8> {
        let mut bytes = vec![0; 8192];
        for (number, version) in [2, 3, 4, 2, 4, 3].into_iter().enumerate() {
            let at = number / 3 * 4096 + number % 3 * 80;
            let (usn, name) = if version == 2 { (24, 60) } else { (40, 76) };
            bytes[at] = 80;
            bytes[at + 4] = version;
            bytes[at + 8] = 40 + number as u8;
            bytes[at + usn..at + usn + 2].copy_from_slice(&(at as u16).to_le_bytes());
            bytes[at + name - 4..at + name + 1].copy_from_slice(&[2, 0, name as u8, 0, b'x']);
        }
        bytes
    }

    #[test]
    fn journal_copy_of_any_bytes_read_to_an_end() {
        let pages = pages();
        assert_eq!(count_changes(&pages).unwrap(), 6);
        // A generator of pseudo-random numbers (xorshift64).
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let mut counts = [0; 8];
        for _ in 0..20_000 {
            let mut bytes = pages.clone();
            for _ in 0..=random(4) {
                let at = random(2) * 4096 + random(240);
                bytes[at] = [0, 0xFF, 80, random(256) as u8][random(4)];
            }
            bytes.truncate(8192 - random(2) * random(8192));
            if let Ok(records) = count_changes(&bytes) {
                counts[records as usize] += 1;
            }
        }
        assert!(counts[1..7].iter().all(|&count| count > 0), "{counts:?}");
        assert_eq!(counts[7], 0, "{counts:?}");
    }
}
