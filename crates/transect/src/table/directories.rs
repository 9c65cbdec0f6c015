//! The directories of a table: their entries, and the totals of their subtrees.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::{AddAssign, Range};

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FaultKind, FileType};

use super::rank_bitmap::RankBitmap;
use super::row::Row;
use crate::sink::SkipReason;

/// The totals of the entries in and below a directory, itself included. Bytes saturate:
/// [`u64::MAX`] means that much or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SubtreeTotals {
    /// Regular files: names, not file ids.
    pub files: u32,
    /// Directories.
    pub directories: u32,
    /// Everything else.
    pub others: u32,
    /// Apparent sizes of everything but directories, in bytes.
    pub apparent: u64,
    /// Allocated sizes of everything, directories included, in bytes.
    pub disk_usage: u64,
    /// [`SubtreeTotals::UNKNOWN`] until one is known: an `Option` would take twice the memory.
    newest: i64,
}

impl SubtreeTotals {
    const UNKNOWN: i64 = i64::MIN;

    pub(super) fn of_entry(attributes: &Attributes) -> Self {
        let file_type = attributes.file_type();
        let count = |is: bool| u32::from(is);
        let directory = file_type == FileType::Directory;
        Self {
            files: count(file_type == FileType::File),
            directories: count(directory),
            others: count(file_type != FileType::File && !directory),
            apparent: attributes.size().filter(|_| !directory).unwrap_or(0),
            disk_usage: attributes.allocated().unwrap_or(0),
            newest: attributes.mtime().unwrap_or(Self::UNKNOWN),
        }
    }

    /// Subtracts totals that were added, except the newest change.
    pub(super) fn remove(&mut self, lost: &Self) {
        self.files -= lost.files;
        self.directories -= lost.directories;
        self.others -= lost.others;
        self.subtract(lost.apparent, lost.disk_usage);
    }

    /// Adds bytes, or subtracts bytes that were added.
    pub(super) fn change_bytes(&mut self, apparent: i128, disk_usage: i128) {
        for (sum, bytes) in [(&mut self.apparent, apparent), (&mut self.disk_usage, disk_usage)] {
            *sum = u64::try_from(i128::from(*sum) + bytes).unwrap_or(u64::MAX);
        }
    }

    pub(super) fn set_newest(&mut self, newest: Option<i64>) {
        self.newest = newest.unwrap_or(Self::UNKNOWN);
    }

    /// Subtracts bytes that were added. A saturated sum stays: its true value is unknown.
    pub(super) fn subtract(&mut self, apparent: u64, allocated: u64) {
        for (sum, bytes) in [(&mut self.apparent, apparent), (&mut self.disk_usage, allocated)] {
            if *sum != u64::MAX {
                *sum -= bytes;
            }
        }
    }

    pub(super) fn is_saturated(&self) -> bool {
        self.apparent == u64::MAX || self.disk_usage == u64::MAX
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        u64::from(self.files) + u64::from(self.directories) + u64::from(self.others)
    }

    /// Returns totals with these numbers of files, directories and other entries, these sizes in bytes, apparent and
    /// allocated, and this newest change of any content, in nanoseconds since 1970 UTC.
    #[doc(hidden)]
    pub fn of_numbers(
        [files, directories, others]: [u32; 3],
        [apparent, disk_usage]: [u64; 2],
        newest: Option<i64>,
    ) -> Self {
        let newest = newest.unwrap_or(Self::UNKNOWN);
        Self { files, directories, others, apparent, disk_usage, newest }
    }

    /// Returns the newest change of any content, in nanoseconds since 1970 UTC.
    pub fn newest(&self) -> Option<i64> {
        (self.newest != Self::UNKNOWN).then_some(self.newest)
    }
}

impl Default for SubtreeTotals {
    fn default() -> Self {
        Self {
            files: 0,
            directories: 0,
            others: 0,
            apparent: 0,
            disk_usage: 0,
            newest: Self::UNKNOWN,
        }
    }
}

impl AddAssign for SubtreeTotals {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.directories += other.directories;
        self.others += other.others;
        self.apparent = self.apparent.saturating_add(other.apparent);
        self.disk_usage = self.disk_usage.saturating_add(other.disk_usage);
        self.newest = self.newest.max(other.newest);
    }
}

/// Why a directory was not read, or not completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadReason {
    /// It could not be opened, or its listing failed.
    Failed(FaultKind),
    /// It was skipped on purpose.
    Skipped(SkipReason),
    /// It lies below the maximum depth, has vanished, or the walk was stopped.
    Unvisited,
}

impl UnreadReason {
    /// Returns the name used in JSON: `denied`, `pseudo_file_system`, `not_read`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed(kind) => kind.as_str(),
            Self::Skipped(reason) => reason.as_str(),
            Self::Unvisited => "not_read",
        }
    }
}

/// One directory. It is identified by its index in the order of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directory {
    /// Its own row.
    pub(super) row: u32,
    /// The index of the directory that holds it; [`Directory::TOP`] for a root.
    pub(super) parent: u32,
    /// The row of its first entry; [`Directory::UNREAD`] if it was not read.
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) totals: SubtreeTotals,
}

/// A directory before its row is known: `row` is that in `own_rows`, and `parent` a number in the
/// order in which directories were entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnteredDirectory {
    pub(super) number: u32,
    pub(super) directory: Directory,
}

impl Directory {
    /// Stands for the nameless directory above the roots, which has no row.
    pub(super) const TOP: u32 = u32::MAX;
    pub(super) const UNREAD: u32 = u32::MAX;
    /// The parent of a directory that an edit took out of the tree, until it gets another place.
    pub(super) const DETACHED: u32 = u32::MAX - 1;

    /// Returns the rows of its entries.
    #[inline]
    pub(super) fn range(&self) -> Range<u32> {
        match self.first {
            Self::UNREAD => 0..0,
            first => first..first + self.count,
        }
    }

    pub(super) fn children(&self) -> Children {
        Children(self.range())
    }

    /// Returns the first of its entries whose name is not less than this one.
    pub(super) fn lower_bound<'n>(
        &self,
        name_of: impl Fn(Row) -> &'n OsStr,
        name: &OsStr,
    ) -> Option<Row> {
        let Range { mut start, mut end } = self.range();
        let last = end;
        while start < end {
            let middle = start + (end - start) / 2;
            let less = name_of(Row(middle)).as_encoded_bytes() < name.as_encoded_bytes();
            if less { start = middle + 1 } else { end = middle }
        }
        (start < last).then_some(Row(start))
    }
}

/// The entries of one directory.
#[derive(Clone, Debug, Default)]
pub struct Children(Range<u32>);

impl Iterator for Children {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        self.0.next().map(Row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Children {
    fn next_back(&mut self) -> Option<Row> {
        self.0.next_back().map(Row)
    }
}

impl ExactSizeIterator for Children {}

/// All directories, sorted by row.
#[derive(Debug)]
pub(super) struct Directories {
    pub(super) top: Directory,
    pub(super) all: Vec<Directory>,
    /// The rows of directories.
    pub(super) rows: RankBitmap,
    /// The first rows of directories with entries, and the index of the directory of each.
    pub(super) firsts: RankBitmap,
    pub(super) owners: Vec<u32>,
    /// Directories that were not read, or not completely, except those that were never reached.
    pub(super) unread: HashMap<u32, UnreadReason, FixedState>,
    /// Errors in and below the directories that have any.
    pub(super) errors: HashMap<u32, u64, FixedState>,
}

impl Directories {
    /// Indexes the directories. `all` is sorted like their `rows`; the parent of each is an index
    /// in `all`.
    pub(super) fn new(
        top: Directory,
        all: Vec<Directory>,
        rows: RankBitmap,
        unread: HashMap<u32, UnreadReason, FixedState>,
    ) -> Self {
        let begin = || {
            let indices = (0..).zip(&all).chain([(Directory::TOP, &top)]);
            indices.filter(|(_, directory)| !directory.range().is_empty())
        };
        let last = begin().map(|(_, directory)| directory.first + 1).max().unwrap_or(0);
        let mut firsts = RankBitmap::with_limit(last as usize);
        for (_, directory) in begin() {
            firsts.insert(directory.first);
        }
        let firsts = firsts.indexed();
        let mut owners = vec![0; begin().count()];
        for (index, directory) in begin() {
            owners[firsts.rank(directory.first) as usize] = index;
        }
        Self { top, all, rows, firsts, owners, unread, errors: HashMap::default() }
    }

    /// Returns the indices of all directories in preorder: each directory before those in it,
    /// siblings sorted by name.
    pub(super) fn preorder(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.all.len());
        let mut waiting: Vec<u32> = self.subdirectories(&self.top).rev().collect();
        while let Some(index) = waiting.pop() {
            order.push(index);
            waiting.extend(self.subdirectories(&self.all[index as usize]).rev());
        }
        order
    }

    /// Returns the indices of the directories in one; they are neighbours, as their rows are.
    fn subdirectories(&self, directory: &Directory) -> Range<u32> {
        let Range { start, end } = directory.range();
        self.rows.rank(start)..self.rows.rank(end)
    }

    #[inline]
    pub(super) fn index(&self, row: Row) -> Option<u32> {
        self.rows.index_of(row.0).map(|index| index as u32)
    }

    /// Returns the directory with an index; the top for [`Directory::TOP`].
    #[inline]
    pub(super) fn at(&self, index: u32) -> &Directory {
        self.all.get(index as usize).unwrap_or(&self.top)
    }

    /// Returns the index of the directory that holds an entry; [`Directory::TOP`] for a root.
    #[inline]
    pub(super) fn parent_of(&self, row: Row) -> u32 {
        // The last directory whose first entry is this row or one before it.
        let begun = self.firsts.rank(row.0 + 1) as usize;
        self.owners[begun - 1]
    }
}
