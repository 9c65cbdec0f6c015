//! The entries of a snapshot as a walk would deliver them.

use std::ffi::{OsStr, OsString};

use transect::internal::StoredRows;
use transect::{Attributes, FieldMask, FileType};
use transect_sys::{ReadAt, name_from_bytes};

use super::Snapshot;
use super::error::ReadError;
use super::rows::RowReader;

/// The entries of a snapshot in tree order, for [`ScanPlan::run_on`](transect::ScanPlan::run_on).
pub struct Entries<'s> {
    rows: RowReader<'s>,
    /// The name of the current entry.
    name: OsString,
}

impl<S: ReadAt> Snapshot<S> {
    /// Returns all entries, to be delivered to a sink. Only the columns that it wants are read.
    pub fn entries(&self) -> Entries<'_> {
        Entries { rows: self.rows(), name: OsString::new() }
    }
}

impl StoredRows for Entries<'_> {
    type Error = ReadError;

    fn advance(&mut self, enters: bool) -> Result<bool, ReadError> {
        let is_there = self.rows.advance(enters)?;
        if is_there {
            self.name = name_from_bytes(self.rows.name().to_vec());
        }
        Ok(is_there)
    }

    fn depth(&self) -> usize {
        self.rows.depth() as usize
    }

    fn name(&self) -> &OsStr {
        &self.name
    }

    fn attributes(&self, fields: FieldMask) -> Attributes {
        self.rows.attributes_of(fields)
    }

    fn is_empty_directory(&self) -> bool {
        self.rows.file_type() == FileType::Directory
            && self.rows.entries() == 1
            && self.rows.unread().is_none()
            && self.rows.errors().unwrap_or(0) == 0
    }
}
