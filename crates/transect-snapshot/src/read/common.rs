//! Goes through two snapshots at once. Where both have the same names, rows are skipped in which nothing
//! differs: pages of the same bytes are neither decompressed nor compared row by row.
//!
//! ```text
//! names, depths, types and numbers of entries: the same bytes in both pages?
//!   no  ─► row by row
//!   yes ─► attributes: the columns whose pages differ are compared as a whole
//!            rows that differ, and directories ─► visited
//!            all others                        ─► skipped
//! ```

use transect::{FieldMask, FileType};
use transect_sys::ReadAt;

use crate::schema::Column;

use super::error::{ReadError, damaged};
use super::rows::{RowReader, position};

/// The columns that make a tree of the rows.
const STRUCTURE: [Column; 5] =
    [Column::Name, Column::NameRaw, Column::Depth, Column::Type, Column::Entries];

/// The columns of attributes.
const ATTRIBUTES: [(Column, FieldMask); 14] = [
    (Column::Size, FieldMask::SIZE),
    (Column::Allocated, FieldMask::ALLOCATED),
    (Column::Mtime, FieldMask::MTIME),
    (Column::Ctime, FieldMask::CTIME),
    (Column::Btime, FieldMask::BTIME),
    (Column::Atime, FieldMask::ATIME),
    (Column::Mode, FieldMask::MODE),
    (Column::Uid, FieldMask::UID),
    (Column::Gid, FieldMask::GID),
    (Column::Nlink, FieldMask::NLINK),
    (Column::Inode, FieldMask::INODE),
    (Column::Device, FieldMask::DEVICE),
    (Column::Attributes, FieldMask::ATTRIBUTES),
    (Column::ReparseTag, FieldMask::REPARSE_TAG),
];

/// What is known of the rows where two readers are, and of those that follow.
#[derive(Debug)]
pub struct CommonRows {
    /// The attributes that make rows differ.
    compared: FieldMask,
    /// The attributes whose pages are the same.
    same: FieldMask,
    /// The first row behind the compared pages, in the first reader.
    end: u64,
    /// The row of the second reader, less that of the first (wrapping).
    distance: u64,
    /// The rows before `end` that are visited, in reverse order.
    visited: Vec<u64>,
    /// Pages are not compared before this row.
    retry: u64,
}

impl CommonRows {
    /// Returns a state for two readers that have read their first rows. Rows are visited if they differ in
    /// one of these attributes.
    pub(crate) fn new(compared: FieldMask) -> Self {
        let same = FieldMask::empty();
        Self { compared, same, end: 0, distance: 0, visited: Vec::new(), retry: 0 }
    }

    /// Returns the attributes that are equal in the current rows of both readers, which have the same name.
    pub(crate) fn same(&self) -> FieldMask {
        self.same
    }

    fn covers(&self, row: u64, other_row: u64) -> bool {
        row < self.end && other_row.wrapping_sub(row) == self.distance
    }

    /// Returns the next row to be visited, not before `row`.
    fn next(&mut self, row: u64) -> Option<u64> {
        while self.visited.pop_if(|visited| *visited < row).is_some() {}
        self.visited.last().copied()
    }

    /// Compares the pages of two rows. Returns whether they have the same entries.
    fn compare<S: ReadAt, T: ReadAt>(
        &mut self,
        (a, row_a): (&mut RowReader<'_, S>, u64),
        (b, row_b): (&mut RowReader<'_, T>, u64),
    ) -> Result<bool, ReadError> {
        self.same = FieldMask::empty();
        if row_a < self.retry || a.base != b.base {
            return Ok(false);
        }
        a.enter_group(row_a)?;
        b.enter_group(row_b)?;
        let mut rows = u64::MAX;
        for column in STRUCTURE {
            let (is_same, in_both) = a.compare_page((column, row_a), (&mut *b, row_b))?;
            rows = rows.min(in_both);
            if !is_same {
                self.retry = row_a + rows;
                return Ok(false);
            }
        }
        let mut differing = Vec::new();
        for (column, field) in ATTRIBUTES {
            let (is_same, in_both) = a.compare_page((column, row_a), (&mut *b, row_b))?;
            rows = rows.min(in_both);
            if is_same {
                self.same |= field;
            } else if self.compared.contains(field) {
                differing.push(column);
            }
        }
        // A page has at most the rows of a group, which are limited.
        let mut is_visited = vec![false; rows as usize];
        let (types, _) = a.numbers_from(Column::Type, row_a)?;
        for (is_visited, &file_type) in is_visited.iter_mut().zip(types) {
            *is_visited = file_type == FileType::Directory as u64;
        }
        for column in differing {
            let (values_a, defined_a) = a.numbers_from(column, row_a)?;
            let (values_b, defined_b) = b.numbers_from(column, row_b)?;
            for ((is_visited, a), b) in is_visited.iter_mut().zip(values_a).zip(values_b) {
                *is_visited |= a != b;
            }
            // Only values that both have are compared, but 0 may stand for null.
            if !defined_a.is_empty() || !defined_b.is_empty() {
                let is_null = |defined: &[bool], row: usize| defined.get(row) == Some(&false);
                for (row, is_visited) in is_visited.iter_mut().enumerate() {
                    *is_visited |= is_null(defined_a, row) != is_null(defined_b, row);
                }
            }
        }
        self.end = row_a + rows;
        self.distance = row_b.wrapping_sub(row_a);
        let rows = is_visited.into_iter().enumerate().rev();
        let visited = rows.filter_map(|(at, is_it)| is_it.then_some(row_a + at as u64));
        self.visited.clear();
        self.visited.extend(visited);
        Ok(true)
    }
}

/// Goes to the next rows of both readers that may differ; below the current rows only if they are entered.
/// The current rows have the same name. Returns which readers have a row.
pub(crate) fn advance_both<S: ReadAt, T: ReadAt>(
    a: &mut RowReader<'_, S>,
    b: &mut RowReader<'_, T>,
    common: &mut CommonRows,
    enters: bool,
) -> Result<(bool, bool), ReadError> {
    let (mut row_a, mut row_b) = (a.next_row(enters), b.next_row(enters));
    while row_a < a.end && row_b < b.end {
        if !common.covers(row_a, row_b) && !common.compare((&mut *a, row_a), (&mut *b, row_b))? {
            break;
        }
        if let Some(row) = common.next(row_a) {
            let has_a = a.skip_to(row)?;
            b.follow(a, row.wrapping_add(common.distance))?;
            return Ok((has_a, true));
        }
        row_b += common.end - row_a;
        row_a = common.end;
    }
    common.same = FieldMask::empty();
    Ok((a.skip_to(row_a)?, b.skip_to(row_b)?))
}

impl<S: ReadAt> RowReader<'_, S> {
    fn compare_page<T: ReadAt>(
        &mut self,
        (column, row): (Column, u64),
        (other, other_row): (&mut RowReader<'_, T>, u64),
    ) -> Result<(bool, u64), ReadError> {
        let of = position(column);
        let (own, others) = (self.columns[of].get_mut(), other.columns[of].get_mut());
        own.compare_page((row, self.source), others, (other_row, other.source))
    }

    /// Returns the numbers of a column from a row to the end of its page, and whether each row has one; that
    /// is empty if all have.
    fn numbers_from(&mut self, column: Column, row: u64) -> Result<(&[u64], &[bool]), ReadError> {
        let column = self.columns[position(column)].get_mut();
        column.advance_to(row, self.source)?;
        Ok(column.numbers_from(row))
    }

    /// Goes to a later row that has the same name, depth, type and number of entries as the current row of
    /// another reader.
    fn follow<T: ReadAt>(&mut self, other: &RowReader<'_, T>, row: u64) -> Result<(), ReadError> {
        self.check_columns()?;
        (self.row, self.depth, self.file_type) = (row, other.depth, other.file_type);
        let level = self.depth.wrapping_sub(self.base) as usize;
        if level > self.open.len() {
            return damaged("a row is deeper than its directory");
        }
        self.open.truncate(level);
        self.names.truncate(level);
        self.names.push(other.name());
        if self.file_type == FileType::Directory {
            let limit = self.open.last().copied().unwrap_or(self.end);
            match row.checked_add(other.entries()) {
                Some(end) if end <= limit => self.open.push(end),
                _ => return damaged("a directory has another number of entries"),
            }
        }
        Ok(())
    }
}
