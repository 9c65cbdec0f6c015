//! The directories of hits.

use crate::read::column::ColumnReader;
use crate::read::error::{ReadError, damaged};
use crate::read::{ReadAt, Snapshot};
use crate::schema::{Column, MAX_DIR_BYTES};

/// Reads the paths of the directories of rows, forwards.
pub(super) struct DirectoryReader<'s> {
    column: ColumnReader<'s>,
    /// The first row of the page that was read last.
    page: Option<u64>,
    /// The row behind the one whose directory is `path`.
    next: u64,
    path: Vec<u8>,
}

impl<'s> DirectoryReader<'s> {
    pub(super) fn new<S: ReadAt>(snapshot: &'s Snapshot<S>) -> Self {
        Self { column: snapshot.column(Column::Dir), page: None, next: 0, path: Vec::new() }
    }

    /// Returns the path of the directory of a row, which is not before the last one.
    pub(super) fn path(&mut self, row: u64) -> Result<&[u8], ReadError> {
        let page = self.column.page_of(row)?;
        if self.page.replace(page.page_begin()) != Some(page.page_begin()) {
            self.next = page.page_begin();
            self.path.clear();
        }
        if page.has_whole_paths() && self.next < row {
            self.path.clear();
            self.next = row;
        }
        while self.next <= row {
            let Some((shared, rest)) = page.path_rest(self.next) else {
                return damaged("paths are encoded as in no snapshot");
            };
            if shared > self.path.len() as u64 {
                return damaged("a path shares more than the one before has");
            }
            self.path.truncate(shared as usize);
            // Otherwise, few bytes could stand for many long paths.
            if self.path.len() + rest.len() > MAX_DIR_BYTES {
                return damaged("a path is longer than any of a snapshot");
            }
            self.path.extend_from_slice(rest);
            self.next += 1;
        }
        Ok(&self.path)
    }
}

/// Returns whether a path in the column `dir` is that of the directory: not shortened, and without characters that can
/// stand for bytes that are not UTF-8.
pub(super) fn is_exact(path: &[u8]) -> bool {
    path.len() + 4 <= MAX_DIR_BYTES
        && (path.is_ascii() || memchr::memmem::find(path, "\u{fffd}".as_bytes()).is_none())
}
