//! The description at the end of the file: schema, row groups, metadata.
//!
//! Source: `parquet.thrift` and `README.md` of apache/parquet-format.

use std::ops::Range;

use transect_sys::ReadAt;

use crate::checksum::{Seal, verify};
use crate::linked_blocks::{self, LINKED_KEY};
use crate::metadata::{METADATA_KEY, Metadata, VERSION_KEY};
use crate::name_index::INDEX_KEY;
use crate::schema::{CHECKED_VERSION, COLUMNS, ColumnSpec, VERSION};

use super::error::{ReadError, damaged};
use super::thrift::Thrift;

const MAGIC: &[u8; 4] = b"PAR1";

/// The maximum length of the description: enough for a thousand million rows.
const MAX_FOOTER_BYTES: u64 = 256 << 20;

/// The maximum length of an index of pages. Those of the writer have a thousandth.
const MAX_INDEX_BYTES: u64 = 1 << 20;

const MAX_GROUP_ROWS: u64 = 1 << 20;

/// The maximum number of rows: what a table can hold.
const MAX_ROWS: u64 = u32::MAX as u64;

/// How the pages of a column are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Codec {
    #[default]
    None,
    Zstd,
}

/// Where the indexes of the pages of a column lie.
#[derive(Clone, Debug)]
pub(super) struct PageIndex {
    /// The ranges of their values (`ColumnIndex`).
    pub(super) bounds: Range<u64>,
    /// Their offsets and rows (`OffsetIndex`).
    pub(super) places: Range<u64>,
}

/// Where a column of a row group lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnChunk {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) codec: Codec,
    /// Whether its pages have checksums.
    pub(super) is_checked: bool,
    /// `None` if there is none with checksums.
    pub(super) index: Option<PageIndex>,
}

/// Where a row group and its columns are in the file.
#[derive(Debug)]
pub(crate) struct RowGroup {
    pub(crate) first_row: u64,
    pub(crate) rows: u64,
    /// In the order of [`COLUMNS`].
    pub(crate) columns: Vec<ColumnChunk>,
}

/// The description of a file.
#[derive(Debug)]
pub(crate) struct Footer {
    pub(crate) rows: u64,
    pub(crate) groups: Vec<RowGroup>,
    pub(crate) metadata: Metadata,
    /// Where the index of names lies, as the file claims: offset and end, in front of the description.
    pub(crate) name_index: Option<(u64, u64)>,
    /// The rows among which are all files that may have several names: all rows in files of earlier versions.
    pub(crate) linked: Vec<Range<u64>>,
}

/// A column as the file describes it.
#[derive(Default)]
struct SchemaElement {
    name: Vec<u8>,
    physical: Option<i64>,
    length: i64,
    optional: bool,
    repeated: bool,
    children: i64,
}

impl SchemaElement {
    fn is(&self, spec: &ColumnSpec) -> bool {
        self.name == spec.name.as_bytes()
            && self.physical == Some(spec.physical.number())
            && self.optional == spec.optional
            && !self.repeated
            && self.children == 0
            && (spec.physical != crate::schema::Physical::Fixed16 || self.length == 16)
    }
}

/// A row group as the file describes it: for each column the codec, the size, and the offsets of its dictionary and its data.
#[derive(Default)]
struct RawGroup {
    rows: u64,
    columns: Vec<RawColumn>,
}

#[derive(Default)]
struct RawColumn {
    codec: i64,
    values: u64,
    size: u64,
    data: u64,
    dictionary: Option<u64>,
    /// Offset and length of each index; 0 if it is missing.
    bounds: (u64, u64),
    places: (u64, u64),
}

/// Returns whether a file begins or ends like a Parquet file.
pub(super) fn has_mark(source: &impl ReadAt) -> bool {
    let is_mark_at = |offset: u64| {
        let mut mark = [0; MAGIC.len()];
        source.read_exact_at(offset, &mut mark).is_ok() && &mark == MAGIC
    };
    let last = source.size().unwrap_or(0).checked_sub(MAGIC.len() as u64);
    is_mark_at(0) || last.is_some_and(is_mark_at)
}

pub(super) fn read(source: &impl ReadAt) -> Result<Footer, ReadError> {
    let size = source.size()?;
    // Two marks and a length.
    let mut tail = [0; 8];
    let mut head = [0; 4];
    if size < 12 {
        return Err(ReadError::NotParquet);
    }
    source.read_exact_at(0, &mut head)?;
    source.read_exact_at(size - 8, &mut tail)?;
    let (length, mark) = tail.split_at(4);
    if &head != MAGIC || mark != MAGIC {
        return Err(ReadError::NotParquet);
    }
    let length = u64::from(u32::from_le_bytes(length.try_into().expect("BUG: four bytes")));
    if length > size - 12 || length > MAX_FOOTER_BYTES {
        return damaged("its description is longer than the file");
    }
    let mut bytes = vec![0; length as usize];
    let end = size - 8 - length;
    source.read_exact_at(end, &mut bytes)?;
    parse(&bytes, end)
}

fn parse(bytes: &[u8], end: u64) -> Result<Footer, ReadError> {
    let seal = verify(bytes);
    // First of all: otherwise, a damaged key looks like that of another program.
    if seal == Seal::Broken {
        return damaged("its description has a wrong checksum");
    }
    let mut schema: Vec<SchemaElement> = Vec::new();
    let mut groups: Vec<RawGroup> = Vec::new();
    let mut rows = 0;
    let (mut version, mut metadata, mut name_index, mut linked) = (None, None, None, None);
    Thrift::new(bytes).fields(|thrift, id, _| {
        match id {
            2 => thrift.structs(|thrift| {
                // The root, and the columns: no snapshot has more.
                if schema.len() > COLUMNS.len() {
                    return Err(ReadError::NotSnapshot("it has other columns".to_owned()));
                }
                schema.push(schema_element(thrift)?);
                Ok(())
            })?,
            3 => rows = thrift.size()?,
            4 => thrift.structs(|thrift| {
                groups.push(row_group(thrift)?);
                Ok(())
            })?,
            5 => thrift.structs(|thrift| {
                let (key, value) = key_value(thrift)?;
                if key == VERSION_KEY.as_bytes() {
                    version = Some(value);
                } else if key == METADATA_KEY.as_bytes() {
                    metadata = Some(value);
                } else if key == INDEX_KEY.as_bytes() {
                    name_index = place(value).filter(|&(_, index_end)| index_end <= end);
                } else if key == LINKED_KEY.as_bytes() {
                    linked = Some(value);
                }
                Ok(())
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let is_checked = check_version(version)? >= CHECKED_VERSION;
    if is_checked && seal == Seal::Missing {
        return damaged("its description has no checksum; another program may have rewritten it");
    }
    check_schema(&schema)?;
    let mut metadata: Metadata = match metadata.map(serde_json::from_slice) {
        Some(Ok(metadata)) => metadata,
        Some(Err(error)) => return damaged(format!("its metadata are not valid: {error}")),
        None => return damaged("it has no metadata"),
    };
    metadata.unverified = !is_checked;
    let groups = check_groups(groups, rows, end, is_checked)?;
    let linked = linked.and_then(|text| linked_blocks::parse(text, rows));
    let linked = linked.unwrap_or_else(|| std::iter::once(0..rows).collect());
    Ok(Footer { rows, groups, metadata, name_index, linked })
}

/// Parses the place of an index, as offset and end; `None` for anything else.
fn place(value: &[u8]) -> Option<(u64, u64)> {
    let (offset, length) = std::str::from_utf8(value).ok()?.split_once(' ')?;
    let (offset, length): (u64, u64) = (offset.parse().ok()?, length.parse().ok()?);
    Some((offset, offset.checked_add(length)?))
}

/// Returns the version, which is one that this program reads.
fn check_version(version: Option<&[u8]>) -> Result<u32, ReadError> {
    let Some(version) = version else {
        let reason = "it is another Parquet file, without a version of this format";
        return Err(ReadError::NotSnapshot(reason.to_owned()));
    };
    let version = std::str::from_utf8(version).ok().and_then(|text| text.parse::<u64>().ok());
    match version {
        Some(version @ 1..) if version <= u64::from(VERSION) => Ok(version as u32),
        Some(version @ 1..) => Err(ReadError::Newer(version)),
        _ => damaged("its version is not valid"),
    }
}

fn check_schema(schema: &[SchemaElement]) -> Result<(), ReadError> {
    let Some((_, columns)) = schema.split_first() else {
        return damaged("it has no columns");
    };
    for (index, spec) in COLUMNS.iter().enumerate() {
        if !columns.get(index).is_some_and(|column| column.is(spec)) {
            let reason = format!("column {} is not '{}' of the right type", index + 1, spec.name);
            return Err(ReadError::NotSnapshot(reason));
        }
    }
    Ok(())
}

fn check_groups(
    raw: Vec<RawGroup>,
    rows: u64,
    end: u64,
    is_checked: bool,
) -> Result<Vec<RowGroup>, ReadError> {
    let mut groups = Vec::new();
    let mut first_row = 0_u64;
    for RawGroup { rows, columns } in raw {
        if rows == 0 || rows > MAX_GROUP_ROWS {
            return damaged(format!("a group of {rows} rows"));
        }
        if columns.len() != COLUMNS.len() {
            return damaged("a group has other columns");
        }
        let check = |column: RawColumn| check_column(&column, rows, end, is_checked);
        let columns = columns.into_iter().map(check);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        groups.push(RowGroup { first_row, rows, columns });
        first_row += rows;
    }
    if first_row != rows || rows > MAX_ROWS {
        return damaged(format!("it has {first_row} rows, and should have {rows}"));
    }
    Ok(groups)
}

fn check_column(
    column: &RawColumn,
    rows: u64,
    end: u64,
    is_checked: bool,
) -> Result<ColumnChunk, ReadError> {
    let codec = match column.codec {
        0 => Codec::None,
        6 => Codec::Zstd,
        other => return damaged(format!("compression {other}, which no snapshot has")),
    };
    // Some writers store 0 for a column without dictionary.
    let dictionary = column.dictionary.filter(|&offset| offset > 0);
    let begin = dictionary.map_or(column.data, |dictionary| dictionary.min(column.data));
    let index_place = |(offset, length): (u64, u64)| {
        let is_usable = is_checked && (1..=MAX_INDEX_BYTES).contains(&length);
        let index_end = offset.checked_add(length).filter(|&it| is_usable && it <= end)?;
        Some(offset..index_end)
    };
    let index = index_place(column.bounds).zip(index_place(column.places));
    let index = index.map(|(bounds, places)| PageIndex { bounds, places });
    match begin.checked_add(column.size) {
        Some(chunk_end) if column.values == rows && chunk_end <= end => {
            Ok(ColumnChunk { begin, end: chunk_end, codec, is_checked, index })
        }
        _ => damaged("a column lies outside of the file"),
    }
}

fn schema_element(thrift: &mut Thrift<'_>) -> Result<SchemaElement, ReadError> {
    let mut element = SchemaElement::default();
    thrift.fields(|thrift, id, _| {
        match id {
            1 => element.physical = Some(thrift.number()?),
            2 => element.length = thrift.number()?,
            3 => match thrift.number()? {
                0 => {}
                1 => element.optional = true,
                _ => element.repeated = true,
            },
            4 => element.name = thrift.binary()?.to_vec(),
            5 => element.children = thrift.number()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(element)
}

fn row_group(thrift: &mut Thrift<'_>) -> Result<RawGroup, ReadError> {
    let mut group = RawGroup::default();
    thrift.fields(|thrift, id, _| {
        match id {
            1 => thrift.structs(|thrift| {
                if group.columns.len() >= COLUMNS.len() {
                    return damaged("a group has other columns");
                }
                group.columns.push(column_chunk(thrift)?);
                Ok(())
            })?,
            3 => group.rows = thrift.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(group)
}

fn column_chunk(thrift: &mut Thrift<'_>) -> Result<RawColumn, ReadError> {
    let mut column = RawColumn::default();
    let mut is_elsewhere = false;
    thrift.fields(|thrift, id, _| {
        match id {
            1 => is_elsewhere = !thrift.binary()?.is_empty(),
            3 => thrift.fields(|thrift, id, _| {
                match id {
                    4 => column.codec = thrift.number()?,
                    5 => column.values = thrift.size()?,
                    7 => column.size = thrift.size()?,
                    9 => column.data = thrift.size()?,
                    11 => column.dictionary = Some(thrift.size()?),
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            4 => column.places.0 = thrift.size()?,
            5 => column.places.1 = thrift.size()?,
            6 => column.bounds.0 = thrift.size()?,
            7 => column.bounds.1 = thrift.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if is_elsewhere { damaged("a column lies in another file") } else { Ok(column) }
}

fn key_value<'b>(thrift: &mut Thrift<'b>) -> Result<(&'b [u8], &'b [u8]), ReadError> {
    let (mut key, mut value) = (&b""[..], &b""[..]);
    thrift.fields(|thrift, id, _| {
        match id {
            1 => key = thrift.binary()?,
            2 => value = thrift.binary()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok((key, value))
}
