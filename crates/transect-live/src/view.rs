//! What a reader gets of a shared tree.

use std::collections::HashMap;
use std::sync::Arc;

use transect::table::{Row, Table};

use crate::journal::Cursor;

/// The table of a tree at a moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// The table.
    pub table: Arc<Table>,
    /// The place of the table in the changes.
    pub cursor: Cursor,
    /// The entry that was asked for.
    pub row: Row,
    /// The directories above, in and below that entry which cannot be opened, with the number of the system's error. The table may
    /// have entries in them from before.
    pub closed: HashMap<Row, i32>,
    /// Whether the names, and attributes that were asked for, are current. After a gap, names are compared first.
    pub is_current: bool,
}

/// What a tree has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// All entries, the root included.
    pub entries: u64,
    /// Directories that are not watched although they were read.
    pub unwatched: u64,
    /// Errors in the tree: as a rule, directories that cannot be opened.
    pub errors: u64,
}

impl View {
    /// Returns whether everything that can be opened was read.
    pub(crate) fn is_complete(&self) -> bool {
        let Self { table, row, closed, .. } = self;
        let is_closed = table.ancestors(*row).any(|row| closed.contains_key(&row));
        !is_closed && table.errors(*row) == closed.len() as u64
    }
}
