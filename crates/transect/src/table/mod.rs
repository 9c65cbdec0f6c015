//! The tree as a table: one row per entry, one column per attribute.
//!
//! ```text
//!  row   name    type       size  …          directory   first  count   totals of the subtree
//!  0:0   /usr    directory  4096       ──►       0        0:1     3      files, bytes, newest
//!  0:1   bin     directory   …         ──►       1        …       …
//!  0:2   lib     directory   …         ──►       2        …       …
//!  0:3   notes   file        17
//! ```
//!
//! The entries of a directory are neighbours, sorted by the bytes of their names. A directory
//! stores its own row and the row of its first entry. Rows do not store their parent: the directory
//! of an entry is found by counting the directories whose entries begin before it, in constant time
//! (`rank_bitmap.rs`).
//!
//! **The order of rows has no meaning:** it depends on the schedule. Iterating from the
//! [roots](Table::roots) with [`Table::children`] visits everything in the order of names.
//!
//! **Totals** cover everything in and below a directory, and count each file once in the whole
//! table: a file with several names is charged to the first of them, in the order in which an
//! iteration by names meets their directories (`hard_links.rs`). So the totals of sibling
//! directories can be added. [`Table::shared`] returns what a directory shares with others.
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
mod base;
mod build;
mod column;
mod columns;
mod copy;
mod directories;
mod directory_buffer;
mod directory_edit;
mod edit;
mod edits;
mod finish;
mod hard_links;
mod importer;
mod lookup;
mod name_grams;
mod name_search;
mod packed;
mod partial;
mod query;
mod rank_bitmap;
mod row;
mod row_set;
mod selection;
mod subtree_edit;
mod tree_order;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{Attributes, FieldMask, FileType};

use crate::error::Error;
use crate::options::ScanOptions;
use crate::path;
use crate::sink::Diagnostics;

pub use age::Age;
pub use build::{TableBuilder, TableSink};
pub use directories::{Children, SubtreeTotals, UnreadReason};
pub use query::Subtree;
pub use row::Row;
pub use selection::SelectionTotals;
// For programs that change tables, show them while they are filled, or fill them from files.
#[doc(hidden)]
pub use {
    directory_edit::DirectoryId, directory_edit::EntryChange, directory_edit::Renumbering,
    directory_edit::TableEditor, importer::TableImporter, partial::PartialDirectory,
    partial::PartialTable, row_set::RowSet, subtree_edit::RemovedNames, tree_order::TreeOrder,
};

use base::Base;
use directories::Directory;
use edits::Edits;

/// The entries of a walk, as columns.
#[derive(Debug)]
pub struct Table {
    /// What the walk found.
    base: Arc<Base>,
    /// What changed since.
    edits: Edits,
    diagnostics: Arc<Diagnostics>,
}

impl Table {
    fn new(base: Base, diagnostics: Diagnostics) -> Self {
        let (base, diagnostics) = (Arc::new(base), Arc::new(diagnostics));
        Self { base, edits: Edits::default(), diagnostics }
    }

    /// Reads a tree with the default options. The table has both sizes and the time of the last
    /// change. For other columns or options, see [`TableBuilder`].
    ///
    /// ```
    /// use transect::table::Table;
    ///
    /// let table = Table::read("src")?;
    /// let root = table.roots().next().expect("the root was read");
    /// println!("{} files, {} bytes", table.totals(root).files, table.totals(root).apparent);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The root cannot be read, or there are too many entries. Errors inside the tree are in
    /// [`Table::diagnostics`].
    pub fn read(root: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::read_with(ScanOptions::new([root.into()]), FieldMask::MTIME)
    }

    /// Reads trees into a table with these columns, besides names, types and both sizes.
    ///
    /// # Errors
    /// Those of [`ScanOptions::plan`] and [`Table::read`]: one root that cannot be read, if no other
    /// can.
    pub fn read_with(options: ScanOptions, columns: FieldMask) -> Result<Self, Error> {
        let builder = TableBuilder::new(columns);
        options.plan()?.run(|| builder.sink())?.sink.into_table()?.require_root()
    }

    /// Returns the table, unless no root could be read.
    ///
    /// # Errors
    /// That of a root.
    #[doc(hidden)]
    pub fn require_root(mut self) -> Result<Self, Error> {
        let is_empty = self.is_empty();
        let errors = &mut Arc::make_mut(&mut self.diagnostics).kept_errors;
        // The only entries at depth 0 are the roots themselves.
        match errors.iter().position(|error| error.depth() == 0 && is_empty) {
            Some(index) => Err(Error::Root(errors.swap_remove(index))),
            None => Ok(self),
        }
    }

    /// Stores names and attributes in fewer bytes, for a table that is kept for long. Does nothing if the table is shared.
    #[doc(hidden)]
    pub fn pack(&mut self) {
        if let Some(base) = Arc::get_mut(&mut self.base) {
            base.rows.pack();
        }
    }

    /// Returns the number of entries, roots and directories included.
    pub fn len(&self) -> u64 {
        self.grand_total().entries()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the attributes that have a column.
    pub fn columns(&self) -> FieldMask {
        self.base.rows.columns()
    }

    /// Returns the errors, and counts of entries that are not in the table.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Iterates over the roots, sorted by path.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + use<> {
        self.directory_at(Directory::TOP).children()
    }

    /// Returns the totals of all roots together.
    pub fn grand_total(&self) -> SubtreeTotals {
        self.directory_at(Directory::TOP).totals
    }

    /// Returns the row with this [number](Row::number); `None` if the table has none.
    pub fn row(&self, number: u32) -> Option<Row> {
        Some(Row(number)).filter(|&row| self.contains(row))
    }

    /// Returns the name of an entry; of a root, the path as given.
    ///
    /// # Panics
    /// May panic if the row is from another table. So may every method that takes a row.
    #[inline]
    pub fn name(&self, row: Row) -> &OsStr {
        let (chunk, index) = self.locate(row);
        chunk.name(index)
    }

    /// Returns the type of an entry.
    #[inline]
    pub fn file_type(&self, row: Row) -> FileType {
        if let Some(edited) = self.edits.attributes(row) {
            return edited.file_type();
        }
        let (chunk, index) = self.locate(row);
        chunk.file_type(index)
    }

    /// Returns the attributes of an entry, as far as they are known and have columns.
    pub fn attributes(&self, row: Row) -> Attributes {
        if let Some(edited) = self.edits.attributes(row) {
            return *edited;
        }
        let (chunk, index) = self.locate(row);
        chunk.attributes(self.columns(), index)
    }

    /// Returns the apparent size of an entry itself.
    #[inline]
    pub fn size(&self, row: Row) -> Option<u64> {
        if let Some(edited) = self.edits.attributes(row) {
            return edited.size();
        }
        let (chunk, index) = self.locate(row);
        chunk.size(self.columns(), index)
    }

    /// Returns the allocated size of an entry itself.
    #[inline]
    pub fn allocated(&self, row: Row) -> Option<u64> {
        if let Some(edited) = self.edits.attributes(row) {
            return edited.allocated();
        }
        let (chunk, index) = self.locate(row);
        chunk.allocated(self.columns(), index)
    }

    /// Returns when the content of an entry last changed, in nanoseconds since 1970 UTC.
    #[inline]
    pub fn mtime(&self, row: Row) -> Option<i64> {
        if let Some(edited) = self.edits.attributes(row) {
            return edited.mtime();
        }
        let (chunk, index) = self.locate(row);
        chunk.mtime(self.columns(), index)
    }

    /// Iterates over the entries of a directory, sorted by the bytes of their names; over nothing
    /// if it is not a directory, or was not read.
    pub fn children(&self, row: Row) -> Children {
        self.directory(row).map(Directory::children).unwrap_or_default()
    }

    /// Returns the entry of a directory with this name.
    pub fn child(&self, row: Row, name: &OsStr) -> Option<Row> {
        let dir = self.directory(row)?;
        dir.lower_bound(|row| self.name(row), name).filter(|&found| self.name(found) == name)
    }

    /// Returns the directory that holds an entry; `None` for a root.
    pub fn parent(&self, row: Row) -> Option<Row> {
        match self.parent_of(row) {
            Directory::TOP => None,
            index => Some(Row(self.directory_at(index).row)),
        }
    }

    /// Iterates over an entry and the directories above it, up to its root.
    pub fn ancestors(&self, row: Row) -> impl Iterator<Item = Row> {
        std::iter::successors(Some(row), |&row| self.parent(row))
    }

    /// Returns the path of an entry: its root as given, then the names below it.
    pub fn path(&self, row: Row) -> PathBuf {
        let ancestors: Vec<Row> = self.ancestors(row).collect();
        let mut path = OsString::new();
        ancestors.into_iter().rev().for_each(|row| path::push_name(&mut path, self.name(row)));
        PathBuf::from(path)
    }

    /// Returns the number of steps from the root to an entry.
    pub fn depth(&self, row: Row) -> usize {
        self.ancestors(row).skip(1).count()
    }

    /// Returns the totals of an entry and everything below it. A file whose bytes are charged to
    /// another name counts as a file of 0 bytes.
    pub fn totals(&self, row: Row) -> SubtreeTotals {
        match self.directory(row) {
            Some(directory) => directory.totals,
            None => self.totals_of_leaf(row),
        }
    }

    /// Returns the totals of an entry that is not a directory.
    fn totals_of_leaf(&self, row: Row) -> SubtreeTotals {
        let mut totals = SubtreeTotals::of_entry(&self.attributes(row));
        if self.is_charged_elsewhere(row) {
            (totals.apparent, totals.disk_usage) = (0, 0);
        }
        totals
    }

    /// Returns the totals of the entries of a directory that have no rows: in a [partial
    /// table](PartialTable::table) all but directories, in a finished table none.
    #[doc(hidden)]
    pub fn unlisted(&self, row: Row) -> SubtreeTotals {
        let index = self.index(row);
        index.and_then(|index| self.base.unlisted.get(index as usize)).copied().unwrap_or_default()
    }

    /// Returns how many names a file has, in the table or not; `None` for a directory, or if that is not known.
    pub fn link_count(&self, row: Row) -> Option<u32> {
        if self.file_type(row) == FileType::Directory {
            return None;
        }
        match self.linked_id(row) {
            Some(id) => self.linked_file(id).map(|file| file.link_count).filter(|&it| it > 0),
            None => Some(1),
        }
    }

    /// Returns the number of names beyond the first of each file.
    pub fn hard_links(&self) -> u64 {
        self.base.shared.extra_name_count().wrapping_add_signed(self.edits.extra_names)
    }

    /// Returns the allocated bytes in and below an entry, each file once, whichever name it is
    /// charged to: what `du` prints for this entry alone.
    pub fn standalone_usage(&self, row: Row) -> u64 {
        match self.index(row) {
            Some(index) => {
                self.totals(row).disk_usage.saturating_add(self.shares(index).charged_elsewhere())
            }
            None => self.allocated(row).unwrap_or(0),
        }
    }

    /// Returns the allocated bytes in and below an entry that removing it would not free: those of
    /// files with more names elsewhere, in the table or not.
    pub fn shared(&self, row: Row) -> u64 {
        match self.index(row) {
            Some(index) => self.shares(index).shared(),
            None if self.has_extra_names(row) => self.allocated(row).unwrap_or(0),
            None => 0,
        }
    }

    /// Returns the allocated bytes that removing an entry would free, with everything below it. For
    /// several entries: [`Table::selection_totals`].
    pub fn exclusive(&self, row: Row) -> u64 {
        self.standalone_usage(row).saturating_sub(self.shared(row))
    }

    /// Returns why a directory was not read, or not completely; `None` if it was, or is not a
    /// directory.
    pub fn unread_reason(&self, row: Row) -> Option<UnreadReason> {
        let directory = self.file_type(row) == FileType::Directory;
        directory.then(|| self.why_unread(row)).flatten()
    }

    /// Returns the number of errors in and below an entry. With errors, it may hold more than its
    /// totals say.
    pub fn errors(&self, row: Row) -> u64 {
        self.index(row).map_or(0, |index| self.errors_at(index))
    }
}
