//! Reads a column page by page.

mod compare;

use std::cell::RefCell;
use std::io;

use memchr::memmem::Finder;
use transect_sys::ReadAt;
use zstd::bulk::Decompressor;

use crate::byte_values::ByteValues;
use crate::schema::{COLUMNS, Column, Physical};

use super::decode::{self, PageBytes};
use super::error::{ReadError, damaged};
use super::footer::{Codec, ColumnChunk, RowGroup};
use super::page::{DATA_PAGE, DICTIONARY_PAGE, MAX_PAGE_BYTES, PageHeader, Window};
use super::values::{Values, from_dictionary, plain_values};

/// The encodings of pages that have all values one after the other.
const PLAIN: i64 = 0;
const DELTA_LENGTH: i64 = 6;

/// A page that was found.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    header: PageHeader,
    /// Where its bytes begin, behind the description.
    begin: u64,
}

impl Page {
    /// Reads its bytes, which are inside the file.
    fn bytes(&self, source: &dyn ReadAt) -> Result<Vec<u8>, ReadError> {
        let mut bytes = vec![0; self.header.compressed as usize];
        source.read_exact_at(self.begin, &mut bytes)?;
        Ok(bytes)
    }
}

/// Reads one column, without the others. Pages are found forwards: a row before the current page is looked for from the
/// begin of its row group on.
pub(crate) struct ColumnReader<'s> {
    source: &'s dyn ReadAt,
    groups: &'s [RowGroup],
    column: Column,
    /// The column of the current row group.
    chunk: ColumnChunk,
    /// The first row of the next row group.
    group_end: u64,
    /// The offset of the next page.
    next: u64,
    /// The current page, its first row, and that of the next one.
    current: Page,
    first: u64,
    after: u64,
    /// The number of rows of the current page if `values` and `defined` are its own, or 0.
    decoded: u64,
    dictionary_page: Option<Page>,
    dictionary: Option<Values>,
    /// Where the dictionaries that were compared last begin, and whether they are the same.
    compared_dictionaries: Option<((u64, u64), bool)>,
    values: Values,
    /// For each row of the current page, whether it has a value; empty if all have.
    pub(crate) defined: Vec<bool>,
    /// For each row of a page of paths, the length that it shares with the one before; `values` has the rest.
    shared: Vec<u64>,
    window: Window,
    page: Vec<u8>,
    /// Where the page begins in the file that `page` has, decompressed; `None` if it was decoded.
    decompressed: Option<u64>,
    scratch: Vec<u64>,
    /// Whether all names of the current page are ASCII without `/` and NUL: few pages have others.
    pub(super) is_plain: bool,
}

pub(crate) struct Numbers<'r> {
    /// One for each row; 0 if it is null.
    pub(crate) values: &'r [u64],
    /// For each row, whether it has a value; empty if all have.
    pub(crate) defined: &'r [bool],
}

impl<'r> Numbers<'r> {
    /// Iterates over the rows; `None` is null.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Option<u64>> + use<'r> {
        let defined = self.defined.iter().copied().chain(std::iter::repeat(true));
        let values = self.values.iter().zip(defined);
        values.map(|(&value, is_defined)| is_defined.then_some(value))
    }
}

impl<'s> ColumnReader<'s> {
    pub(crate) fn new(source: &'s dyn ReadAt, groups: &'s [RowGroup], column: Column) -> Self {
        Self {
            source,
            groups,
            column,
            chunk: ColumnChunk::default(),
            group_end: 0,
            next: 0,
            current: Page::default(),
            first: 0,
            after: 0,
            decoded: 0,
            dictionary_page: None,
            dictionary: None,
            compared_dictionaries: None,
            values: Values::new(column),
            defined: Vec::new(),
            shared: Vec::new(),
            window: Window::default(),
            page: Vec::new(),
            decompressed: None,
            scratch: Vec::new(),
            is_plain: false,
        }
    }

    /// Returns whether the page of a row is the current one, and decompressed.
    #[inline]
    pub(super) fn has(&self, row: u64) -> bool {
        row.wrapping_sub(self.first) < self.decoded
    }

    /// Returns the column with the page of a row decompressed.
    #[inline]
    pub(crate) fn page_of(&mut self, row: u64) -> Result<&Self, ReadError> {
        if !self.has(row) {
            self.locate(row)?;
            self.decode()?;
        }
        Ok(self)
    }

    /// Returns whether a value in the page of a row can contain a text. The page is decompressed, but not decoded.
    pub(crate) fn may_contain(&mut self, row: u64, text: &Finder<'_>) -> Result<bool, ReadError> {
        self.locate(row)?;
        let page = self.current;
        // In other pages, values are not stored as a whole.
        if self.has(row) || !matches!(page.header.encoding, PLAIN | DELTA_LENGTH) {
            return Ok(true);
        }
        self.decompress(&page)?;
        Ok(text.find(&self.page).is_some())
    }

    /// Finds the page of a row. Nothing is decompressed.
    pub(crate) fn locate(&mut self, row: u64) -> Result<(), ReadError> {
        if row >= self.group_end || row < self.first {
            self.enter_group(row)?;
        }
        while row >= self.after {
            if self.after >= self.group_end || self.next >= self.chunk.end {
                return damaged("a column ends too early");
            }
            let ColumnChunk { end: chunk_end, is_checked, .. } = self.chunk;
            let header = self.window.header(self.source, self.next, chunk_end, is_checked)?;
            let begin = self.next + header.length;
            let Some(end) = begin.checked_add(header.compressed).filter(|&end| end <= chunk_end)
            else {
                return damaged("a page lies outside of its column");
            };
            if header.size > MAX_PAGE_BYTES || header.compressed > MAX_PAGE_BYTES {
                return damaged("a page is larger than any of a snapshot");
            }
            self.next = end;
            let page = Page { header, begin };
            match header.kind {
                DICTIONARY_PAGE if self.dictionary_page.is_none() => {
                    self.dictionary_page = Some(page);
                }
                DATA_PAGE => {
                    self.first = self.after;
                    if header.values == 0 || header.values > self.group_end - self.first {
                        return damaged("a page has another number of rows");
                    }
                    self.after = self.first + header.values;
                    (self.current, self.decoded) = (page, 0);
                }
                _ => return damaged("a page of a kind that no snapshot has"),
            }
        }
        Ok(())
    }

    /// Goes to a page that begins at a row and at an offset of the file. Its column has no dictionary.
    pub(super) fn go_to_page(&mut self, row: u64, offset: u64) -> Result<(), ReadError> {
        self.enter_group(row)?;
        (self.first, self.after, self.next) = (row, row, offset);
        Ok(())
    }

    fn enter_group(&mut self, row: u64) -> Result<(), ReadError> {
        let at = self.groups.partition_point(|group| group.first_row + group.rows <= row);
        let Some(group) = self.groups.get(at) else { return damaged("a row is missing") };
        self.chunk = group.columns[self.column as usize].clone();
        self.next = self.chunk.begin;
        (self.first, self.after, self.decoded) = (group.first_row, group.first_row, 0);
        self.group_end = group.first_row + group.rows;
        (self.dictionary_page, self.dictionary) = (None, None);
        Ok(())
    }

    fn decode(&mut self) -> Result<(), ReadError> {
        if let Some(page) = self.dictionary_page
            && self.dictionary.is_none()
        {
            self.decompress(&page)?;
            self.read_dictionary(&page.header)?;
        }
        let page = self.current;
        self.decompress(&page)?;
        let mut bytes = std::mem::take(&mut self.page);
        let read = self.read_page(&page.header, &mut bytes);
        (self.page, self.decompressed) = (bytes, None);
        read?;
        self.decoded = page.header.values;
        Ok(())
    }

    /// Returns the number of a row; `None` if it is null.
    pub(crate) fn read_number(&mut self, row: u64) -> Result<Option<u64>, ReadError> {
        Ok(self.page_of(row)?.number(row))
    }

    /// Returns the numbers from a row to the end of its page.
    pub(crate) fn read_numbers(&mut self, row: u64) -> Result<Numbers<'_>, ReadError> {
        let skipped = (row - self.page_of(row)?.first) as usize;
        let values = match &self.values {
            Values::Numbers(values) => values.get(skipped..).unwrap_or_default(),
            _ => &[],
        };
        Ok(Numbers { values, defined: self.defined.get(skipped..).unwrap_or_default() })
    }

    pub(crate) fn rows_with(&mut self, text: &[u8]) -> Result<Vec<u64>, ReadError> {
        let rows = self.groups.last().map_or(0, |group| group.first_row + group.rows);
        let (mut found, mut row) = (Vec::new(), 0);
        while row < rows {
            let page = self.page_of(row)?;
            found.extend((row..page.after).filter(|&row| page.bytes(row) == Some(text)));
            row = page.after;
        }
        Ok(found)
    }

    /// Returns the first row of the current page.
    pub(crate) fn page_begin(&self) -> u64 {
        self.first
    }

    /// Returns the first row behind the current page.
    pub(crate) fn page_end(&self) -> u64 {
        self.after
    }

    /// Returns the number of a row in the current page; `None` if it is null.
    #[inline]
    pub(crate) fn number(&self, row: u64) -> Option<u64> {
        let index = self.index(row)?;
        match &self.values {
            Values::Numbers(values) => values.get(index).copied(),
            _ => None,
        }
    }

    /// Returns the bytes of a row in the current page; `None` if it is null.
    #[inline]
    pub(crate) fn bytes(&self, row: u64) -> Option<&[u8]> {
        let index = self.index(row)?;
        match &self.values {
            Values::Bytes(values) => Some(values.get(index)),
            _ => None,
        }
    }

    /// Returns the values of the current page, of which all rows have one; none for numbers.
    pub(crate) fn all_bytes(&self) -> Option<&ByteValues> {
        match &self.values {
            Values::Bytes(values) => Some(values),
            _ => None,
        }
    }

    /// Returns whether no path of the current page shares a part with the one before.
    pub(crate) fn has_whole_paths(&self) -> bool {
        self.shared.is_empty()
    }

    /// Returns the path of a row in the current page: the length that it shares with the one before, and the rest.
    pub(crate) fn path_rest(&self, row: u64) -> Option<(u64, &[u8])> {
        // Another encoding shares nothing.
        let shared = self.shared.get((row - self.first) as usize).copied().unwrap_or(0);
        Some((shared, self.bytes(row)?))
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

    fn decompress(&mut self, page: &Page) -> Result<(), ReadError> {
        let Page { header, begin } = page;
        if self.decompressed == Some(*begin) {
            return Ok(());
        }
        self.decompressed = None;
        let bytes = self.window.get(self.source, *begin, header.compressed, self.chunk.end)?;
        if header.crc.map_or(self.chunk.is_checked, |crc| crc != crc32fast::hash(bytes)) {
            return damaged("a page has a wrong checksum");
        }
        self.page.clear();
        match self.chunk.codec {
            Codec::None => self.page.extend_from_slice(bytes),
            Codec::Zstd => {
                // The size is limited, and only the pages of memory that are written are used.
                self.page.reserve(header.size as usize);
                if decompress(bytes, &mut self.page).is_err() {
                    return damaged("a page cannot be decompressed");
                }
            }
        }
        if self.page.len() as u64 != header.size {
            return damaged("a page has another size");
        }
        self.decompressed = Some(*begin);
        Ok(())
    }

    fn read_dictionary(&mut self, header: &PageHeader) -> Result<(), ReadError> {
        // Every value has at least one byte, even an empty text with its length.
        if header.values > header.size {
            return damaged("a dictionary is larger than its page");
        }
        let mut values = Values::new(self.column);
        plain_values(self.column, &mut self.page, 0, header.values as usize, &mut values)?;
        self.dictionary = Some(values);
        Ok(())
    }

    fn read_page(&mut self, header: &PageHeader, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
        let rows = header.values as usize;
        let mut begin = 0;
        self.defined.clear();
        self.shared.clear();
        self.values.clear();
        let mut count = rows;
        if COLUMNS[self.column as usize].optional {
            const RLE: i64 = 3;
            if header.level_encoding != RLE {
                return damaged("nulls are encoded as in no snapshot");
            }
            let mut page = PageBytes::new(bytes);
            let length = page.u32()?;
            begin = 4 + length as usize;
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
        self.read_encoded(header.encoding, bytes, begin, count)?;
        if self.values.len() != count {
            return damaged("a page has another number of values");
        }
        if count != rows {
            self.values.spread(&self.defined);
        }
        if let (Column::Name, Values::Bytes(names)) = (self.column, &self.values) {
            // Without an early exit, many bytes are checked at once.
            let is_plain = |byte: u8| byte.is_ascii() & (byte != b'/') & (byte != 0);
            self.is_plain = names.bytes.iter().fold(true, |all, &byte| all & is_plain(byte));
        }
        Ok(())
    }

    /// Decodes `count` values, which begin at an offset (`Encoding` in `parquet.thrift`).
    fn read_encoded(
        &mut self,
        encoding: i64,
        bytes: &mut Vec<u8>,
        begin: usize,
        count: usize,
    ) -> Result<(), ReadError> {
        let column = self.column;
        let page = PageBytes::new(&bytes[begin..]);
        let width = match COLUMNS[column as usize].physical {
            Physical::Int32 => 4,
            _ => 8,
        };
        match (encoding, &mut self.values) {
            (PLAIN, values) => plain_values(column, bytes, begin, count, values),
            (2 | 8, values) => {
                let Some(dictionary) = &self.dictionary else {
                    return damaged("a dictionary is missing");
                };
                if count == 0 { Ok(()) } else { from_dictionary(page, count, dictionary, values) }
            }
            (5, Values::Numbers(values)) if column != Column::Type => {
                decode::delta(page, count, values).map(drop)
            }
            (DELTA_LENGTH, Values::Bytes(values)) => {
                decode::delta_length(page, count, &mut self.scratch, values)
            }
            (7, Values::Bytes(values)) if column == Column::Dir => {
                self.shared.clear();
                let rests = decode::delta(page, count, &mut self.shared)?;
                decode::delta_length(rests, count, &mut self.scratch, values)
            }
            (9, Values::Numbers(values)) if column != Column::Type => {
                decode::byte_stream_split(page, count, width, values)
            }
            (other, _) => damaged(format!("encoding {other}, which no snapshot has there")),
        }
    }
}

/// Fills the capacity of a buffer at most.
fn decompress(bytes: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    thread_local! {
        /// One for all columns: it uses some hundred kilobytes.
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(bytes, into).map(drop)
    })
}
