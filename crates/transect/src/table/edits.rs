//! What changed in a table since its [base](super::base) was built.
//!
//! An edited table shares the base with the table before, and has its own maps for what differs.
//! The maps are persistent: a copy takes constant time, and a change of a copy copies a few nodes.
//! So an edit costs what it changes, readers of the table before are not disturbed, and never wait.
//!
//! A changed directory gets new rows for all its entries, behind those of the base, because the
//! entries of a directory are neighbours. Their old rows belong to no directory any more.

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::fast::FixedState;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};
use transect_sys::{Attributes, FieldMask, FileId};

use super::columns::Chunk;
use super::directories::{Directory, UnreadReason};
use super::hard_links::{DirectoryShares, LinkedNames};
use super::row::{CHUNK, Row};
use crate::error::Error;

/// The number of rows from which on a chunk is not copied to append others, but followed by a new one.
const FULL_ENOUGH: usize = 512;

pub(super) type Map<K, V, H = NumberState> = HashTrieMapSync<K, V, H>;

/// Puts numbers that follow each other into the same node of a map: then an edit, whose rows and directories do, copies few
/// nodes. A node has 64 places, which are chosen by six bits of the hash, the lowest ones at the root.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberState;

/// See [`NumberState`].
#[derive(Debug, Default)]
pub(super) struct NumberHasher(u64);

impl BuildHasher for NumberState {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher(0)
    }
}

impl Hasher for NumberHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("BUG: a key is not a number of 32 bits");
    }

    fn write_u32(&mut self, number: u32) {
        let digit = |place: u32| u64::from(number >> (6 * place) & 63);
        // The highest bits come last: few tables have so many rows.
        self.0 = digit(3) | digit(2) << 6 | digit(1) << 12 | digit(0) << 18;
        self.0 |= u64::from(number >> 24) << 24;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The differences to a base. Directories are identified by their index; those that are new have
/// indices above those of the base.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    /// Whether the table was edited. Asked at each access, and faster than lookups in empty maps.
    pub(super) exist: bool,
    /// Rows behind those of the base. A chunk may be followed by another one before it is full.
    pub(super) chunks: Vec<Arc<Chunk>>,
    /// The number of rows that were appended since the base was built.
    pub(super) appended: u64,
    /// A sum was larger than what can be counted, so that it is not exact after something was subtracted.
    pub(super) saturated: bool,
    /// The attributes of rows that changed and stayed where they are.
    pub(super) attributes: Map<u32, Attributes>,
    /// Directories that changed or are new; with [`Directory::TOP`], the top.
    pub(super) directories: Map<u32, Directory>,
    /// The number of new directories.
    pub(super) new_directories: u32,
    /// The indices of directories by row, where the base does not know them; `None` for what was a directory.
    pub(super) directory_rows: Map<u32, Option<u32>>,
    /// The first rows of appended listings, and the directories that they belong to.
    pub(super) listings: RedBlackTreeMapSync<u32, u32>,
    pub(super) unread: Map<u32, Option<UnreadReason>>,
    /// Errors in and below directories.
    pub(super) errors: Map<u32, u64>,
    /// Names that became one of several, or no longer are.
    pub(super) names: Map<u32, Option<EditedName>>,
    /// Files with several names; `None` if a file has only one any more.
    pub(super) files: Map<FileId, Option<Arc<EditedFile>>, FixedState>,
    pub(super) shares: Map<u32, DirectoryShares>,
    /// By how much the number of names beyond the first of each file changed.
    pub(super) extra_names: i64,
}

/// A name of a file with several.
#[derive(Clone, Copy, Debug)]
pub(super) struct EditedName {
    pub(super) id: FileId,
    /// Nothing is charged to it.
    pub(super) is_extra: bool,
}

/// A file with several names.
#[derive(Debug)]
pub(super) struct EditedFile {
    /// The rows of its names; the charged one first.
    pub(super) rows: Vec<u32>,
    /// All its names are in the table.
    pub(super) all_here: bool,
    /// 0 if unknown.
    pub(super) link_count: u32,
}

impl EditedFile {
    pub(super) fn names(&self, id: FileId) -> LinkedNames<'_> {
        let &Self { ref rows, all_here, link_count } = self;
        LinkedNames { id, rows, all_here, link_count }
    }
}

impl Edits {
    #[inline]
    pub(super) fn attributes(&self, row: Row) -> Option<&Attributes> {
        if self.exist { self.attributes.get(&row.0) } else { None }
    }

    /// Makes room for `count` rows behind `base_chunks` chunks, and returns the first.
    pub(super) fn next_rows(&mut self, base_chunks: usize, count: usize) -> Result<Row, Error> {
        let fits = |chunk: &Arc<Chunk>| chunk.len() < FULL_ENOUGH && chunk.len() + count <= CHUNK;
        if !self.chunks.last().is_some_and(fits) {
            self.chunks.push(Arc::default());
        }
        let last = self.chunks.len() - 1;
        let first = Row::new(base_chunks + last, self.chunks[last].len());
        let end = Row::new(base_chunks + last + count / CHUNK + 1, 0);
        first.filter(|_| end.is_some()).ok_or(Error::TooManyEntries)
    }

    /// Appends rows of a chunk.
    pub(super) fn push_rows(
        &mut self,
        columns: FieldMask,
        from: &Chunk,
        mut rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) {
        self.appended += rows.len() as u64;
        while rows.len() > 0 {
            let chunk = self.with_room();
            let room = CHUNK - chunk.len();
            chunk.push_rows(columns, from, rows.clone().take(room));
            rows.nth(room.min(rows.len()) - 1);
        }
    }

    /// Appends a new row.
    pub(super) fn push_new(&mut self, columns: FieldMask, name: &OsStr, attributes: &Attributes) {
        self.appended += 1;
        self.with_room().push(columns, name, attributes);
    }

    /// Returns the last chunk, which other tables may share, to append to it.
    fn with_room(&mut self) -> &mut Chunk {
        if self.chunks.last().is_none_or(|chunk| chunk.is_full()) {
            self.chunks.push(Arc::default());
        }
        Arc::make_mut(self.chunks.last_mut().expect("BUG: a chunk was just made"))
    }
}
