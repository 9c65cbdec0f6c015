//! Finds the names of files that may have others, without reading the rows between them.

use std::collections::VecDeque;

use transect::FileType;

use super::part_set::PartSet;
use super::parts::OpenPart;
use crate::read::ReadError;
use crate::read::column::ColumnReader;
use crate::schema::Column;
use crate::tasks::{TaskError, read_error};

/// Such names in one part.
struct LinkedRows<'c> {
    part: &'c OpenPart,
    types: ColumnReader<'c>,
    counts: ColumnReader<'c>,
    /// Those among some rows: from `first` to `end`.
    found: Vec<u64>,
    first: u64,
    end: u64,
}

impl<'c> LinkedRows<'c> {
    fn of(part: &'c OpenPart) -> Self {
        let column = |column| part.snapshot.column(column);
        let (types, counts) = (column(Column::Type), column(Column::Nlink));
        Self { part, types, counts, found: Vec::new(), first: 0, end: 0 }
    }

    /// Returns the first such row from a row on.
    fn next(&mut self, mut row: u64) -> Result<Option<u64>, ReadError> {
        if row < self.first {
            *self = Self::of(self.part);
        }
        loop {
            let found = self.found.partition_point(|&found| found < row);
            if let Some(&found) = self.found.get(found) {
                return Ok(Some(found));
            }
            row = row.max(self.end);
            if !self.load(&mut row)? {
                return Ok(None);
            }
        }
    }

    /// Finds those in the page of a row, or the first one behind it that can have any.
    fn load(&mut self, row: &mut u64) -> Result<bool, ReadError> {
        let mut end = self.part.snapshot.len();
        if let Some(blocks) = &self.part.snapshot.footer.linked {
            let next = blocks.partition_point(|block| block.end <= *row);
            let Some(block) = blocks.get(next) else { return Ok(false) };
            *row = block.start.max(*row);
            end = block.end;
        }
        if *row >= end {
            return Ok(false);
        }
        self.found.clear();
        let types = self.types.read_numbers(*row)?;
        let counts = self.counts.read_numbers(*row)?;
        (self.first, self.end) = (*row, *row);
        for (row, (file_type, count)) in (*row..end).zip(types.rows().zip(counts.rows())) {
            if file_type != Some(FileType::Directory as u64) && count != Some(1) {
                self.found.push(row);
            }
            self.end = row + 1;
        }
        Ok(true)
    }
}

/// Such names in the parts that were asked last.
pub(super) struct LinkedRowsOfParts<'c> {
    set: &'c PartSet,
    /// The maximum number of parts.
    limit: usize,
    parts: VecDeque<(usize, LinkedRows<'c>)>,
}

impl<'c> LinkedRowsOfParts<'c> {
    pub(super) fn new(set: &'c PartSet, limit: usize) -> Self {
        Self { set, limit, parts: VecDeque::new() }
    }

    /// Returns the first such row of a part from a row on.
    pub(super) fn next(&mut self, part: usize, row: u64) -> Result<Option<u64>, TaskError> {
        let open = &self.set.parts[part];
        let at = self.parts.iter().position(|(of, _)| *of == part).unwrap_or_else(|| {
            if self.parts.len() >= self.limit {
                self.parts.pop_front();
            }
            self.parts.push_back((part, LinkedRows::of(open)));
            self.parts.len() - 1
        });
        self.parts[at].1.next(row).map_err(|error| read_error(&open.path, error))
    }
}
