//! The attributes and directories of hits.

use transect::{Attributes, FieldMask, FileType};

use crate::attribute_columns::{ATTRIBUTES, SetAttribute};
use crate::read::ReadAt;
use crate::read::column::ColumnReader;
use crate::read::error::{ReadError, damaged};
use crate::read::footer::RowGroup;
use crate::schema::{Column, MAX_DIR_BYTES};

/// Reads the types of rows and some of their attributes, forwards.
pub(super) struct AttributeReader {
    types: ColumnReader,
    columns: Vec<(ColumnReader, Column, SetAttribute)>,
}

impl AttributeReader {
    pub(super) fn new(fields: FieldMask) -> Self {
        let wanted = ATTRIBUTES.into_iter().filter(|(field, ..)| fields.contains(*field));
        let columns = wanted.map(|(_, column, set)| (ColumnReader::new(column), column, set));
        Self { types: ColumnReader::new(Column::Type), columns: columns.collect() }
    }

    /// Begins a row group.
    pub(super) fn begin(&mut self, group: &RowGroup) {
        let begin = |reader: &mut ColumnReader, column: Column| {
            reader.begin(&group.columns[column as usize], group.first_row, group.rows);
        };
        begin(&mut self.types, Column::Type);
        self.columns.iter_mut().for_each(|(reader, column, _)| begin(reader, *column));
    }

    /// Returns the attributes of a row, which is not before the last one.
    pub(super) fn attributes(
        &mut self,
        row: u64,
        source: &impl ReadAt,
    ) -> Result<Attributes, ReadError> {
        let number = |reader: &mut ColumnReader| {
            if row >= reader.page_end() {
                reader.advance_to(row, source)?;
            }
            Ok::<_, ReadError>(reader.number(row))
        };
        let file_type = number(&mut self.types)?.unwrap_or(0) as usize;
        let file_type = FileType::ALL.get(file_type).copied().unwrap_or_default();
        let mut attributes = Attributes::of_type(file_type);
        for (reader, _, set) in &mut self.columns {
            if let Some(value) = number(reader)? {
                set(&mut attributes, value);
            }
        }
        Ok(attributes)
    }
}

/// Reads the paths of the directories of rows, forwards.
pub(super) struct DirectoryReader {
    column: ColumnReader,
    /// The row behind the one whose directory is `path`.
    next: u64,
    path: Vec<u8>,
}

impl DirectoryReader {
    pub(super) fn new() -> Self {
        Self { column: ColumnReader::new(Column::Dir), next: 0, path: Vec::new() }
    }

    /// Begins a row group.
    pub(super) fn begin(&mut self, group: &RowGroup) {
        let chunk = &group.columns[Column::Dir as usize];
        self.column.begin(chunk, group.first_row, group.rows);
        self.next = group.first_row;
    }

    /// Returns the path of the directory of a row, which is not before the last one.
    pub(super) fn path(&mut self, row: u64, source: &impl ReadAt) -> Result<&[u8], ReadError> {
        if row >= self.column.page_end() {
            self.column.advance_to(row, source)?;
            self.next = self.column.page_begin();
            self.path.clear();
        }
        while self.next <= row {
            let Some((shared, rest)) = self.column.path_rest(self.next) else {
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
