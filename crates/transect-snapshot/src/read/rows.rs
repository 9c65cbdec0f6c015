//! Reads rows in tree order, and checks that they are a tree.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use transect::table::{Row, SubtreeTotals, Table};
use transect::{Attributes, FieldMask, FileType};
use transect_sys::ReadAt;

use crate::attribute_columns::for_attribute_columns;
use crate::digest::Digest;
use crate::schema::Column;

use super::column::{ColumnReader, Numbers};
use super::error::{ReadError, damaged};
use super::footer::RowGroup;
use super::words::unread_reason;

/// The maximum length of a name in bytes: no file system has longer ones.
const MAX_NAME_BYTES: usize = 4096;

/// The maximum length of the path of a root.
const MAX_ROOT_BYTES: usize = 1 << 16;

/// What is stored of a directory with everything below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredTotals {
    /// The number of rows: the directory and all entries below it.
    pub entries: u64,
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Apparent sizes of everything but directories, in bytes.
    pub apparent: u64,
    /// Allocated sizes of everything, in bytes.
    pub allocated: u64,
    /// Errors.
    pub errors: u64,
}

impl StoredTotals {
    /// Returns those of a directory of a table.
    pub(crate) fn of(table: &Table, row: Row) -> Self {
        let totals = table.totals(row);
        Self {
            entries: totals.entries(),
            files: totals.files.into(),
            directories: totals.directories.into(),
            apparent: totals.apparent,
            allocated: totals.disk_usage,
            errors: table.errors(row),
        }
    }

    /// Returns the totals as a table has them, with the newest change. The numbers fit: they are below that of the rows.
    pub(super) fn of_subtree(&self, newest: Option<i64>) -> SubtreeTotals {
        let fit = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let others = self.entries.saturating_sub(self.files).saturating_sub(self.directories);
        let numbers = [fit(self.files), fit(self.directories), fit(others)];
        SubtreeTotals::of_numbers(numbers, [self.apparent, self.allocated], newest)
    }
}

/// The columns that are read for every row. Others are read when they are needed: what is skipped by its digest need not
/// be decoded.
const EAGER: [Column; 5] =
    [Column::Name, Column::NameRaw, Column::Depth, Column::Type, Column::Entries];

/// Reads rows in tree order: a directory before its entries, siblings sorted by the bytes of their
/// names.
pub struct RowReader<'s> {
    source: &'s dyn ReadAt,
    groups: &'s [RowGroup],
    /// In the order of [`COLUMNS`].
    columns: Vec<RefCell<ColumnReader<'s>>>,
    /// The error of a column that was read when it was needed.
    error: RefCell<Option<ReadError>>,
    /// The current row; before the first one, that row.
    pub(super) row: u64,
    started: bool,
    /// The first row that is not read.
    pub(super) end: u64,
    /// The first row behind the pages that are read.
    boundary: u64,
    /// The depth of the first row.
    pub(super) base: u32,
    pub(super) depth: u32,
    pub(super) file_type: FileType,
    /// The names from the first row down to the current one.
    pub(super) names: NameStack,
    /// The ends of the directories that are open.
    pub(super) open: Vec<u64>,
}

/// The names of a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameStack {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl NameStack {
    fn begin(&self, level: usize) -> usize {
        level.checked_sub(1).map_or(0, |above| self.ends[above])
    }

    pub(crate) fn get(&self, level: usize) -> Option<&[u8]> {
        let end = *self.ends.get(level)?;
        Some(&self.bytes[self.begin(level)..end])
    }

    pub(crate) fn truncate(&mut self, levels: usize) {
        self.ends.truncate(levels);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    pub(crate) fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }
}

impl<'s> RowReader<'s> {
    /// Returns a reader of the rows from `first` to `end`.
    pub(crate) fn new(
        source: &'s dyn ReadAt,
        groups: &'s [RowGroup],
        first: u64,
        end: u64,
    ) -> Self {
        Self {
            source,
            groups,
            columns: all_columns(source, groups),
            error: RefCell::new(None),
            row: first,
            started: false,
            end,
            boundary: first,
            base: 0,
            depth: 0,
            file_type: FileType::Unknown,
            names: NameStack::default(),
            open: Vec::new(),
        }
    }

    /// Begins again with other rows. What was decompressed of their pages is used again.
    pub(crate) fn restart(&mut self, first: u64, end: u64) {
        (self.row, self.end, self.boundary, self.started) = (first, end, first, false);
        self.names.truncate(0);
        self.open.clear();
    }

    /// Gives the memory of decoded pages back.
    pub(crate) fn release(&mut self) {
        self.columns = all_columns(self.source, self.groups);
        self.boundary = self.row;
    }

    /// Reads the next row, and returns whether there is one. Unless it `enters`, skips everything below the current one.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn advance(&mut self, enters: bool) -> Result<bool, ReadError> {
        self.go_to(self.next_row(enters))
    }

    /// Returns the row behind the current one; behind everything below that if it is not entered.
    pub(super) fn next_row(&self, enters: bool) -> u64 {
        match self.file_type {
            _ if !self.started => self.row,
            FileType::Directory if !enters => self.open.last().copied().unwrap_or(self.row + 1),
            _ => self.row + 1,
        }
    }

    fn go_to(&mut self, row: u64) -> Result<bool, ReadError> {
        self.check_columns()?;
        let is_first = !self.started;
        self.started = true;
        self.row = row;
        if row >= self.end {
            let end = self.end;
            return match self.open.iter().all(|&of| of == end) {
                true => Ok(false),
                false => damaged("a directory has another number of entries"),
            };
        }
        if row >= self.boundary {
            self.load(row)?;
        }
        self.check(is_first)?;
        Ok(true)
    }

    /// Goes to a later row, and returns whether there is one. Rows between are not read: that they are a tree
    /// is checked only as far as the rows that are read show it.
    pub(super) fn skip_to(&mut self, row: u64) -> Result<bool, ReadError> {
        // Directories that end on the way are left there.
        while self.open.last().is_some_and(|&end| end < row) {
            self.open.pop();
        }
        self.go_to(row)
    }

    /// Goes to a later row by way of the directories that it is in.
    pub(crate) fn descend_to(&mut self, row: u64) -> Result<(), ReadError> {
        while !self.started || self.row < row {
            let enters = self.started && row - self.row < self.entries();
            if !self.advance(enters)? || self.row > row {
                return damaged("a row is missing");
            }
        }
        Ok(())
    }

    /// Appends the path of the directory that the current row is in, with a separator at the end; nothing for a root.
    pub(crate) fn push_directory(&self, path: &mut Vec<u8>) {
        for name in
            (0..self.names.ends.len().saturating_sub(1)).filter_map(|level| self.names.get(level))
        {
            path.extend_from_slice(name);
            if !name.last().is_some_and(|&last| std::path::is_separator(last.into())) {
                path.push(std::path::MAIN_SEPARATOR as u8);
            }
        }
    }

    /// Fails if a value of the current row could not be read. Until then, such a value is unknown; the next row fails, too.
    /// Callers that read no other row need this.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn check_columns(&mut self) -> Result<(), ReadError> {
        self.error.get_mut().take().map_or(Ok(()), Err)
    }

    pub(super) fn column(&mut self, column: Column) -> &mut ColumnReader<'s> {
        self.columns[column as usize].get_mut()
    }

    fn load(&mut self, row: u64) -> Result<(), ReadError> {
        self.boundary = u64::MAX;
        for column in EAGER {
            let end = self.column(column).page_of(row)?.page_end();
            self.boundary = self.boundary.min(end);
        }
        Ok(())
    }

    /// Checks that the current row continues the tree.
    fn check(&mut self, is_first: bool) -> Result<(), ReadError> {
        let row = self.row;
        let depth = self.number(Column::Depth).unwrap_or(0) as u32;
        if is_first {
            self.base = depth;
        }
        let level = depth.wrapping_sub(self.base) as usize;
        if depth < self.base || level > self.open.len() {
            return damaged("a row is deeper than its directory");
        }
        if self.open.drain(level..).any(|end| end != row) {
            return damaged("a directory has another number of entries");
        }
        let limit = self.open.last().copied().unwrap_or(self.end);
        if row >= limit {
            return damaged("a directory has another number of entries");
        }
        self.depth = depth;
        self.file_type = self.stored_type();
        let name = name_in(&mut self.columns, row, depth == 0)?;
        if level > 0 && self.names.get(level).is_some_and(|before| before >= name) {
            return damaged("the names of a directory are not sorted");
        }
        self.names.truncate(level);
        self.names.push(name);
        if self.file_type == FileType::Directory {
            let rows = self.number(Column::Entries).unwrap_or(0);
            match row.checked_add(rows) {
                Some(end) if rows > 0 && end <= limit => self.open.push(end),
                _ => return damaged("a directory has another number of entries"),
            }
        }
        Ok(())
    }

    pub(super) fn number(&self, column: Column) -> Option<u64> {
        self.with_column(column, |reader, row| reader.number(row))
    }

    /// Calls `get` with a column whose page has the current row. An error is kept for the next row.
    #[inline]
    fn with_column<T>(
        &self,
        column: Column,
        get: impl FnOnce(&ColumnReader<'_>, u64) -> Option<T>,
    ) -> Option<T> {
        let mut reader = self.columns[column as usize].borrow_mut();
        if !reader.has(self.row) {
            if self.error.borrow().is_some() {
                return None;
            }
            if let Err(error) = reader.page_of(self.row) {
                *self.error.borrow_mut() = Some(error);
                return None;
            }
        }
        get(&reader, self.row)
    }

    /// Returns whether the next row lies in other pages.
    pub(crate) fn ends_pages(&self) -> bool {
        self.row + 1 >= self.boundary
    }

    /// Calls `each` with the numbers of some rows, page by page.
    pub(crate) fn numbers(
        &self,
        column: Column,
        rows: Range<u64>,
        mut each: impl FnMut(Numbers<'_>),
    ) -> Result<(), ReadError> {
        let mut reader = self.columns[column as usize].borrow_mut();
        let mut row = rows.start;
        while row < rows.end {
            let Numbers { values, defined } = reader.read_numbers(row)?;
            let count = (rows.end - row).min(values.len() as u64);
            if count == 0 {
                return damaged("a column has no numbers");
            }
            let some = count as usize;
            each(Numbers {
                values: &values[..some],
                defined: defined.get(..some).unwrap_or_default(),
            });
            row += count;
        }
        Ok(())
    }

    /// Returns the number of the row.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Returns the number of steps from the root.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the name as the system stores it; of a root, its path.
    pub fn name(&self) -> &[u8] {
        self.names.get(self.names.ends.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the type.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Returns the attributes; those that are not stored are unknown.
    pub fn attributes(&self) -> Attributes {
        self.attributes_of(FieldMask::all())
    }

    /// Returns some of the attributes; those that are not stored are unknown. The columns of others are not
    /// decompressed for that.
    pub fn attributes_of(&self, fields: FieldMask) -> Attributes {
        let mut attributes = Attributes::of_type(self.file_type);
        /// Sets what is asked for and known.
        macro_rules! set {
            ($($field:ident $column:ident $get:ident $set:ident $type:ty;)*) => {
                $(if fields.contains(FieldMask::$field)
                    && let Some(value) = self.number(Column::$column)
                {
                    attributes.$set(value as $type);
                })*
            };
        }
        for_attribute_columns!(set);
        attributes
    }

    /// Goes to any row, whose place in the tree is not checked: its name, depth and type stay those of the row before.
    pub(super) fn jump_to(&mut self, row: u64) {
        self.row = row;
    }

    /// Returns the name of any row.
    pub(super) fn name_at(&mut self, row: u64, is_root: bool) -> Result<&[u8], ReadError> {
        for column in [Column::Name, Column::NameRaw] {
            self.column(column).page_of(row)?;
        }
        name_in(&mut self.columns, row, is_root)
    }

    /// Goes to any row, as [`RowReader::jump_to`], and returns its type and some of its attributes.
    pub(crate) fn attributes_at(
        &mut self,
        row: u64,
        fields: FieldMask,
    ) -> Result<Attributes, ReadError> {
        self.jump_to(row);
        self.file_type = self.stored_type();
        let attributes = self.attributes_of(fields);
        self.check_columns()?;
        Ok(attributes)
    }

    fn stored_type(&self) -> FileType {
        let number = self.number(Column::Type).unwrap_or(0) as usize;
        FileType::ALL.get(number).copied().unwrap_or_default()
    }

    /// Returns the number of rows of the entry: 1, or those of everything below it and its own.
    pub fn entries(&self) -> u64 {
        self.number(Column::Entries).unwrap_or(1)
    }

    /// Returns the totals of a directory; `None` for anything else.
    pub fn totals(&self) -> Option<StoredTotals> {
        (self.file_type == FileType::Directory).then(|| self.directory_totals())
    }

    /// Returns the totals of a row that is a directory.
    pub(super) fn directory_totals(&self) -> StoredTotals {
        let number = |column| self.number(column).unwrap_or(0);
        StoredTotals {
            entries: number(Column::Entries),
            files: number(Column::Files),
            directories: number(Column::Directories),
            apparent: number(Column::TotalSize),
            allocated: number(Column::TotalAllocated),
            errors: number(Column::Errors),
        }
    }

    /// Returns the newest change of any content in and below a directory, in nanoseconds since 1970 UTC.
    pub(crate) fn newest(&self) -> Option<i64> {
        self.number(Column::NewestMtime).map(|time| time as i64)
    }

    /// Returns the digest of a directory.
    pub fn digest(&self) -> Option<Digest> {
        self.with_column(Column::Digest, |reader, row| reader.digest(row))
    }

    /// Returns why a directory was not read, or not completely: the word in JSON.
    pub fn unread(&self) -> Option<&'static str> {
        self.with_column(Column::Unread, |reader, row| {
            let word = std::str::from_utf8(reader.bytes(row)?).unwrap_or_default();
            Some(unread_reason(word).as_str())
        })
    }

    /// Returns the number of errors in and below a directory, which [`RowReader::totals`] also has.
    pub fn errors(&self) -> Option<u64> {
        self.number(Column::Errors)
    }

    /// Returns the allocated bytes in and below a directory, which [`RowReader::totals`] also has.
    pub fn total_allocated(&self) -> Option<u64> {
        self.number(Column::TotalAllocated)
    }
}

fn all_columns<'s>(
    source: &'s dyn ReadAt,
    groups: &'s [RowGroup],
) -> Vec<RefCell<ColumnReader<'s>>> {
    let reader = |column| RefCell::new(ColumnReader::new(source, groups, column));
    Column::ALL.iter().copied().map(reader).collect()
}

/// Returns the name of a row, whose pages are decompressed.
fn name_in<'c>(
    columns: &'c mut [RefCell<ColumnReader<'_>>],
    row: u64,
    is_root: bool,
) -> Result<&'c [u8], ReadError> {
    const NAMES: RangeInclusive<usize> = Column::Name as usize..=Column::NameRaw as usize;
    let [name, raw] = &mut columns[NAMES] else { unreachable!("BUG: no columns") };
    let (names, raw) = (name.get_mut(), raw.get_mut().bytes(row));
    let name = raw.or_else(|| names.bytes(row)).unwrap_or_default();
    match raw.is_none() && !is_root && names.is_plain {
        true => check_plain_name(name)?,
        false => check_name(name, is_root, raw.is_some())?,
    }
    Ok(name)
}

/// As [`check_name`], for a name below a root in a page of ASCII text without separators.
fn check_plain_name(name: &[u8]) -> Result<(), ReadError> {
    match matches!(name, b"" | b"." | b"..") || name.len() > MAX_NAME_BYTES {
        true => damaged("a name that no file can have"),
        false => Ok(()),
    }
}

pub(crate) fn check_name(name: &[u8], is_root: bool, is_raw: bool) -> Result<(), ReadError> {
    let is_valid = match is_root {
        true => !name.is_empty() && name.len() <= MAX_ROOT_BYTES && !name.contains(&0),
        false => {
            !matches!(name, b"" | b"." | b"..")
                && name.len() <= MAX_NAME_BYTES
                && !name.iter().any(|&byte| byte == b'/' || byte == 0)
        }
    };
    // Few names are not ASCII.
    let is_text = name.is_ascii() || std::str::from_utf8(name).is_ok();
    if is_valid && is_text != is_raw { Ok(()) } else { damaged("a name that no file can have") }
}
