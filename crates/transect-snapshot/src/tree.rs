//! Trees that a diff reads in tree order: snapshots, and tables of trees just read.

use std::collections::HashMap;

use transect::table::{Row, Table, TableBuilder, TreeOrder, UnreadReason};
use transect::{Attributes, Error, FieldMask, FileType, ScanOptions};
use transect_sys::host::{host_name, now};

use crate::digest::Digest;
use crate::metadata::{FileSystem, Metadata, Scope};
use crate::read::footer::Footer;
use crate::read::{CommonRows, ReadAt, ReadError, RowReader, Snapshot, StoredTotals, advance_both};

/// A tree that was just read.
#[derive(Debug)]
pub struct LiveTree {
    table: Table,
    metadata: Metadata,
}

impl LiveTree {
    /// Reads a tree with these attributes, and with the metadata that its snapshot needs. Errors inside the tree are in
    /// the table's diagnostics. The paths of a snapshot are absolute, so its roots should be.
    ///
    /// # Errors
    /// Those of [`Table::read_with`].
    pub fn read(options: ScanOptions, fields: FieldMask) -> Result<Self, Error> {
        let mut scope = Scope::default();
        (scope.one_file_system, scope.pseudo) =
            (options.same_file_system, options.pseudo_file_systems);
        (scope.follow, scope.filtered) = (options.follow_links, options.is_filtered());
        let builder = TableBuilder::new(fields);
        let started = now();
        let (sink, outcome) = options.plan()?.run(|| builder.sink())?.split();
        let table = sink.into_table()?.require_root()?;
        let mut metadata = Metadata::of_walk(&table, &outcome);
        (metadata.started, metadata.ended) = (Some(started), Some(now()));
        (metadata.scope, metadata.host) = (Some(scope), host_name());
        Ok(Self { table, metadata })
    }

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

/// A tree that a diff can read: a [`Snapshot`] or a [`LiveTree`].
#[derive(Clone, Copy)]
pub struct Tree<'t>(Kind<'t>);

#[derive(Clone, Copy)]
enum Kind<'t> {
    Stored(&'t dyn ReadAt, &'t Footer),
    Live(&'t LiveTree),
}

impl<'t, S: ReadAt> From<&'t Snapshot<S>> for Tree<'t> {
    fn from(snapshot: &'t Snapshot<S>) -> Self {
        Self(Kind::Stored(&snapshot.source, &snapshot.footer))
    }
}

impl<'t> From<&'t LiveTree> for Tree<'t> {
    fn from(tree: &'t LiveTree) -> Self {
        Self(Kind::Live(tree))
    }
}

impl<'t> Tree<'t> {
    /// Returns a reader of all entries.
    pub(crate) fn rows(self) -> TreeRows<'t> {
        match self.0 {
            Kind::Stored(source, footer) => {
                TreeRows::Stored(RowReader::new(source, &footer.groups, 0, footer.rows))
            }
            Kind::Live(tree) => TreeRows::Live(tree.table.in_tree_order()),
        }
    }

    /// Returns a reader of an entry, and of everything below it.
    pub(crate) fn rows_of(self, at: Position) -> TreeRows<'t> {
        let mut rows = self.rows();
        rows.restart(at);
        rows
    }

    /// Returns whether there is exactly one root.
    pub(crate) fn has_one_root(self) -> Result<bool, ReadError> {
        let mut rows = self.rows();
        Ok(rows.advance(true)? && !rows.advance(false)?)
    }

    /// Returns the file systems of the roots.
    pub(crate) fn file_systems(self) -> &'t [FileSystem] {
        match self.0 {
            Kind::Stored(_, footer) => &footer.metadata.file_systems,
            Kind::Live(tree) => &tree.metadata.file_systems,
        }
    }
}

/// Identifies an entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// Its row, and the number of rows with those below it.
    Stored(u64, u64),
    Live(Row),
}

/// Entries in tree order: a directory before its entries, siblings sorted by the bytes of their names.
pub(crate) enum TreeRows<'t> {
    Stored(RowReader<'t>),
    Live(TreeOrder<'t>),
}

impl TreeRows<'_> {
    /// Begins again with another entry, and everything below it.
    pub(crate) fn restart(&mut self, at: Position) {
        match (self, at) {
            (Self::Stored(rows), Position::Stored(row, count)) => {
                rows.restart(row, row.saturating_add(count));
            }
            (Self::Live(rows), Position::Live(row)) => {
                *rows = rows.table().in_tree_order_from(vec![row]);
            }
            _ => unreachable!("BUG: an entry of another tree"),
        }
    }

    /// Goes to the next entry, and returns whether there is one. Unless it `enters`, skips everything below the current
    /// one.
    pub(crate) fn advance(&mut self, enters: bool) -> Result<bool, ReadError> {
        match self {
            Self::Stored(rows) => rows.advance(enters),
            Self::Live(rows) => Ok(rows.advance(enters)),
        }
    }

    /// Goes to the next entries of two readers whose current entries have the same name: to those in them if
    /// they are directories and are entered. Entries in which nothing differs may be skipped. Returns which
    /// readers have one.
    pub(crate) fn advance_both(
        &mut self,
        other: &mut TreeRows<'_>,
        common: &mut CommonRows,
        enters: bool,
    ) -> Result<(bool, bool), ReadError> {
        match (self, other) {
            (Self::Stored(a), TreeRows::Stored(b)) => advance_both(a, b, common, enters),
            (a, b) => Ok((a.advance(enters)?, b.advance(enters)?)),
        }
    }

    pub(crate) fn position(&self) -> Position {
        match self {
            Self::Stored(rows) => Position::Stored(rows.row(), rows.entries()),
            Self::Live(rows) => Position::Live(rows.row()),
        }
    }

    /// Returns the number of steps from the root, or from the first entry.
    pub(crate) fn depth(&self) -> u32 {
        match self {
            Self::Stored(rows) => rows.depth(),
            Self::Live(rows) => rows.depth() as u32,
        }
    }

    /// Returns the name; of a root, its path.
    pub(crate) fn name(&self) -> &[u8] {
        match self {
            Self::Stored(rows) => rows.name(),
            Self::Live(rows) => rows.table().name(rows.row()).as_encoded_bytes(),
        }
    }

    pub(crate) fn file_type(&self) -> FileType {
        match self {
            Self::Stored(rows) => rows.file_type(),
            Self::Live(rows) => rows.table().file_type(rows.row()),
        }
    }

    pub(crate) fn attributes_of(&self, fields: FieldMask) -> Attributes {
        match self {
            Self::Stored(rows) => rows.attributes_of(fields),
            Self::Live(rows) => {
                let mut attributes = rows.table().attributes(rows.row());
                attributes.retain(fields);
                attributes
            }
        }
    }

    pub(crate) fn totals(&self) -> Option<StoredTotals> {
        match self {
            Self::Stored(rows) => rows.totals(),
            Self::Live(rows) => (self.file_type() == FileType::Directory)
                .then(|| StoredTotals::of(rows.table(), rows.row())),
        }
    }

    /// Returns the allocated bytes in and below a directory; 0 for anything else.
    pub(crate) fn total_allocated(&self) -> u64 {
        match self {
            Self::Stored(rows) => rows.total_allocated().unwrap_or(0),
            Self::Live(_) => self.totals().map_or(0, |totals| totals.allocated),
        }
    }

    /// Returns the digest of a directory, if it is stored.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Stored(rows) => rows.digest(),
            Self::Live(_) => None,
        }
    }

    /// Returns why a directory was not read, or not completely.
    pub(crate) fn unread(&self) -> Option<&'static str> {
        match self {
            Self::Stored(rows) => rows.unread(),
            Self::Live(rows) => rows.table().unread_reason(rows.row()).map(UnreadReason::as_str),
        }
    }
}

/// Returns which device of `a` is which of `b`: numbers may change when the machine starts again.
pub(crate) fn device_map(a: &[FileSystem], b: &[FileSystem]) -> HashMap<u64, u64> {
    let same = |of: &FileSystem| b.iter().find(|other| other.identity == of.identity);
    a.iter().filter_map(|of| Some((of.device, same(of)?.device))).collect()
}
