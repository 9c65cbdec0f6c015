//! Reads snapshots. A file is not trusted: nothing is reserved for the numbers that it claims, and rows
//! that are not a tree are an error.
//!
//! ```text
//! footer: schema, groups, metadata ─► RowReader ─► columns, page by page ─► decode
//! ```

pub(crate) mod column;
mod common;
pub(crate) mod decode;
mod entries;
pub(crate) mod error;
pub(crate) mod footer;
mod import;
mod largest;
pub(crate) mod linked_rows;
mod page;
mod page_bounds;
mod partial;
pub(crate) mod rows;
pub(crate) mod thrift;
mod values;
pub(crate) mod words;

use std::fs::File;
use std::path::Path;

use transect_sys::input::open_regular;

use crate::metadata::Metadata;
use crate::schema::Column;

pub use entries::Entries;
pub use error::ReadError;
pub use largest::{LargeDirectory, LargestDirectories, LargestLimits, StoredMeasure};
pub use rows::{RowReader, StoredTotals};
pub use transect_sys::ReadAt;

pub(crate) use common::{CommonRows, advance_both};

use column::ColumnReader;
use footer::Footer;

/// A snapshot that is open for reading.
#[derive(Debug)]
pub struct Snapshot<S = File> {
    pub(crate) source: S,
    pub(crate) footer: Footer,
}

impl Snapshot {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, is not a snapshot, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::new(open_regular(path)?)
    }

    /// Returns whether a file begins or ends like a Parquet file, so that damage at one end does not make it a file of
    /// another kind. A file that cannot be read does not.
    pub fn is_likely(path: &Path) -> bool {
        open_regular(path).is_ok_and(|file| footer::has_mark(&file))
    }
}

impl<S: ReadAt> Snapshot<S> {
    /// Reads the description of a snapshot.
    ///
    /// # Errors
    /// The source cannot be read, is not a snapshot, or is damaged.
    pub fn new(source: S) -> Result<Self, ReadError> {
        let footer = footer::read(&source)?;
        Ok(Self { source, footer })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.footer.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.footer.rows == 0
    }

    /// Returns the circumstances of the snapshot.
    pub fn metadata(&self) -> &Metadata {
        &self.footer.metadata
    }

    /// Returns a reader of all rows.
    pub fn rows(&self) -> RowReader<'_> {
        RowReader::new(&self.source, &self.footer.groups, 0, self.footer.rows)
    }

    /// Returns a reader of some rows: those of an entry, and of everything below it.
    pub fn rows_of(&self, first: u64, rows: u64) -> RowReader<'_> {
        let end = first.saturating_add(rows).min(self.footer.rows);
        RowReader::new(&self.source, &self.footer.groups, first, end)
    }

    pub(crate) fn column(&self, column: Column) -> ColumnReader<'_> {
        ColumnReader::new(&self.source, &self.footer.groups, column)
    }
}
