//! Trees that a diff reads in tree order: snapshots, and tables of trees just read.

use std::collections::HashMap;
use std::hash::Hash;

use transect::table::{Row, Table, TreeOrder, UnreadReason};
use transect::{Attributes, FieldMask, FileType};

use crate::digest::Digest;
use crate::metadata::{FileSystem, Metadata};
use crate::read::{CommonRows, ReadAt, ReadError, RowReader, Snapshot, StoredTotals, advance_both};

/// A tree that a diff can read.
pub trait Tree {
    /// Identifies an entry.
    type Position: Copy + Eq + Hash;
    /// Reads entries.
    type Rows<'t>: TreeRows<Position = Self::Position>
    where
        Self: 't;

    /// Returns a reader of all entries.
    fn rows(&self) -> Self::Rows<'_>;

    /// Returns a reader of an entry, and of everything below it.
    fn rows_of(&self, at: Self::Position) -> Self::Rows<'_>;

    /// Makes a reader one of another entry, and of everything below it.
    fn restart<'t>(&'t self, rows: &mut Self::Rows<'t>, at: Self::Position) {
        *rows = self.rows_of(at);
    }

    /// Returns the number of roots, as far as it matters: 0, 1 or more.
    ///
    /// # Errors
    /// The tree cannot be read.
    fn roots(&self) -> Result<usize, ReadError>;

    /// Returns the file systems of the roots.
    fn file_systems(&self) -> &[FileSystem];
}

/// Entries in tree order: a directory before its entries, siblings sorted by the bytes of their names.
pub trait TreeRows {
    /// Identifies an entry.
    type Position;

    /// Goes to the next entry, and returns whether there is one.
    ///
    /// # Errors
    /// The tree cannot be read.
    fn advance(&mut self) -> Result<bool, ReadError>;

    /// Goes to the next entry that is not below the current one.
    ///
    /// # Errors
    /// The tree cannot be read.
    fn advance_past(&mut self) -> Result<bool, ReadError>;

    /// Goes to the next entries of two readers whose current entries have the same name: to those in them if
    /// they are directories and are entered. Entries in which nothing differs may be skipped. Returns which
    /// readers have one.
    ///
    /// # Errors
    /// A tree cannot be read.
    #[doc(hidden)]
    fn advance_both<B: TreeRows>(
        &mut self,
        other: &mut B,
        _: &mut CommonRows,
        enters: bool,
    ) -> Result<(bool, bool), ReadError>
    where
        Self: Sized,
    {
        advance_each(self, other, enters)
    }

    /// As [`TreeRows::advance_both`], as the second reader beside that of a snapshot.
    ///
    /// # Errors
    /// A tree cannot be read.
    #[doc(hidden)]
    fn advance_beside(
        &mut self,
        first: &mut RowReader<'_>,
        _: &mut CommonRows,
        enters: bool,
    ) -> Result<(bool, bool), ReadError>
    where
        Self: Sized,
    {
        advance_each(first, self, enters)
    }

    /// Returns which entry this is.
    fn position(&self) -> Self::Position;

    /// Returns the number of steps from the root.
    fn depth(&self) -> u32;

    /// Returns the name; of a root, its path.
    fn name(&self) -> &[u8];

    /// Returns the type.
    fn file_type(&self) -> FileType;

    /// Returns the attributes.
    fn attributes(&self) -> Attributes {
        self.attributes_of(FieldMask::all())
    }

    /// Returns some of the attributes.
    fn attributes_of(&self, fields: FieldMask) -> Attributes;

    /// Returns the totals of a directory.
    fn totals(&self) -> Option<StoredTotals>;

    /// Returns the allocated bytes in and below a directory; 0 for anything else.
    fn total_allocated(&self) -> u64;

    /// Returns the digest of a directory, if there is one.
    fn digest(&self) -> Option<Digest>;

    /// Returns why a directory was not read, or not completely.
    fn unread(&self) -> Option<&str>;
}

/// Goes to the next entry of each reader.
fn advance_each(
    a: &mut impl TreeRows,
    b: &mut impl TreeRows,
    enters: bool,
) -> Result<(bool, bool), ReadError> {
    match enters {
        true => Ok((a.advance()?, b.advance()?)),
        false => Ok((a.advance_past()?, b.advance_past()?)),
    }
}

impl<S: ReadAt> Tree for Snapshot<S> {
    type Position = (u64, u64);
    type Rows<'t>
        = RowReader<'t>
    where
        Self: 't;

    fn rows(&self) -> RowReader<'_> {
        Self::rows(self)
    }

    fn rows_of(&self, (row, rows): (u64, u64)) -> RowReader<'_> {
        Self::rows_of(self, row, rows)
    }

    fn restart<'t>(&'t self, rows: &mut RowReader<'t>, (row, count): (u64, u64)) {
        rows.restart(row, row.saturating_add(count).min(self.len()));
    }

    fn roots(&self) -> Result<usize, ReadError> {
        let mut rows = Self::rows(self);
        let mut roots = 0;
        let mut more = rows.advance()?;
        while more && roots < 2 {
            roots += 1;
            more = rows.advance_past()?;
        }
        Ok(roots)
    }

    fn file_systems(&self) -> &[FileSystem] {
        &self.metadata().file_systems
    }
}

impl TreeRows for RowReader<'_> {
    type Position = (u64, u64);

    fn advance(&mut self) -> Result<bool, ReadError> {
        Self::advance(self)
    }

    fn advance_past(&mut self) -> Result<bool, ReadError> {
        Self::advance_past(self)
    }

    fn advance_both<B: TreeRows>(
        &mut self,
        other: &mut B,
        common: &mut CommonRows,
        enters: bool,
    ) -> Result<(bool, bool), ReadError> {
        other.advance_beside(self, common, enters)
    }

    fn advance_beside(
        &mut self,
        first: &mut RowReader<'_>,
        common: &mut CommonRows,
        enters: bool,
    ) -> Result<(bool, bool), ReadError> {
        advance_both(first, self, common, enters)
    }

    fn position(&self) -> (u64, u64) {
        (self.row(), self.entries())
    }

    fn depth(&self) -> u32 {
        Self::depth(self)
    }

    fn name(&self) -> &[u8] {
        Self::name(self)
    }

    fn file_type(&self) -> FileType {
        Self::file_type(self)
    }

    fn attributes_of(&self, fields: FieldMask) -> Attributes {
        Self::attributes_of(self, fields)
    }

    fn totals(&self) -> Option<StoredTotals> {
        Self::totals(self)
    }

    fn total_allocated(&self) -> u64 {
        Self::total_allocated(self).unwrap_or(0)
    }

    fn digest(&self) -> Option<Digest> {
        Self::digest(self)
    }

    fn unread(&self) -> Option<&str> {
        Self::unread(self)
    }
}

/// A tree that was just read.
#[derive(Debug)]
pub struct LiveTree {
    table: Table,
    metadata: Metadata,
}

impl LiveTree {
    /// Returns a tree; `metadata` has its file systems.
    pub fn new(table: Table, metadata: Metadata) -> Self {
        Self { table, metadata }
    }

    /// Returns the table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl Tree for LiveTree {
    type Position = Row;
    type Rows<'t> = TableRows<'t>;

    fn rows(&self) -> TableRows<'_> {
        TableRows(self.table.in_tree_order())
    }

    fn rows_of(&self, at: Row) -> TableRows<'_> {
        TableRows(self.table.in_tree_order_from(vec![at]))
    }

    fn roots(&self) -> Result<usize, ReadError> {
        Ok(self.table.roots().len().min(2))
    }

    fn file_systems(&self) -> &[FileSystem] {
        &self.metadata.file_systems
    }
}

/// The entries of a table in tree order.
#[derive(Debug)]
pub struct TableRows<'t>(TreeOrder<'t>);

impl TableRows<'_> {
    fn table(&self) -> &Table {
        self.0.table()
    }

    fn row(&self) -> Row {
        self.0.row()
    }
}

impl TreeRows for TableRows<'_> {
    type Position = Row;

    fn advance(&mut self) -> Result<bool, ReadError> {
        Ok(self.0.advance(true))
    }

    fn advance_past(&mut self) -> Result<bool, ReadError> {
        Ok(self.0.advance(false))
    }

    fn position(&self) -> Row {
        self.row()
    }

    fn depth(&self) -> u32 {
        self.0.depth() as u32
    }

    fn name(&self) -> &[u8] {
        self.table().name(self.row()).as_encoded_bytes()
    }

    fn file_type(&self) -> FileType {
        self.table().file_type(self.row())
    }

    fn attributes_of(&self, fields: FieldMask) -> Attributes {
        let mut attributes = self.table().attributes(self.row());
        attributes.retain(fields);
        attributes
    }

    fn totals(&self) -> Option<StoredTotals> {
        let is_directory = self.file_type() == FileType::Directory;
        is_directory.then(|| StoredTotals::of(self.table(), self.row()))
    }

    fn total_allocated(&self) -> u64 {
        self.totals().map_or(0, |totals| totals.allocated)
    }

    fn digest(&self) -> Option<Digest> {
        None
    }

    fn unread(&self) -> Option<&str> {
        self.table().unread_reason(self.row()).map(UnreadReason::as_str)
    }
}

/// Returns which device of `a` is which of `b`: numbers may change when the machine starts again.
pub(crate) fn device_map(a: &[FileSystem], b: &[FileSystem]) -> HashMap<u64, u64> {
    let same = |of: &FileSystem| b.iter().find(|other| other.identity == of.identity);
    a.iter().filter_map(|of| Some((of.device, same(of)?.device))).collect()
}
