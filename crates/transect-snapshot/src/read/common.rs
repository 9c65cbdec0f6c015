//! Goes through two snapshots at once. Where both have the same names, rows are skipped in which nothing
//! differs: pages of the same bytes are neither decompressed nor compared row by row.
//!
//! ```text
//! names, depths and types: the same bytes in both pages?
//!   yes ─► the rows of the page are common
//!   no  ─► both are decompressed: as many rows are common as have the same values
//! of common rows: the columns whose pages differ are compared as a whole
//!   rows that differ, and the directories that hold them ─► visited
//!   all others                                            ─► skipped
//! ```
//!
//! Behind an added or removed entry, the rows of both are at other places of their pages, and common again.

use transect::FieldMask;
use transect::FileType;

use crate::attribute_columns::ATTRIBUTES;
use crate::schema::Column;

use super::error::{ReadError, damaged};
use super::rows::RowReader;

/// Fewer rows up to one that is not common are read one by one: comparing all columns costs as much.
const MIN_ROWS: u64 = 16;

/// The columns that make a tree of the rows, without the numbers of entries.
const STRUCTURE: [Column; 4] = [Column::Name, Column::NameRaw, Column::Depth, Column::Type];

/// What a diff compares of directories, besides attributes.
const OF_DIRECTORIES: [Column; 2] = [Column::TotalAllocated, Column::Unread];

/// What is known of the rows where two readers are, and of those that follow.
#[derive(Debug)]
pub(crate) struct CommonRows {
    /// The attributes that make rows differ.
    compared: FieldMask,
    /// The attributes whose pages have the same bytes.
    same: FieldMask,
    /// The first row behind the common ones, in the first reader.
    end: u64,
    /// The row of the second reader, less that of the first (wrapping).
    distance: u64,
    /// Directories have the same numbers of entries.
    has_same_entries: bool,
    /// The rows before `end` that are visited, in reverse order.
    visited: Vec<u64>,
    /// Nothing is compared before this row.
    retry: u64,
}

impl CommonRows {
    /// Returns a state for two readers that have read their first rows. Rows are visited if they differ in
    /// one of these attributes.
    pub(crate) fn new(compared: FieldMask) -> Self {
        let same = FieldMask::empty();
        let (end, distance, retry) = (0, 0, 0);
        Self { compared, same, end, distance, has_same_entries: false, visited: Vec::new(), retry }
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

    /// Compares the rows from these on, as far as they are in their pages. Returns whether the first ones
    /// are common.
    fn compare(
        &mut self,
        (a, row_a): (&mut RowReader<'_>, u64),
        (b, row_b): (&mut RowReader<'_>, u64),
    ) -> Result<bool, ReadError> {
        self.same = FieldMask::empty();
        // Roots are visited.
        let root_end = a.open.first().copied().unwrap_or(0);
        if row_a < self.retry || row_a >= root_end || a.base != b.base {
            return Ok(false);
        }
        let mut rows = root_end - row_a;
        for column in STRUCTURE {
            let (is_same, in_both) =
                a.column(column).compare_page(row_a, (b.column(column), row_b))?;
            rows = rows.min(in_both);
            if is_same {
                continue;
            }
            let (of_a, of_b) = (a.column(column).page_of(row_a)?, b.column(column).page_of(row_b)?);
            let common = of_a.common_rows(row_a, (of_b, row_b), rows);
            if common < rows.min(MIN_ROWS) {
                self.retry = row_a + MIN_ROWS;
                return Ok(false);
            }
            rows = common;
        }
        let mut differing = Vec::new();
        for (field, column, _) in ATTRIBUTES {
            let (is_same, in_both) =
                a.column(column).compare_page(row_a, (b.column(column), row_b))?;
            if is_same {
                self.same |= field;
            } else if self.compared.contains(field) {
                differing.push(column);
            }
            rows = rows.min(in_both);
        }
        for column in OF_DIRECTORIES.into_iter().chain([Column::Entries]) {
            let (is_same, in_both) =
                a.column(column).compare_page(row_a, (b.column(column), row_b))?;
            if !is_same {
                differing.push(column);
            }
            rows = rows.min(in_both);
            self.has_same_entries = is_same;
        }
        // A page has at most the rows of a group, which are limited.
        let mut is_visited = vec![false; rows as usize];
        for column in differing {
            let (of_a, of_b) = (a.column(column).page_of(row_a)?, b.column(column).page_of(row_b)?);
            of_a.mark_differing(row_a, (of_b, row_b), &mut is_visited);
        }
        self.end = row_a + rows;
        self.distance = row_b.wrapping_sub(row_a);
        self.visit(a, row_a, &is_visited)?;
        Ok(true)
    }

    /// Sets the rows that are visited: those that are marked, and the directories that hold them or reach
    /// behind the common rows.
    fn visit(
        &mut self,
        a: &mut RowReader<'_>,
        first: u64,
        is_marked: &[bool],
    ) -> Result<(), ReadError> {
        let entries = a.column(Column::Entries).read_numbers(first)?.values;
        self.visited.clear();
        for (index, (&is_marked, &entries)) in is_marked.iter().zip(entries).enumerate().rev() {
            let row = first + index as u64;
            // Only directories have a number of entries.
            let end = row.saturating_add(entries);
            let holds_visited = || self.visited.last().is_some_and(|&visited| visited < end);
            if is_marked || entries > 0 && (end > self.end || holds_visited()) {
                self.visited.push(row);
            }
        }
        Ok(())
    }
}

/// Goes to the next rows of both readers that may differ; below the current rows only if they are entered.
/// The current rows have the same name. Returns which readers have a row.
pub(crate) fn advance_both(
    a: &mut RowReader<'_>,
    b: &mut RowReader<'_>,
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
            b.follow(a, row.wrapping_add(common.distance), common.has_same_entries)?;
            return Ok((has_a, true));
        }
        row_b += common.end - row_a;
        row_a = common.end;
    }
    common.same = FieldMask::empty();
    Ok((a.skip_to(row_a)?, b.skip_to(row_b)?))
}

impl RowReader<'_> {
    /// Goes to a later row that has the same name, depth and type as the current row of another reader.
    fn follow(
        &mut self,
        other: &RowReader<'_>,
        row: u64,
        has_same_entries: bool,
    ) -> Result<(), ReadError> {
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
            let entries = if has_same_entries { other.entries() } else { self.entries() };
            match row.checked_add(entries) {
                Some(end) if end <= limit => self.open.push(end),
                _ => return damaged("a directory has another number of entries"),
            }
        }
        Ok(())
    }
}
