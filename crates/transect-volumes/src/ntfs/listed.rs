//! Names that the index of their directory does not have.
//!
//! A name is stored twice: in the record of its file, and in the index of its directory. Drivers look it up in the index. If a
//! removal is interrupted, the record still has it, and no driver shows it.
//!
//! The index of a small directory is in its record, so that comparing costs no reads: a sum over its names with one over
//! those in the records of files. Indexes outside the table are not read.
//!
//! Sources: Linux, `fs/ntfs3/ntfs.h` (`struct INDEX_ROOT`, `INDEX_HDR`, `NTFS_DE`); `layout.h` of ntfs-3g.

use std::collections::{HashMap, HashSet};

use super::super::source::Fields;
use super::facts::{FileName, INDEX_NAME};
use super::file_table::FileTable;
use super::record::{FIRST_USER, Record, Reference, kind};

/// The bytes of `$INDEX_ROOT` before the header that places are counted from.
const HEADER: usize = 16;
/// A bit of the header: there are index blocks, too.
const HAS_BLOCKS: u8 = 1;
/// The bytes of an entry before its key, which is a `$FILE_NAME`.
const BEFORE_KEY: usize = 16;
/// A bit of an entry: it ends the index, and has no key.
const LAST: u16 = 2;

/// The index of a directory, if all of it is in a record.
#[derive(Clone, Copy)]
pub(super) struct SmallIndex {
    pub(super) directory: Reference,
    /// The number of the record.
    at: u32,
    /// Of [`FileName::mark`] of all names.
    pub(super) sum: u64,
}

impl SmallIndex {
    /// Sums up an index that was found in a record. `None` if it is not all of the index, or damaged: then nothing is known.
    pub(super) fn new(directory: Reference, at: u32, index: &[u8]) -> Option<Self> {
        let mut sum = 0_u64;
        each_name(index, |file, name| sum = sum.wrapping_add(name.mark(file)))?;
        Some(Self { directory, at, sum })
    }

    /// Returns the names, read once more.
    fn names(&self, table: &FileTable<'_>) -> Option<Listed> {
        let mut bytes = vec![0; table.boot.record_size as usize];
        table.read(self.at, &mut bytes).ok()?;
        let record = Record::restore(&mut bytes).ok()??;
        let index = record.attributes().filter_map(Result::ok).find_map(|it| {
            let is_it = it.kind() == kind::INDEX_ROOT && it.name() == INDEX_NAME;
            it.value().filter(|_| is_it)
        })?;
        let mut names = Listed::new();
        each_name(index, |file, name| {
            let mut bytes = Vec::new();
            if name.append_to(&mut bytes).is_ok() {
                names.insert((file, bytes));
            }
        })?;
        Some(names)
    }
}

/// The records and names that an index has.
pub(super) type Listed = HashSet<(u32, Vec<u8>)>;

/// Returns the names in indexes, by the number of the directory.
pub(super) fn listed(
    table: &FileTable<'_>,
    indexes: impl Iterator<Item = (u32, SmallIndex)>,
) -> HashMap<u32, Listed> {
    indexes.filter_map(|(number, index)| Some((number, index.names(table)?))).collect()
}

/// Calls `each` for the names in an index that are shown, with the records of their files. `None` if it has blocks, or is
/// damaged.
fn each_name<'a>(index: &'a [u8], mut each: impl FnMut(u32, FileName<'a>)) -> Option<()> {
    let header = Fields(index.get(HEADER..)?);
    if header.u8(12) & HAS_BLOCKS != 0 {
        return None;
    }
    let (begin, end) = (header.u32(0) as usize, header.u32(4) as usize);
    let mut rest = header.0.get(begin..end)?;
    loop {
        let fields = Fields(rest);
        if rest.len() < BEFORE_KEY {
            return None;
        }
        if fields.u16(12) & LAST != 0 {
            return Some(());
        }
        let (length, key) = (usize::from(fields.u16(8)), usize::from(fields.u16(10)));
        let name = FileName(rest.get(BEFORE_KEY..BEFORE_KEY + key)?);
        if length < BEFORE_KEY {
            return None;
        }
        let file = u32::try_from(Reference::new(fields.u64(0)).record).ok()?;
        if file >= FIRST_USER && name.is_shown() {
            each(file, name);
        }
        rest = rest.get(length..)?;
    }
}
