//! The tree as a table: one row an entry, one column an attribute.
//!
//! ```text
//!  row   name    type       size  …          directory   first  count   sums of all below
//!  0:0   /usr    directory  4096       ──►       0        0:1     3      files, bytes, newest
//!  0:1   bin     directory   …         ──►       1        …       …
//!  0:2   lib     directory   …         ──►       2        …       …
//!  0:3   notes   file        17
//! ```
//!
//! The entries of a directory are neighbours, sorted by the bytes of their names. A directory knows
//! its own row and where its entries begin; the other way round, from an entry to its directory,
//! goes by counting the directories that begin before it (`rank_bitmap.rs`): no row holds a number of its
//! parent.
//!
//! **Rows have no order that means anything:** they lie as the threads found them. Whoever walks
//! from the [roots](Table::roots) by [`Table::children`] meets everything in the order of names,
//! whatever the schedule was.
//!
//! **Sums** are those of all entries in and below a directory, every file once in the whole table:
//! a file with several names is charged to the first of them, in the order in which a walk by
//! names would meet their directories (`hard_links.rs`). Sums of directories beside each other can
//! therefore be added. What a directory shares with others is told apart: [`Table::shared`].
//!
//! **While it is being filled** an [`PartialTable`] shows the directories that are known, as a table.
//!
//! ```
//! use transect::{FieldMask, ScanOptions};
//! use transect::table::TableBuilder;
//!
//! let builder = TableBuilder::new(FieldMask::SIZE | FieldMask::ALLOCATED);
//! let outcome = ScanOptions::new(["src"]).plan()?.run(|| builder.sink())?;
//! let table = outcome.sink.into_table()?;
//! for root in table.roots() {
//!     println!("{:?}: {} files", table.path(root), table.totals(root).files);
//! }
//! # Ok::<(), transect::Error>(())
//! ```

mod age;
mod build;
mod columns;
mod directories;
mod directory_buffer;
mod finish;
mod hard_links;
mod importer;
mod partial;
mod query;
mod rank_bitmap;
mod row;
mod selection;
mod size_column;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use transect_sys::{Attributes, FieldMask, FileType};

use crate::path;
use crate::sink::Diagnostics;

pub use age::Age;
pub use build::{TableBuilder, TableSink};
pub use directories::{Children, SubtreeTotals, UnreadReason};
pub use importer::TableImporter;
pub use partial::PartialTable;
pub use query::Subtree;
pub use row::Row;
pub use selection::SelectionTotals;

use columns::Rows;
use directories::{Directories, Directory};
use hard_links::HardLinkIndex;

/// What a walk found, as columns.
#[derive(Debug)]
pub struct Table {
    rows: Rows,
    directories: Directories,
    shared: HardLinkIndex,
    /// In an outline, what of each directory has no rows.
    unlisted: Vec<SubtreeTotals>,
    entries: u64,
    diagnostics: Diagnostics,
}

impl Table {
    /// Returns how many entries there are, roots and directories included.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Returns which attributes have a column.
    pub fn columns(&self) -> FieldMask {
        self.rows.columns()
    }

    /// Returns the errors, and the counts of what is not in the table.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Iterates over the roots, sorted by their paths.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + use<> {
        self.directories.top.children()
    }

    /// Returns the sums of all roots together.
    pub fn grand_total(&self) -> SubtreeTotals {
        self.directories.top.totals
    }

    /// Returns the name of an entry; of a root, the path as it was given.
    ///
    /// # Panics
    /// All that take a row: if it is that of another table.
    #[inline]
    pub fn name(&self, row: Row) -> &OsStr {
        self.rows.name(row)
    }

    /// Returns the type of an entry.
    #[inline]
    pub fn file_type(&self, row: Row) -> FileType {
        let (chunk, index) = self.rows.locate(row);
        chunk.file_type(index)
    }

    /// Returns all that is known of an entry itself, in the columns that there are.
    pub fn attributes(&self, row: Row) -> Attributes {
        let (chunk, index) = self.rows.locate(row);
        chunk.attributes(self.columns(), index)
    }

    /// Returns the apparent size of an entry itself.
    #[inline]
    pub fn size(&self, row: Row) -> Option<u64> {
        let (chunk, index) = self.rows.locate(row);
        chunk.size(self.columns(), index)
    }

    /// Returns the allocated size of an entry itself.
    #[inline]
    pub fn allocated(&self, row: Row) -> Option<u64> {
        let (chunk, index) = self.rows.locate(row);
        chunk.allocated(self.columns(), index)
    }

    /// Returns the time of the last change of an entry's content, in nanoseconds since 1970 UTC.
    #[inline]
    pub fn mtime(&self, row: Row) -> Option<i64> {
        let (chunk, index) = self.rows.locate(row);
        chunk.mtime(self.columns(), index)
    }

    /// Iterates over the entries of a directory, sorted by the bytes of their names; over nothing
    /// if it is none, or was not read.
    pub fn children(&self, row: Row) -> Children {
        self.directories.get(row).map(Directory::children).unwrap_or_default()
    }

    /// Returns the entry of a directory that has this name.
    pub fn child(&self, row: Row, name: &OsStr) -> Option<Row> {
        let dir = self.directories.get(row)?;
        dir.lower_bound(&self.rows, name).filter(|&found| self.name(found) == name)
    }

    /// Returns the directory that holds an entry; a root has none.
    pub fn parent(&self, row: Row) -> Option<Row> {
        self.directories.parent_row(row)
    }

    /// Returns the path of an entry: its root as it was given, then the names below it.
    pub fn path(&self, row: Row) -> PathBuf {
        let way: Vec<Row> = std::iter::successors(Some(row), |&row| self.parent(row)).collect();
        let mut path = OsString::new();
        way.into_iter().rev().for_each(|row| path::push_name(&mut path, self.name(row)));
        PathBuf::from(path)
    }

    /// Returns how many steps an entry lies below its root.
    pub fn depth(&self, row: Row) -> usize {
        std::iter::successors(self.parent(row), |&row| self.parent(row)).count()
    }

    /// Returns the sums of all that is in and below an entry. For what is no directory that is
    /// the entry itself: nothing but its name, if its bytes are charged to another one.
    pub fn totals(&self, row: Row) -> SubtreeTotals {
        if let Some(dir) = self.directories.get(row) {
            return dir.totals;
        }
        let mut totals = SubtreeTotals::of_entry(&self.attributes(row));
        if self.shared.is_charged_elsewhere(row) {
            (totals.apparent, totals.disk_usage) = (0, 0);
        }
        totals
    }

    /// Returns what those entries of a directory come to that have no rows: in an
    /// [outline](PartialTable::table) all but directories, in a finished table none.
    pub fn unlisted(&self, row: Row) -> SubtreeTotals {
        let place = self.directories.number(row);
        place.and_then(|place| self.unlisted.get(place as usize)).copied().unwrap_or_default()
    }

    /// Returns how many names there are beyond the first of each file.
    pub fn hard_links(&self) -> u64 {
        self.shared.extra_name_count()
    }

    /// Returns the allocated bytes in and below an entry, every file once, to whichever name it is
    /// charged: what `du` says of this entry alone.
    pub fn standalone_usage(&self, row: Row) -> u64 {
        match self.directories.number(row) {
            Some(place) => {
                self.totals(row).disk_usage.saturating_add(self.shared.charged_elsewhere(place))
            }
            None => self.allocated(row).unwrap_or(0),
        }
    }

    /// Returns the allocated bytes in and below an entry that would stay occupied if it were
    /// removed with all that is below it: files that have further names elsewhere, in the table or
    /// not.
    pub fn shared(&self, row: Row) -> u64 {
        match self.directories.number(row) {
            Some(place) => self.shared.shared(place),
            None if self.shared.has_extra_names(row) => self.allocated(row).unwrap_or(0),
            None => 0,
        }
    }

    /// Returns the allocated bytes that would be free if an entry were removed with all that is
    /// below it. Of several entries: [`Table::selection_totals`].
    pub fn exclusive(&self, row: Row) -> u64 {
        self.standalone_usage(row).saturating_sub(self.shared(row))
    }

    /// Returns why a directory was not read, or not to its end; `None` if it was, and of what is no
    /// directory.
    pub fn unread_reason(&self, row: Row) -> Option<UnreadReason> {
        let directory = self.file_type(row) == FileType::Directory;
        directory.then(|| self.directories.unread_reason(row)).flatten()
    }

    /// Returns how many errors there were in and below an entry. If there are any, it may hold more
    /// than the sums say.
    pub fn errors(&self, row: Row) -> u64 {
        self.directories.errors(row)
    }
}
