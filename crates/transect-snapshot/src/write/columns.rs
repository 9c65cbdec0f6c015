//! Turns the rows of a page into columns.

use std::borrow::Cow;
use std::ops::Range;

use transect::table::{Row, Table, UnreadReason};
use transect::{Attributes, FaultKind, FieldMask, FileType, SkipReason};

use crate::attribute_columns::for_attribute_columns;
use crate::byte_values::ByteValues;
use crate::digest::Digest;
use crate::read::StoredTotals;
use crate::read::column::Numbers;
use crate::schema::{COLUMNS, Column, ColumnSpec, Layout, MAX_DIR_BYTES, Physical};

use super::encodings::RepeatedBytes;
use super::outline::{Outline, OutlinedRow};

/// The values of a column that are not null.
#[derive(Debug)]
pub(super) enum Values {
    /// Numbers of 8 bytes, or of 4 in their lower half; of a column with few different texts those of [`word`].
    Numbers(Vec<u64>),
    Bytes(ByteValues),
    RepeatedBytes(RepeatedBytes),
    Digests(Vec<Digest>),
}

/// Returns the text with this number of a column that has few different ones.
pub(super) fn word(spec: &ColumnSpec, number: u64) -> &'static str {
    let word = match spec.name {
        "type" => FileType::ALL.get(number as usize).map(|file_type| file_type.as_str()),
        _ => unread_words().nth(number as usize),
    };
    word.expect("BUG: no word has this number")
}

/// Returns the words of the column `unread`, by their numbers.
fn unread_words() -> impl Iterator<Item = &'static str> {
    let skipped = SkipReason::ALL.iter().map(|reason| reason.as_str());
    let failed = FaultKind::ALL.iter().map(|kind| kind.as_str());
    std::iter::once(UnreadReason::Unvisited.as_str()).chain(skipped).chain(failed)
}

/// A column of a page.
#[derive(Debug)]
pub(super) struct ColumnValues {
    pub(super) values: Values,
    /// For each row, whether it has a value; empty for a column that is not optional.
    pub(super) defined: Vec<bool>,
}

impl ColumnValues {
    fn new(spec: &ColumnSpec) -> Self {
        let values = match (spec.physical, spec.layout) {
            (Physical::Int32 | Physical::Int64, _) | (_, Layout::Dictionary) => {
                Values::Numbers(Vec::new())
            }
            (Physical::Bytes, _) if spec.name == "dir" => {
                Values::RepeatedBytes(RepeatedBytes::default())
            }
            (Physical::Bytes, _) => Values::Bytes(ByteValues::default()),
            (Physical::Fixed16, _) => Values::Digests(Vec::new()),
        };
        Self { values, defined: Vec::new() }
    }

    /// Removes all values, and keeps their memory for a page of `rows` rows.
    fn clear(&mut self, spec: &ColumnSpec, rows: usize) {
        match &mut self.values {
            Values::Numbers(values) => values.clear(),
            Values::Bytes(values) => values.clear(),
            Values::RepeatedBytes(values) => values.clear(),
            Values::Digests(values) => values.clear(),
        }
        self.defined.clear();
        self.defined.resize(if spec.optional { rows } else { 0 }, false);
    }

    fn define(&mut self, row: usize) {
        if let Some(defined) = self.defined.get_mut(row) {
            *defined = true;
        }
    }

    /// Sets a number, of which a column of 4 bytes stores the lower half.
    fn number(&mut self, row: usize, value: u64) {
        self.define(row);
        match &mut self.values {
            Values::Numbers(values) => values.push(value),
            _ => unreachable!("BUG: another column gets a number"),
        }
    }

    fn bytes(&mut self, row: usize, value: &[u8]) {
        self.define(row);
        match &mut self.values {
            Values::Bytes(values) => values.push(value),
            _ => unreachable!("BUG: another column gets bytes"),
        }
    }

    fn digest(&mut self, row: usize, value: &Digest) {
        self.define(row);
        match &mut self.values {
            Values::Digests(values) => values.push(*value),
            _ => unreachable!("BUG: another column gets a digest"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct PageColumns {
    /// In the order of [`COLUMNS`].
    pub(super) all: Vec<ColumnValues>,
    /// A file may have several names.
    pub(crate) is_linked: bool,
}

impl PageColumns {
    pub(crate) fn new() -> Self {
        Self { all: COLUMNS.iter().map(ColumnValues::new).collect(), is_linked: false }
    }

    /// Removes all values, and keeps their memory for a page of `rows` rows.
    pub(crate) fn clear(&mut self, rows: usize) {
        self.all.iter_mut().zip(COLUMNS).for_each(|(column, spec)| column.clear(spec, rows));
        self.is_linked = false;
    }

    fn of(&mut self, column: Column) -> &mut ColumnValues {
        &mut self.all[column as usize]
    }

    fn attributes(&mut self, row: usize, of: &Attributes) {
        /// Sets what is known.
        macro_rules! set {
            ($($field:ident $column:ident $get:ident $set:ident $type:ty;)*) => {
                $(if let Some(value) = of.$get() {
                    self.of(Column::$column).number(row, value as u64);
                })*
            };
        }
        for_attribute_columns!(set);
    }
}

/// The values of one row, as the writer takes them.
pub(crate) struct RowValues<'r> {
    pub(crate) name: &'r [u8],
    pub(crate) depth: u32,
    pub(crate) file_type: FileType,
    /// What is stored of a directory, and of nothing else.
    pub(crate) directory: Option<DirectoryValues<'r>>,
}

pub(crate) struct DirectoryValues<'r> {
    pub(crate) totals: StoredTotals,
    pub(crate) newest: Option<i64>,
    pub(crate) unread: Option<&'static str>,
    pub(crate) digest: &'r Digest,
}

impl PageColumns {
    /// Sets the numbers of a column from a row on, as far as they are not null.
    pub(crate) fn numbers(&mut self, column: Column, first: usize, numbers: &Numbers<'_>) {
        let &Numbers { values: all, defined } = numbers;
        let ColumnValues { values: Values::Numbers(values), defined: of_rows } = self.of(column)
        else {
            unreachable!("BUG: another column gets numbers");
        };
        let of_rows = of_rows.get_mut(first..first + all.len()).unwrap_or_default();
        if defined.is_empty() {
            values.extend_from_slice(all);
            of_rows.fill(true);
        } else {
            let known = all.iter().zip(defined).filter(|(_, is_known)| **is_known);
            values.extend(known.map(|(value, _)| value));
            of_rows.copy_from_slice(defined);
        }
    }

    /// Sets all but the attributes of the row with this index in the page. `paths` are those above it.
    pub(crate) fn set(&mut self, index: usize, row: &RowValues<'_>, paths: &mut ParentPaths) {
        let &RowValues { name, depth, file_type, .. } = row;
        let text = lossy(name);
        self.of(Column::Name).bytes(index, &text);
        if let Cow::Owned(_) = text {
            self.of(Column::NameRaw).bytes(index, name);
        }
        match &mut self.of(Column::Dir).values {
            Values::RepeatedBytes(dirs) => paths.push_parent(depth, dirs),
            _ => unreachable!("BUG: paths are of another kind"),
        }
        self.of(Column::Depth).number(index, depth.into());
        self.of(Column::Type).number(index, file_type as u64);
        if let Some(directory) = &row.directory {
            self.directory(index, directory);
            paths.enter(name, depth);
        }
    }

    /// Sets the totals of a directory, and what is missing in them.
    fn directory(&mut self, index: usize, of: &DirectoryValues<'_>) {
        let StoredTotals { entries, files, directories, apparent, allocated, errors } = of.totals;
        self.of(Column::Entries).number(index, entries);
        self.of(Column::Digest).digest(index, of.digest);
        self.of(Column::Files).number(index, files);
        self.of(Column::Directories).number(index, directories);
        self.of(Column::TotalSize).number(index, apparent);
        self.of(Column::TotalAllocated).number(index, allocated);
        if let Some(newest) = of.newest {
            self.of(Column::NewestMtime).number(index, newest as u64);
        }
        self.of(Column::Errors).number(index, errors);
        if let Some(unread) = of.unread {
            let number = unread_words().position(|word| word == unread);
            let number = number.expect("BUG: a reason without a number");
            self.of(Column::Unread).number(index, number as u64);
        }
    }
}

/// Sets `columns` to those of some rows of `outline`.
pub(super) fn build(
    table: &Table,
    outline: &Outline,
    rows: Range<usize>,
    columns: &mut PageColumns,
) {
    columns.clear(rows.len());
    let has_newest = table.columns().contains(FieldMask::MTIME);
    let mut paths = ParentPaths::before(table, outline.rows.get(rows.start).map(|at| at.row));
    let mut directories = outline.directories_from(rows.start);
    for (index, &OutlinedRow { row, depth }) in outline.rows[rows].iter().enumerate() {
        let name = table.name(row).as_encoded_bytes();
        let attributes = &outline.attributes(table, row);
        let file_type = attributes.file_type();
        let directory = (file_type == FileType::Directory).then(|| {
            let (outlined, digest) = directories.next().expect("BUG: a directory is not outlined");
            // A name that was listed twice is one row.
            let entries = outlined.rows.into();
            DirectoryValues {
                totals: StoredTotals { entries, ..StoredTotals::of(table, row) },
                newest: table.totals(row).newest().filter(|_| has_newest),
                unread: table.unread_reason(row).map(UnreadReason::as_str),
                digest,
            }
        });
        columns.is_linked |= directory.is_none() && attributes.nlink() != Some(1);
        columns.set(index, &RowValues { name, depth, file_type, directory }, &mut paths);
        columns.attributes(index, attributes);
    }
}

/// The paths of the directories above the current row, as text: each is the beginning of the next one.
#[derive(Debug)]
pub(crate) struct ParentPaths {
    bytes: Vec<u8>,
    /// For each depth where the path of the directory above ends, and its index in the column.
    levels: Vec<(usize, Option<u32>)>,
}

impl Default for ParentPaths {
    /// Returns the path above a root, which is empty.
    fn default() -> Self {
        Self { bytes: Vec::new(), levels: vec![(0, None)] }
    }
}

impl ParentPaths {
    /// Returns the paths of the directories above a row.
    fn before(table: &Table, row: Option<Row>) -> Self {
        let mut paths = Self::default();
        let above = row.into_iter().flat_map(|row| table.ancestors(row).skip(1));
        let ancestors: Vec<Row> = above.collect();
        for (depth, row) in ancestors.into_iter().rev().enumerate() {
            paths.enter(table.name(row).as_encoded_bytes(), depth as u32);
        }
        paths
    }

    /// Begins another page: its column has none of the paths.
    pub(crate) fn begin_page(&mut self) {
        self.levels.iter_mut().for_each(|(_, index)| *index = None);
    }

    /// Appends the path of the directory that holds an entry at `depth`.
    fn push_parent(&mut self, depth: u32, column: &mut RepeatedBytes) {
        let (end, index) = &mut self.levels[depth as usize];
        let index = *index.get_or_insert_with(|| {
            column.values.push(cut(&self.bytes[..*end]));
            column.values.len() as u32 - 1
        });
        column.of_row.push(index);
    }

    /// Adds a directory at `depth`.
    fn enter(&mut self, name: &[u8], depth: u32) {
        self.levels.truncate(depth as usize + 1);
        self.bytes.truncate(self.levels[depth as usize].0);
        if depth > 0 && self.bytes.last() != Some(&b'/') {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(&lossy(name));
        self.levels.push((self.bytes.len(), None));
    }
}

/// Returns the beginning of a path, up to the maximum length.
fn cut(path: &[u8]) -> &[u8] {
    if path.len() <= MAX_DIR_BYTES {
        return path;
    }
    let is_boundary = |&end: &usize| path[end] & 0xc0 != 0x80;
    &path[..(0..=MAX_DIR_BYTES).rev().find(is_boundary).unwrap_or(0)]
}

/// Returns a name as text; a copy if it is not UTF-8, which is replaced.
fn lossy(name: &[u8]) -> Cow<'_, [u8]> {
    // Few names are not ASCII.
    if name.is_ascii() || std::str::from_utf8(name).is_ok() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(String::from_utf8_lossy(name).into_owned().into_bytes())
}
