//! Reads a column page by page.

use transect::FileType;
use zstd::bulk::Decompressor;

use crate::byte_values::ByteValues;
use crate::schema::{COLUMNS, Column, Physical};

use super::decode::{self, PageBytes};
use super::error::{ReadError, damaged};
use super::footer::{Codec, ColumnChunk};
use super::source::ReadAt;
use super::thrift::Thrift;

/// The maximum size of a page, decompressed. The writer's have a hundredth.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The number of bytes read to find the description of a page, which is smaller.
const HEADER_BYTES: u64 = 512;

/// The values of a page: one for each row. Null is 0 or empty.
#[derive(Clone, Debug)]
enum Values {
    Numbers(Vec<u64>),
    Bytes(ByteValues),
    Digests(Vec<[u8; 16]>),
}

impl Values {
    fn new(column: Column) -> Self {
        match COLUMNS[column as usize].physical {
            _ if column == Column::Type => Self::Numbers(Vec::new()),
            Physical::Int32 | Physical::Int64 => Self::Numbers(Vec::new()),
            Physical::Bytes => Self::Bytes(ByteValues::default()),
            Physical::Fixed16 => Self::Digests(Vec::new()),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Numbers(values) => values.clear(),
            Self::Bytes(values) => values.clear(),
            Self::Digests(values) => values.clear(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Bytes(values) => values.len(),
            Self::Digests(values) => values.len(),
        }
    }
}

/// Part of the file.
#[derive(Debug, Default)]
struct Window {
    begin: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns `length` bytes at an offset; fewer if `end` comes before.
    fn get(
        &mut self,
        source: &impl ReadAt,
        offset: u64,
        length: u64,
        end: u64,
    ) -> Result<&[u8], ReadError> {
        let length = length.min(end.saturating_sub(offset));
        let have = self.begin + self.bytes.len() as u64;
        if offset < self.begin || offset + length > have {
            // A description comes with the beginning of its page.
            let read = length.max(8 * HEADER_BYTES).min(end.saturating_sub(offset));
            self.bytes.resize(read as usize, 0);
            self.begin = offset;
            source.read_exact_at(offset, &mut self.bytes)?;
        }
        let at = (offset - self.begin) as usize;
        Ok(&self.bytes[at..at + length as usize])
    }
}

/// The description of a page.
#[derive(Debug, Default)]
struct PageHeader {
    kind: i64,
    size: u64,
    compressed: u64,
    values: u64,
    encoding: i64,
    level_encoding: i64,
    /// The length of the description itself.
    length: u64,
}

/// The kinds of pages (`PageType` in `parquet.thrift`).
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;

/// Reads one column of one row group, forwards.
pub(super) struct ColumnReader {
    column: Column,
    codec: Codec,
    /// The offset of the next page.
    next: u64,
    end: u64,
    /// The first row of the current page, and that of the next one.
    first: u64,
    after: u64,
    /// The first row of the next row group.
    group_end: u64,
    dictionary: Option<Values>,
    values: Values,
    /// For each row of the page, whether it has a value; empty if all have.
    defined: Vec<bool>,
    window: Window,
    page: Vec<u8>,
    decompressor: Option<Decompressor<'static>>,
    scratch: Vec<u64>,
}

impl ColumnReader {
    pub(super) fn new(column: Column) -> Self {
        Self {
            column,
            codec: Codec::None,
            next: 0,
            end: 0,
            first: 0,
            after: 0,
            group_end: 0,
            dictionary: None,
            values: Values::new(column),
            defined: Vec::new(),
            window: Window::default(),
            page: Vec::new(),
            decompressor: None,
            scratch: Vec::new(),
        }
    }

    /// Begins a row group.
    pub(super) fn begin(&mut self, chunk: &ColumnChunk, first_row: u64, rows: u64) {
        self.codec = chunk.codec;
        (self.next, self.end) = (chunk.begin, chunk.end);
        (self.first, self.after) = (first_row, first_row);
        self.group_end = first_row + rows;
        self.dictionary = None;
    }

    /// Returns the first row behind the current page.
    pub(super) fn page_end(&self) -> u64 {
        self.after
    }

    /// Reads the page that has this row, which is not before the current page.
    pub(super) fn advance_to(&mut self, row: u64, source: &impl ReadAt) -> Result<(), ReadError> {
        while row >= self.after {
            if self.after >= self.group_end || self.next >= self.end {
                return damaged("a column ends too early");
            }
            let header = self.header(source)?;
            let begin = self.next + header.length;
            let Some(end) = begin.checked_add(header.compressed).filter(|&end| end <= self.end)
            else {
                return damaged("a page lies outside of its column");
            };
            if header.size > MAX_PAGE_BYTES || header.compressed > MAX_PAGE_BYTES {
                return damaged("a page is larger than any of a snapshot");
            }
            self.next = end;
            match header.kind {
                DICTIONARY_PAGE if self.dictionary.is_none() => {
                    self.decompress(&header, begin, source)?;
                    self.read_dictionary(&header)?;
                }
                DATA_PAGE => {
                    self.first = self.after;
                    if header.values == 0 || header.values > self.group_end - self.first {
                        return damaged("a page has another number of rows");
                    }
                    self.after = self.first + header.values;
                    if row < self.after {
                        self.decompress(&header, begin, source)?;
                        self.read_values(&header)?;
                    }
                }
                _ => return damaged("a page of a kind that no snapshot has"),
            }
        }
        Ok(())
    }

    /// Returns the number of a row in the current page; `None` if it is null.
    #[inline]
    pub(super) fn number(&self, row: u64) -> Option<u64> {
        let index = self.index(row)?;
        match &self.values {
            Values::Numbers(values) => values.get(index).copied(),
            _ => None,
        }
    }

    /// Returns the bytes of a row in the current page; `None` if it is null.
    #[inline]
    pub(super) fn bytes(&self, row: u64) -> Option<&[u8]> {
        let index = self.index(row)?;
        match &self.values {
            Values::Bytes(values) => Some(values.get(index)),
            _ => None,
        }
    }

    /// Returns the digest of a row in the current page; `None` if it is null.
    #[inline]
    pub(super) fn digest(&self, row: u64) -> Option<[u8; 16]> {
        let index = self.index(row)?;
        match &self.values {
            Values::Digests(values) => values.get(index).copied(),
            _ => None,
        }
    }

    #[inline]
    fn index(&self, row: u64) -> Option<usize> {
        debug_assert!(row >= self.first && row < self.after, "BUG: a row of another page");
        let index = (row - self.first) as usize;
        self.defined.get(index).copied().unwrap_or(true).then_some(index)
    }

    fn header(&mut self, source: &impl ReadAt) -> Result<PageHeader, ReadError> {
        let bytes = self.window.get(source, self.next, HEADER_BYTES, self.end)?;
        let mut thrift = Thrift::new(bytes);
        let mut header = PageHeader { kind: -1, ..PageHeader::default() };
        thrift.fields(|thrift, id, _| {
            match id {
                1 => header.kind = thrift.number()?,
                2 => header.size = thrift.size()?,
                3 => header.compressed = thrift.size()?,
                // Of a data page, or of a dictionary.
                5 | 7 => thrift.fields(|thrift, id, _| {
                    match id {
                        1 => header.values = thrift.size()?,
                        2 => header.encoding = thrift.number()?,
                        3 if header.kind == DATA_PAGE => header.level_encoding = thrift.number()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        header.length = (bytes.len() - thrift.remaining()) as u64;
        Ok(header)
    }

    fn decompress(
        &mut self,
        header: &PageHeader,
        offset: u64,
        source: &impl ReadAt,
    ) -> Result<(), ReadError> {
        let bytes = self.window.get(source, offset, header.compressed, self.end)?;
        self.page.clear();
        match self.codec {
            Codec::None => self.page.extend_from_slice(bytes),
            Codec::Zstd => {
                // The size is limited, and only the pages of memory that are written are used.
                self.page.reserve(header.size as usize);
                let damaged = |_| ReadError::Damaged("a page cannot be decompressed".to_owned());
                let decompressor = match &mut self.decompressor {
                    Some(decompressor) => decompressor,
                    none => none.insert(Decompressor::new().map_err(damaged)?),
                };
                decompressor.decompress_to_buffer(bytes, &mut self.page).map_err(damaged)?;
            }
        }
        match self.page.len() as u64 == header.size {
            true => Ok(()),
            false => damaged("a page has another size"),
        }
    }

    fn read_dictionary(&mut self, header: &PageHeader) -> Result<(), ReadError> {
        // Every value has at least one byte, even an empty text with its length.
        if header.values > header.size {
            return damaged("a dictionary is larger than its page");
        }
        let mut values = Values::new(self.column);
        let page = PageBytes::new(&self.page);
        plain_values(self.column, page, header.values as usize, &mut values)?;
        self.dictionary = Some(values);
        Ok(())
    }

    fn read_values(&mut self, header: &PageHeader) -> Result<(), ReadError> {
        let bytes = std::mem::take(&mut self.page);
        let read = self.read_page(header, PageBytes::new(&bytes));
        self.page = bytes;
        read
    }

    fn read_page(&mut self, header: &PageHeader, mut page: PageBytes<'_>) -> Result<(), ReadError> {
        let rows = header.values as usize;
        self.defined.clear();
        self.values.clear();
        let mut count = rows;
        if COLUMNS[self.column as usize].optional {
            const RLE: i64 = 3;
            if header.level_encoding != RLE {
                return damaged("nulls are encoded as in no snapshot");
            }
            let length = page.u32()?;
            let levels = PageBytes::new(page.take(length as usize)?);
            count = 0;
            let defined = &mut self.defined;
            decode::runs(levels, 1, rows, |level, length| {
                match length {
                    1 => defined.push(level == 1),
                    _ => defined.resize(defined.len() + length, level == 1),
                }
                count += length * (level == 1) as usize;
            })?;
            if count == rows {
                self.defined.clear();
            }
        }
        self.read_encoded(header.encoding, page, count)?;
        if self.values.len() != count {
            return damaged("a page has another number of values");
        }
        if count != rows {
            self.spread();
        }
        Ok(())
    }

    /// Decodes `count` values (`Encoding` in `parquet.thrift`).
    fn read_encoded(
        &mut self,
        encoding: i64,
        page: PageBytes<'_>,
        count: usize,
    ) -> Result<(), ReadError> {
        let column = self.column;
        let width = match COLUMNS[column as usize].physical {
            Physical::Int32 => 4,
            _ => 8,
        };
        match (encoding, &mut self.values) {
            (0, values) => plain_values(column, page, count, values),
            (2 | 8, values) => {
                let Some(dictionary) = &self.dictionary else {
                    return damaged("a dictionary is missing");
                };
                if count == 0 { Ok(()) } else { from_dictionary(page, count, dictionary, values) }
            }
            (5, Values::Numbers(values)) if column != Column::Type => {
                decode::delta(page, count, values).map(drop)
            }
            (6, Values::Bytes(values)) => {
                decode::delta_length(page, count, &mut self.scratch, values)
            }
            (9, Values::Numbers(values)) if column != Column::Type => {
                decode::byte_stream_split(page, count, width, values)
            }
            (other, _) => damaged(format!("encoding {other}, which no snapshot has there")),
        }
    }

    /// Moves the values to their rows; the others are null.
    fn spread(&mut self) {
        let rows = self.defined.len();
        match &mut self.values {
            Values::Numbers(values) => spread(values, &self.defined),
            Values::Digests(values) => spread(values, &self.defined),
            Values::Bytes(values) => {
                let stored = std::mem::take(&mut values.ends).into_iter();
                let mut stored = stored;
                let mut last = 0;
                values.ends.reserve(rows);
                for &defined in &self.defined {
                    if defined {
                        last = stored.next().unwrap_or(last);
                    }
                    values.ends.push(last);
                }
            }
        }
    }
}

/// Moves each value to the next place that is `defined`.
fn spread<T: Copy + Default>(values: &mut Vec<T>, defined: &[bool]) {
    let mut from = values.len();
    values.resize(defined.len(), T::default());
    for (row, &is_defined) in defined.iter().enumerate().rev() {
        if is_defined {
            from -= 1;
            values[row] = values[from];
            if from != row {
                values[from] = T::default();
            }
        } else if row >= from {
            values[row] = T::default();
        }
    }
}

fn plain_values(
    column: Column,
    mut page: PageBytes<'_>,
    count: usize,
    values: &mut Values,
) -> Result<(), ReadError> {
    match values {
        Values::Numbers(values) if column == Column::Type => {
            let mut words = ByteValues::default();
            decode::plain_bytes(page, count, &mut words)?;
            for index in 0..count {
                values.push(type_number(words.get(index))?);
            }
            Ok(())
        }
        Values::Numbers(values) => {
            let is_short = COLUMNS[column as usize].physical == Physical::Int32;
            decode::plain(page, count, if is_short { 4 } else { 8 }, values)
        }
        Values::Bytes(values) => decode::plain_bytes(page, count, values),
        Values::Digests(values) => {
            let bytes = page.take(count * 16)?;
            let digests = bytes.chunks_exact(16);
            values.extend(digests.map(|it| <[u8; 16]>::try_from(it).expect("BUG: 16 bytes")));
            Ok(())
        }
    }
}

fn from_dictionary(
    mut page: PageBytes<'_>,
    count: usize,
    dictionary: &Values,
    values: &mut Values,
) -> Result<(), ReadError> {
    let width = usize::from(page.byte()?);
    let mut is_outside = false;
    match (dictionary, values) {
        (Values::Numbers(dictionary), Values::Numbers(values)) => {
            decode::runs(page, width, count, |index, length| {
                match dictionary.get(index as usize) {
                    Some(&value) if length == 1 => values.push(value),
                    Some(&value) => values.resize(values.len() + length, value),
                    None => is_outside = true,
                }
            })?;
        }
        (Values::Bytes(dictionary), Values::Bytes(values)) => {
            decode::runs(page, width, count, |index, length| {
                if index as usize >= dictionary.len() || values.bytes.len() as u64 > MAX_PAGE_BYTES
                {
                    is_outside = true;
                    return;
                }
                let value = dictionary.get(index as usize);
                for _ in 0..length {
                    if values.bytes.len() as u64 > MAX_PAGE_BYTES {
                        is_outside = true;
                        return;
                    }
                    values.bytes.extend_from_slice(value);
                    values.ends.push(values.bytes.len() as u32);
                }
            })?;
        }
        _ => return damaged("a dictionary that no snapshot has"),
    }
    if is_outside { damaged("a value is not in its dictionary") } else { Ok(()) }
}

fn type_number(word: &[u8]) -> Result<u64, ReadError> {
    match FileType::ALL.iter().position(|file_type| file_type.as_str().as_bytes() == word) {
        Some(number) => Ok(number as u64),
        None => damaged("an unknown file type"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spread_moves_values_to_defined_rows(rows in prop::collection::vec(any::<Option<u8>>(), 0..50)) {
            let defined: Vec<bool> = rows.iter().map(Option::is_some).collect();
            let mut values: Vec<u8> = rows.iter().copied().flatten().collect();
            spread(&mut values, &defined);
            let expected: Vec<u8> = rows.iter().map(|value| value.unwrap_or(0)).collect();
            prop_assert_eq!(values, expected);
        }
    }
}
