//! The exact path of a directory, from the names above it.

use crate::read::RowReader;
use crate::read::error::{ReadError, damaged};

/// Finds the directories of rows, forwards: steps over everything that does not contain them.
pub(super) struct Chain<'s> {
    rows: RowReader<'s>,
    started: bool,
    /// The directories that are open: the row behind each, and the length of its path.
    open: Vec<(u64, usize)>,
    path: Vec<u8>,
}

impl<'s> Chain<'s> {
    pub(super) fn new(rows: RowReader<'s>) -> Self {
        Self { rows, started: false, open: Vec::new(), path: Vec::new() }
    }

    /// Returns the path of the directory of a row, which is not before the last one; empty for a root.
    pub(super) fn directory(&mut self, row: u64) -> Result<&[u8], ReadError> {
        if !self.started {
            self.started = true;
            self.advance(false)?;
        }
        while self.rows.row() < row {
            let (first, entries) = (self.rows.row(), self.rows.entries());
            let contains = row - first < entries;
            if contains {
                self.enter(first + entries);
            }
            self.advance(!contains)?;
        }
        if self.rows.row() != row {
            return damaged("a row is missing");
        }
        Ok(&self.path)
    }

    /// Reads the next row, or the one behind everything below the current one.
    fn advance(&mut self, past: bool) -> Result<(), ReadError> {
        if !self.rows.advance_to_next(!past)? {
            return damaged("a row is missing");
        }
        while self.open.pop_if(|&mut (end, _)| end <= self.rows.row()).is_some() {}
        self.path.truncate(self.open.last().map_or(0, |&(_, length)| length));
        Ok(())
    }

    fn enter(&mut self, end: u64) {
        if self.path.last().is_some_and(|&last| !std::path::is_separator(last.into())) {
            self.path.push(std::path::MAIN_SEPARATOR as u8);
        }
        self.path.extend_from_slice(self.rows.name());
        self.open.push((end, self.path.len()));
    }
}
