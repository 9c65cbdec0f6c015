//! The directories of a table: where their entries are, and what all below them comes to.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::{AddAssign, Range};

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FaultKind, FileType};

use super::columns::Rows;
use super::rank_bitmap::RankBitmap;
use super::row::Row;
use crate::sink::SkipReason;

/// What entries come to: those in and below a directory, itself included. Bytes that reach
/// [`u64::MAX`] stay there, and stand for that much or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtreeTotals {
    /// Regular files: names, not file ids.
    pub files: u32,
    /// Directories.
    pub directories: u32,
    /// Everything else.
    pub others: u32,
    /// Apparent sizes of everything that is not a directory, in bytes.
    pub apparent: u64,
    /// Allocated sizes of everything, directories included, in bytes.
    pub disk_usage: u64,
    /// [`SubtreeTotals::UNKNOWN`] until one is known: an `Option` would take twice the room.
    newest: i64,
}

impl SubtreeTotals {
    const UNKNOWN: i64 = i64::MIN;

    /// Returns the sums of one entry that is counted.
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

    /// Takes back bytes that were added. Of what reached the most that can be told nobody knows how
    /// much it was: it stays there.
    pub(super) fn subtract(&mut self, apparent: u64, allocated: u64) {
        for (sum, bytes) in [(&mut self.apparent, apparent), (&mut self.disk_usage, allocated)] {
            if *sum != u64::MAX {
                *sum -= bytes;
            }
        }
    }

    /// Returns whether any bytes have reached the most that can be told.
    pub(super) fn is_saturated(&self) -> bool {
        self.apparent == u64::MAX || self.disk_usage == u64::MAX
    }

    /// Returns how many entries there are.
    pub fn entries(&self) -> u64 {
        u64::from(self.files) + u64::from(self.directories) + u64::from(self.others)
    }

    /// Returns the newest time at which any content changed, in nanoseconds since 1970 UTC.
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

/// Why a directory was not read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadReason {
    /// It could not be opened, or its listing broke off.
    Failed(FaultKind),
    /// It was left out on purpose.
    Skipped(SkipReason),
    /// It lies below the greatest depth, it vanished, or the walk was stopped.
    Unvisited,
}

impl UnreadReason {
    /// Returns the word for it, as it is used in JSON: `denied`, `pseudo_file_system`, `not_read`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed(kind) => kind.as_str(),
            Self::Skipped(reason) => reason.as_str(),
            Self::Unvisited => "not_read",
        }
    }
}

/// One directory. Its number is its place among all of them in the order of their rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directory {
    /// Its own row.
    pub(super) row: u32,
    /// The number of the directory that holds it; [`Directory::TOP`] for a root.
    pub(super) parent: u32,
    /// The row of its first entry; [`Directory::UNREAD`] if it was not read.
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) totals: SubtreeTotals,
}

/// A directory as long as rows are not final: `row` is that in `own`, `parent` a number of the
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

    /// Returns the numbers of the rows of its entries.
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
    pub(super) fn lower_bound(&self, rows: &Rows, name: &OsStr) -> Option<Row> {
        let Range { mut start, mut end } = self.range();
        let last = end;
        while start < end {
            let middle = start + (end - start) / 2;
            let less = rows.name(Row(middle)).as_encoded_bytes() < name.as_encoded_bytes();
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

/// All directories, in the order of their rows.
#[derive(Debug)]
pub(super) struct Directories {
    pub(super) top: Directory,
    pub(super) all: Vec<Directory>,
    /// The rows of directories.
    pub(super) rows: RankBitmap,
    /// The first rows of those that have entries, and whose they are.
    pub(super) firsts: RankBitmap,
    pub(super) owners: Vec<u32>,
    /// Those that were not read, or not to their end, for another reason than that they were never
    /// reached.
    pub(super) unread: HashMap<u32, UnreadReason, FixedState>,
    /// Errors in and below those that have any.
    pub(super) errors: HashMap<u32, u64, FixedState>,
}

impl Directories {
    /// `all` are in the order of their `rows`, the number of a parent is its place among them.
    pub(super) fn new(
        top: Directory,
        all: Vec<Directory>,
        rows: RankBitmap,
        unread: HashMap<u32, UnreadReason, FixedState>,
    ) -> Self {
        let begin = || {
            let places = (0..).zip(&all).chain([(Directory::TOP, &top)]);
            places.filter(|(_, directory)| !directory.range().is_empty())
        };
        let last = begin().map(|(_, directory)| directory.first + 1).max().unwrap_or(0);
        let mut firsts = RankBitmap::with_limit(last as usize);
        for (_, directory) in begin() {
            firsts.insert(directory.first);
        }
        let firsts = firsts.indexed();
        let mut owners = vec![0; begin().count()];
        for (place, directory) in begin() {
            owners[firsts.rank(directory.first) as usize] = place;
        }
        Self { top, all, rows, firsts, owners, unread, errors: HashMap::default() }
    }

    /// Returns the places of all directories, each after the one that holds it; those in one in the
    /// order of their names, each followed by all that is below it.
    pub(super) fn preorder(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.all.len());
        let mut waiting: Vec<u32> = self.subdirectories(&self.top).rev().collect();
        while let Some(place) = waiting.pop() {
            order.push(place);
            waiting.extend(self.subdirectories(&self.all[place as usize]).rev());
        }
        order
    }

    /// Returns the places of the directories in one: they are neighbours, as their rows are in
    /// one range.
    fn subdirectories(&self, directory: &Directory) -> Range<u32> {
        let Range { start, end } = directory.range();
        self.rows.rank(start)..self.rows.rank(end)
    }

    /// Returns the number of the directory that has this row.
    #[inline]
    pub(super) fn number(&self, row: Row) -> Option<u32> {
        self.rows.index_of(row.0).map(|number| number as u32)
    }

    #[inline]
    pub(super) fn get(&self, row: Row) -> Option<&Directory> {
        self.rows.index_of(row.0).map(|number| &self.all[number])
    }

    /// Returns the number of the directory that holds an entry; [`Directory::TOP`] for a root.
    #[inline]
    pub(super) fn parent_of(&self, row: Row) -> u32 {
        // The last directory whose entries begin at this row or before it.
        let begun = self.firsts.rank(row.0 + 1) as usize;
        self.owners[begun - 1]
    }

    pub(super) fn parent_row(&self, row: Row) -> Option<Row> {
        match self.parent_of(row) {
            Directory::TOP => None,
            number => Some(Row(self.all[number as usize].row)),
        }
    }

    pub(super) fn unread_reason(&self, row: Row) -> Option<UnreadReason> {
        let Some(number) = self.number(row) else {
            return Some(UnreadReason::Unvisited);
        };
        let unvisited = self.all[number as usize].first == Directory::UNREAD;
        self.unread.get(&number).copied().or(unvisited.then_some(UnreadReason::Unvisited))
    }

    pub(super) fn errors(&self, row: Row) -> u64 {
        self.number(row).and_then(|number| self.errors.get(&number)).copied().unwrap_or(0)
    }
}
