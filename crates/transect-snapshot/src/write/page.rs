//! Compresses the content of a page, and puts its header before it.

use std::io;

use zstd::bulk::Compressor;

use crate::schema::Layout;

use super::bounds::Bounds;
use super::thrift::{Fields, sealed_structure};

/// The level of compression. Level 3 makes `/usr` 2 % smaller, for a tenth of the time of writing; -1 makes it 9 % larger.
const ZSTD_LEVEL: i32 = 1;

/// Encodings (`Encoding` in `parquet.thrift`).
pub(super) const PLAIN: i32 = 0;
pub(super) const RLE: i32 = 3;
pub(super) const RLE_DICTIONARY: i32 = 8;

/// Returns the encoding of the data of a column, unless all of it is null.
pub(super) fn encoding(layout: Layout) -> i32 {
    match layout {
        Layout::Plain => PLAIN,
        Layout::Delta => 5,
        Layout::Dictionary => RLE_DICTIONARY,
    }
}

/// A page as it is in the file.
#[derive(Debug)]
pub(super) struct Page {
    /// Its header, and its compressed content.
    pub(super) bytes: Vec<u8>,
    /// The number of bytes if the content were not compressed.
    pub(super) uncompressed: usize,
}

#[derive(Debug)]
pub(super) struct DataPage {
    pub(super) page: Page,
    pub(super) facts: PageFacts,
}

/// What is known of the values of a page.
#[derive(Debug)]
pub(super) struct PageFacts {
    pub(super) rows: usize,
    pub(super) nulls: usize,
    /// `None` if all values are null, and for columns that store no bounds.
    pub(super) bounds: Option<Bounds>,
}

/// Encodes pages, one after the other.
pub(super) struct PageEncoder {
    compressor: Compressor<'static>,
    /// Memory that is used again.
    compressed: Vec<u8>,
}

impl PageEncoder {
    pub(super) fn new() -> io::Result<Self> {
        let compressor = Compressor::new(ZSTD_LEVEL)?;
        Ok(Self { compressor, compressed: Vec::new() })
    }

    /// Makes a page of data of its content.
    pub(super) fn data(
        &mut self,
        facts: PageFacts,
        encoding: i32,
        content: &[u8],
    ) -> io::Result<DataPage> {
        let rows = facts.rows as i32;
        let page = self.page(0, content, |fields| {
            fields.structure(5, |fields| {
                fields.i32(1, rows);
                fields.i32(2, encoding);
                fields.i32(3, RLE);
                fields.i32(4, RLE);
            });
        })?;
        Ok(DataPage { page, facts })
    }

    /// Makes a dictionary of its content.
    pub(super) fn dictionary(&mut self, values: usize, content: &[u8]) -> io::Result<Page> {
        self.page(2, content, |fields| {
            fields.structure(7, |fields| {
                fields.i32(1, values as i32);
                fields.i32(2, PLAIN);
            });
        })
    }

    /// Makes a page of a kind, whose header has `more` fields.
    fn page(
        &mut self,
        kind: i32,
        content: &[u8],
        more: impl FnOnce(&mut Fields<'_>),
    ) -> io::Result<Page> {
        self.compressed.clear();
        self.compressed.reserve(zstd::zstd_safe::compress_bound(content.len()));
        self.compressor.compress_to_buffer(content, &mut self.compressed)?;
        let mut bytes = sealed_structure(|fields| {
            fields.i32(1, kind);
            fields.i32(2, content.len() as i32);
            fields.i32(3, self.compressed.len() as i32);
            fields.i32(4, crc32fast::hash(&self.compressed) as i32);
            more(fields);
        });
        let uncompressed = bytes.len() + content.len();
        bytes.reserve_exact(self.compressed.len());
        bytes.extend_from_slice(&self.compressed);
        Ok(Page { bytes, uncompressed })
    }
}
