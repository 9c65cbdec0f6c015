//! One column of all row groups, without the others.

use transect_sys::ReadAt;

use crate::schema::Column;

use super::column::ColumnReader;
use super::error::{ReadError, damaged};
use super::footer::RowGroup;

/// Reads one column forwards.
pub(crate) struct ColumnRows<'s, S> {
    source: &'s S,
    groups: &'s [RowGroup],
    column: Column,
    reader: ColumnReader,
    /// The first row behind the current row group.
    group_end: u64,
}

/// The numbers of some rows.
pub(crate) struct Numbers<'r> {
    pub(super) first_row: u64,
    /// One for each row; 0 if it is null.
    pub(crate) values: &'r [u64],
    /// For each row, whether it has a value; empty if all have.
    defined: &'r [bool],
}

impl<'r> Numbers<'r> {
    /// Calls `each` with the items of the rows that have a value.
    pub(crate) fn defined_rows<T>(&self, items: impl Iterator<Item = T>, each: impl FnMut(T)) {
        let items = items.take(self.values.len());
        match self.defined {
            [] => items.for_each(each),
            defined => {
                items.zip(defined).filter(|(_, it)| **it).map(|(item, _)| item).for_each(each)
            }
        }
    }

    /// Iterates over the rows; `None` is null.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, Option<u64>)> + use<'r> {
        let defined = self.defined.iter().copied().chain(std::iter::repeat(true));
        let values = self.values.iter().zip(defined);
        let values = values.map(|(&value, is_defined)| is_defined.then_some(value));
        (self.first_row..).zip(values)
    }
}

impl<'s, S: ReadAt> ColumnRows<'s, S> {
    pub(super) fn new(source: &'s S, groups: &'s [RowGroup], column: Column) -> Self {
        Self { source, groups, column, reader: ColumnReader::new(column), group_end: 0 }
    }

    /// Returns the column with the page of a row, which is not before the current page.
    pub(crate) fn page_of(&mut self, row: u64) -> Result<&ColumnReader, ReadError> {
        if row >= self.reader.decoded_end() {
            self.go_to(row)?;
        }
        Ok(&self.reader)
    }

    /// Returns the number of a row, which is not before the current page; `None` if it is null.
    pub(crate) fn number(&mut self, row: u64) -> Result<Option<u64>, ReadError> {
        Ok(self.page_of(row)?.number(row))
    }

    /// Returns all rows with this text, and goes to the end.
    pub(crate) fn rows_with(&mut self, text: &[u8]) -> Result<Vec<u64>, ReadError> {
        let rows = self.groups.last().map_or(0, |group| group.first_row + group.rows);
        let (mut found, mut row) = (Vec::new(), 0);
        while row < rows {
            self.go_to(row)?;
            let end = self.reader.page_end();
            found.extend((row..end).filter(|&row| self.reader.bytes(row) == Some(text)));
            row = end;
        }
        Ok(found)
    }

    /// Returns the numbers from a row to the end of its page. The row is not before the current page.
    pub(crate) fn numbers_from(&mut self, row: u64) -> Result<Numbers<'_>, ReadError> {
        let (values, defined) = self.page_of(row)?.numbers_from(row);
        Ok(Numbers { first_row: row, values, defined })
    }

    /// Returns the first row behind the page of a row, which is not before the current page. Nothing is
    /// decompressed.
    pub(super) fn page_end(&mut self, row: u64) -> Result<u64, ReadError> {
        self.enter_group(row)?;
        self.reader.locate(row, self.source)?;
        Ok(self.reader.page_end())
    }

    fn go_to(&mut self, row: u64) -> Result<(), ReadError> {
        self.enter_group(row)?;
        self.reader.advance_to(row, self.source)
    }

    fn enter_group(&mut self, row: u64) -> Result<(), ReadError> {
        if row >= self.group_end {
            let behind = self.groups.partition_point(|group| group.first_row + group.rows <= row);
            let Some(group) = self.groups.get(behind) else {
                return damaged("a row is missing");
            };
            self.reader.begin(&group.columns[self.column as usize], group.first_row, group.rows);
            self.group_end = group.first_row + group.rows;
        }
        Ok(())
    }
}
