//! Turns the rows of a group into columns.

use bytes::Bytes;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use transect::table::{Row, Table, UnreadReason};
use transect::{Attributes, FieldMask, FileType};

use crate::schema::{COLUMNS, Column, MAX_DIR_BYTES, Physical};

use super::outline::Outline;

/// The values of a column; of an optional one, those that are not null.
pub(super) enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Bytes(Vec<ByteArray>),
    Fixed16(Vec<FixedLenByteArray>),
}

/// A column of a group.
pub(super) struct ColumnValues {
    pub(super) values: Values,
    /// For each row, 1 if it has a value; empty for a column that is not optional.
    pub(super) defined: Vec<i16>,
}

impl ColumnValues {
    fn new(physical: Physical, rows: usize, optional: bool) -> Self {
        let values = match physical {
            Physical::Int32 => Values::Int32(Vec::new()),
            Physical::Int64 => Values::Int64(Vec::new()),
            Physical::Bytes => Values::Bytes(Vec::new()),
            Physical::Fixed16 => Values::Fixed16(Vec::new()),
        };
        Self { values, defined: if optional { vec![0; rows] } else { Vec::new() } }
    }

    fn define(&mut self, row: usize) {
        if let Some(defined) = self.defined.get_mut(row) {
            *defined = 1;
        }
    }

    /// Sets a number: of 8 bytes, or of 4 if the column has 4.
    fn number(&mut self, row: usize, value: u64) {
        self.define(row);
        match &mut self.values {
            // The bits stay; the schema marks the type as unsigned.
            Values::Int32(values) => values.push(value as u32 as i32),
            Values::Int64(values) => values.push(value as i64),
            _ => unreachable!("BUG: a column of bytes gets a number"),
        }
    }

    fn bytes(&mut self, row: usize, value: ByteArray) {
        self.define(row);
        match &mut self.values {
            Values::Bytes(values) => values.push(value),
            _ => unreachable!("BUG: a column of numbers gets bytes"),
        }
    }

    fn digest(&mut self, row: usize, value: &[u8; 16]) {
        self.define(row);
        let value = FixedLenByteArray::from(ByteArray::from(value.to_vec()));
        match &mut self.values {
            Values::Fixed16(values) => values.push(value),
            _ => unreachable!("BUG: a column of numbers gets a digest"),
        }
    }
}

/// The columns of a group, in the order of [`COLUMNS`].
pub(super) struct GroupColumns(pub(super) Vec<ColumnValues>);

impl GroupColumns {
    fn of(&mut self, column: Column) -> &mut ColumnValues {
        &mut self.0[column as usize]
    }

    fn attributes(&mut self, row: usize, of: &Attributes) {
        let numbers = [
            (Column::Size, of.size()),
            (Column::Allocated, of.allocated()),
            (Column::Mtime, of.mtime().map(|time| time as u64)),
            (Column::Ctime, of.ctime().map(|time| time as u64)),
            (Column::Atime, of.atime().map(|time| time as u64)),
            (Column::Btime, of.btime().map(|time| time as u64)),
            (Column::Mode, of.mode().map(u64::from)),
            (Column::Uid, of.uid().map(u64::from)),
            (Column::Gid, of.gid().map(u64::from)),
            (Column::Nlink, of.nlink().map(u64::from)),
            (Column::Inode, of.inode()),
            (Column::Device, of.device()),
            (Column::Attributes, of.attribute_bits().map(u64::from)),
            (Column::ReparseTag, of.reparse_tag().map(u64::from)),
        ];
        for (column, value) in numbers {
            if let Some(value) = value {
                self.of(column).number(row, value);
            }
        }
    }
}

/// Builds the columns of a group of `outline`.
pub(super) fn build(table: &Table, outline: &Outline, group: usize) -> GroupColumns {
    let group = &outline.groups[group];
    let count = group.rows.len();
    let specs = COLUMNS.iter();
    let mut columns = GroupColumns(
        specs.map(|spec| ColumnValues::new(spec.physical, count, spec.optional)).collect(),
    );
    let (mut names, mut ends) = (Vec::with_capacity(count * 24), Vec::with_capacity(count));
    let mut paths = ParentPaths::before(table, group.rows.first().map(|&(row, _)| row));
    let mut directory = group.first_directory;
    let types = type_words();
    for (index, &(row, depth)) in group.rows.iter().enumerate() {
        let name = table.name(row).as_encoded_bytes();
        match std::str::from_utf8(name) {
            Ok(_) => names.extend_from_slice(name),
            Err(_) => {
                names.extend_from_slice(String::from_utf8_lossy(name).as_bytes());
                columns.of(Column::NameRaw).bytes(index, ByteArray::from(name.to_vec()));
            }
        }
        ends.push(names.len());
        let dir = paths.of_parent(depth);
        columns.of(Column::Dir).bytes(index, dir);
        columns.of(Column::Depth).number(index, depth.into());
        let file_type = table.file_type(row);
        columns.of(Column::Type).bytes(index, types[file_type as usize].clone());
        let attributes = table.attributes(row);
        columns.attributes(index, &attributes);
        if file_type == FileType::Directory {
            let outlined = &outline.directories[directory];
            directory += 1;
            columns.of(Column::Entries).number(index, outlined.rows);
            columns.of(Column::Digest).digest(index, &outlined.digest);
            totals(table, row, index, &mut columns);
            paths.enter(name, depth);
        }
    }
    let names = Bytes::from(names);
    let mut begin = 0;
    for (index, end) in ends.into_iter().enumerate() {
        columns.of(Column::Name).bytes(index, ByteArray::from(names.slice(begin..end)));
        begin = end;
    }
    columns
}

/// Sets the totals of a directory, and what is missing in them.
fn totals(table: &Table, row: Row, index: usize, columns: &mut GroupColumns) {
    let totals = table.totals(row);
    columns.of(Column::Files).number(index, totals.files.into());
    columns.of(Column::Directories).number(index, totals.directories.into());
    columns.of(Column::TotalSize).number(index, totals.apparent);
    columns.of(Column::TotalAllocated).number(index, totals.disk_usage);
    if table.columns().contains(FieldMask::MTIME)
        && let Some(newest) = totals.newest()
    {
        columns.of(Column::NewestMtime).number(index, newest as u64);
    }
    columns.of(Column::Errors).number(index, table.errors(row));
    if let Some(reason) = table.unread_reason(row).map(UnreadReason::as_str) {
        let reason = ByteArray::from(Bytes::from_static(reason.as_bytes()));
        columns.of(Column::Unread).bytes(index, reason);
    }
}

/// Returns the words for the types, by their numbers.
fn type_words() -> Vec<ByteArray> {
    let word = |of: FileType| ByteArray::from(Bytes::from_static(of.as_str().as_bytes()));
    FileType::ALL.map(word).to_vec()
}

/// The paths of the directories above the current row, as text.
struct ParentPaths(Vec<ByteArray>);

impl ParentPaths {
    /// Returns the paths of the directories above a row.
    fn before(table: &Table, row: Option<Row>) -> Self {
        // The path above a root is empty.
        let mut paths = Self(vec![ByteArray::from(Vec::new())]);
        let parent = row.and_then(|row| table.parent(row));
        let ancestors: Vec<Row> = std::iter::successors(parent, |&row| table.parent(row)).collect();
        for (depth, row) in ancestors.into_iter().rev().enumerate() {
            paths.enter(table.name(row).as_encoded_bytes(), depth as u32);
        }
        paths
    }

    fn of_parent(&self, depth: u32) -> ByteArray {
        self.0[depth as usize].clone()
    }

    /// Adds a directory at `depth`.
    fn enter(&mut self, name: &[u8], depth: u32) {
        self.0.truncate(depth as usize + 1);
        let parent = &self.0[depth as usize];
        let mut path = Vec::with_capacity(parent.len() + name.len() + 1);
        path.extend_from_slice(parent.data());
        if depth > 0 && path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(String::from_utf8_lossy(name).as_bytes());
        if path.len() > MAX_DIR_BYTES {
            let is_boundary = |&end: &usize| path[end] & 0xc0 != 0x80;
            let end = (0..=MAX_DIR_BYTES).rev().find(is_boundary).unwrap_or(0);
            path.truncate(end);
        }
        self.0.push(ByteArray::from(path));
    }
}
