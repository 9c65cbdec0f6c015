//! Fills a table from a source other than a walk: the caller adds entries one by one, a directory
//! before its content.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::{Attributes, FieldMask};

use super::build::{TableBuilder, TableSink};
use super::directories::UnreadReason;
use super::directory_buffer::DirectoryBuffer;
use super::{Row, Table};
use crate::error::{Error, Operation, ScanError};
use crate::sink::{Diagnostics, SkipReason};

/// The maximum number of path bytes kept with errors. In a deep tree every path is long, so a limit
/// on the number of errors is not enough.
const MAX_ERROR_PATH_BYTES: usize = 16 << 20;

/// A table being filled by its caller.
#[derive(Debug)]
pub struct TableImporter {
    sink: TableSink,
    /// The directories entered and not left; the first is the top.
    open: Vec<OpenDirectory>,
    /// Unused buffers, kept for their memory.
    free: Vec<DirectoryBuffer>,
    /// The number of path bytes that may still be kept with errors.
    error_path_bytes_left: usize,
}

#[derive(Debug)]
struct OpenDirectory {
    number: u32,
    buffer: DirectoryBuffer,
    /// The length of its path.
    path: usize,
    /// Its entries are not recorded.
    unread: bool,
}

impl TableImporter {
    /// Returns an importer for a table with these columns, besides names, types and both sizes.
    pub fn new(columns: FieldMask) -> Self {
        let mut sink = TableBuilder::new(columns).sink();
        let number = sink.begin(None, OsStr::new(""), &Attributes::default(), false);
        let top =
            OpenDirectory { number, buffer: DirectoryBuffer::default(), path: 0, unread: false };
        Self {
            sink,
            open: vec![top],
            free: Vec::new(),
            error_path_bytes_left: MAX_ERROR_PATH_BYTES,
        }
    }

    /// Returns the number of directories entered and not left.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Enters a directory in the current one; a root is named by its path.
    pub fn enter(&mut self, name: &OsStr, own: &Attributes) {
        let &mut OpenDirectory { number, path, .. } = self.current();
        let path = path + name.len() + 1;
        self.add_entry(name, own);
        let number = self.sink.begin(Some(number), name, own, true);
        let buffer = self.free.pop().unwrap_or_default();
        self.open.push(OpenDirectory { number, buffer, path, unread: false });
    }

    /// Adds an entry to the current directory.
    pub fn add_entry(&mut self, name: &OsStr, attributes: &Attributes) {
        let columns = self.sink.rows.columns();
        self.current().buffer.push(columns, name, attributes, false);
    }

    /// Leaves the current directory.
    ///
    /// # Errors
    /// The name, if two of its entries have the same.
    pub fn leave(&mut self) -> Result<(), PathBuf> {
        let left = self.open.pop().expect("BUG: the top is not left");
        self.flush(left)
    }

    /// Marks the current directory as not read on purpose.
    pub fn skip_directory(&mut self, reason: SkipReason) {
        self.mark_unread(UnreadReason::Skipped(reason));
        self.sink.diagnostics.add(reason);
    }

    /// Counts an entry of the current directory that was left out.
    pub fn count_skipped(&mut self, reason: SkipReason) {
        self.sink.diagnostics.add(reason);
    }

    /// Marks the current directory as not read, or not completely, because of an error. The path is
    /// kept with the error while there is room.
    pub fn fail_directory(&mut self, error: io::Error) {
        let &mut OpenDirectory { number, path: length, .. } = self.current();
        let is_kept = length <= self.error_path_bytes_left && self.sink.diagnostics.has_room();
        let open = if is_kept { &self.open[1..] } else { &[] };
        let path = open.iter().map(|open| self.name(open.number)).collect::<PathBuf>();
        let error = ScanError::new(Operation::ReadDirectory, path, self.depth() as u32 - 1, error);
        self.sink.unread.push((number, UnreadReason::Failed(error.kind())));
        self.sink.errors.push(number);
        if is_kept {
            self.error_path_bytes_left -= length;
            self.sink.diagnostics.add(error);
        } else {
            self.sink.diagnostics.count_error(&error);
        }
    }

    /// Marks the current directory as not read, or not completely. Counts no error. Entries are dropped
    /// unless reading [failed](UnreadReason::Failed) on the way.
    pub fn mark_unread(&mut self, why: UnreadReason) {
        let open = self.current();
        let number = open.number;
        open.unread = !matches!(why, UnreadReason::Failed(_));
        if why != UnreadReason::Unvisited {
            self.sink.unread.push((number, why));
        }
    }

    /// Counts errors of the current directory, without their causes. Each takes 4 bytes.
    pub fn count_errors(&mut self, errors: u64) {
        let number = self.current().number;
        self.sink.errors.extend((0..errors).map(|_| number));
    }

    /// Replaces the diagnostics.
    pub fn set_diagnostics(&mut self, diagnostics: Diagnostics) {
        self.sink.diagnostics = diagnostics;
    }

    /// Makes the table.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] if there are more entries than a table can hold.
    pub fn finish(mut self) -> Result<Table, Error> {
        while let Some(open) = self.open.pop() {
            // The caller names the roots, and may name one twice.
            let _ = self.flush(open);
        }
        self.sink.into_table()
    }

    fn current(&mut self) -> &mut OpenDirectory {
        self.open.last_mut().expect("BUG: the top is not left")
    }

    fn name(&self, number: u32) -> &Path {
        let row = self.sink.entered[number as usize].directory.row;
        Path::new(self.sink.own_rows.name(Row(row)))
    }

    fn flush(&mut self, left: OpenDirectory) -> Result<(), PathBuf> {
        let OpenDirectory { number, mut buffer, unread, .. } = left;
        let Self { sink, free, .. } = self;
        if unread || sink.too_large {
            return Ok(());
        }
        let Some((first, count, totals)) = buffer.flush_into(&mut sink.rows, &mut sink.links)
        else {
            sink.too_large = true;
            return Ok(());
        };
        free.push(buffer);
        let directory = &mut sink.entered[number as usize].directory;
        (directory.first, directory.count) = (first.0, count);
        directory.totals += totals;
        let name = |number: u32| sink.rows.name(Row(number));
        let twice = (first.0..first.0 + count).skip(1).find(|&row| name(row) == name(row - 1));
        twice.map_or(Ok(()), |row| Err(PathBuf::from(name(row))))
    }
}
