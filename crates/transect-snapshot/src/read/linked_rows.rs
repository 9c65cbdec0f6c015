//! Finds the names of files that may have others, without reading the rows between them.

use std::ops::Range;

use transect::FileType;
use transect_sys::ReadAt;

use crate::schema::Column;

use super::Snapshot;
use super::column::ColumnReader;
use super::error::ReadError;

/// Such names in a snapshot.
pub(crate) struct LinkedRows<'s> {
    types: ColumnReader<'s>,
    counts: ColumnReader<'s>,
    /// The rows among which all of them are.
    blocks: &'s [Range<u64>],
    /// Those from the row `first` to the row `end`.
    found: Vec<LinkedRow>,
    first: u64,
    end: u64,
}

/// A row of such a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedRow {
    pub(crate) row: u64,
    /// The number of names; 0 if unknown.
    pub(crate) count: u64,
}

impl<'s> LinkedRows<'s> {
    pub(crate) fn of<S: ReadAt>(snapshot: &'s Snapshot<S>) -> Self {
        let (types, counts) = (snapshot.column(Column::Type), snapshot.column(Column::Nlink));
        let blocks = &snapshot.footer.linked;
        Self { types, counts, blocks, found: Vec::new(), first: 0, end: 0 }
    }

    /// Returns the first such row from a row on.
    pub(crate) fn next(&mut self, mut row: u64) -> Result<Option<LinkedRow>, ReadError> {
        if row < self.first {
            self.found.clear();
            self.end = row;
        }
        loop {
            let next = self.found.partition_point(|found| found.row < row);
            if let Some(&found) = self.found.get(next) {
                return Ok(Some(found));
            }
            row = row.max(self.end);
            if !self.load(row)? {
                return Ok(None);
            }
        }
    }

    /// Finds those in the page of a row, or of the first one behind it that can have any.
    fn load(&mut self, from: u64) -> Result<bool, ReadError> {
        let next = self.blocks.partition_point(|block| block.end <= from);
        let Some(block) = self.blocks.get(next) else { return Ok(false) };
        let begin = block.start.max(from);
        self.found.clear();
        let counts = self.counts.read_numbers(begin)?;
        (self.first, self.end) = (from, block.end.min(begin + counts.values.len() as u64));
        for (row, count) in (begin..self.end).zip(counts.rows()).filter(|(_, it)| *it != Some(1)) {
            if self.types.read_number(row)? != Some(FileType::Directory as u64) {
                self.found.push(LinkedRow { row, count: count.unwrap_or(0) });
            }
        }
        Ok(true)
    }
}
