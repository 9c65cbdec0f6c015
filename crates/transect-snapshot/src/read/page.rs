//! Where the pages of a column lie, and how they are described.

use transect_sys::ReadAt;

use crate::checksum::{Seal, verify};

use super::error::{ReadError, damaged};
use super::thrift::Thrift;

/// The maximum size of a page, decompressed. The writer's have a hundredth.
pub(super) const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The number of bytes read to find the description of a page, which is smaller.
const HEADER_BYTES: u64 = 512;

/// Part of the file.
#[derive(Debug, Default)]
pub(super) struct Window {
    begin: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns `length` bytes at an offset; fewer if `end` comes before.
    pub(super) fn get(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        length: u64,
        end: u64,
    ) -> Result<&[u8], ReadError> {
        let length = length.min(end.saturating_sub(offset));
        let have = self.begin + self.bytes.len() as u64;
        if offset < self.begin || offset + length > have {
            // A description comes with the beginning of its page, and with the page before it.
            let read =
                (length + HEADER_BYTES).max(8 * HEADER_BYTES).min(end.saturating_sub(offset));
            self.bytes.resize(read as usize, 0);
            self.begin = offset;
            source.read_exact_at(offset, &mut self.bytes)?;
        }
        let at = (offset - self.begin) as usize;
        Ok(&self.bytes[at..at + length as usize])
    }

    /// Reads the description at an offset; `end` is that of the column, `is_checked` whether its pages have checksums.
    pub(super) fn header(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        end: u64,
        is_checked: bool,
    ) -> Result<PageHeader, ReadError> {
        let bytes = self.get(source, offset, HEADER_BYTES, end)?;
        let mut thrift = Thrift::new(bytes);
        let mut header = PageHeader { kind: -1, ..PageHeader::default() };
        thrift.fields(|thrift, id, _| {
            match id {
                1 => header.kind = thrift.number()?,
                2 => header.size = thrift.size()?,
                3 => header.compressed = thrift.size()?,
                4 => header.crc = Some(thrift.number()? as u32),
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
        let length = bytes.len() - thrift.remaining();
        if is_checked && verify(&bytes[..length]) != Seal::Intact {
            return damaged("the description of a page has a wrong checksum");
        }
        header.length = length as u64;
        Ok(header)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageHeader {
    pub(super) kind: i64,
    pub(super) size: u64,
    pub(super) compressed: u64,
    /// The checksum of the compressed bytes.
    pub(super) crc: Option<u32>,
    pub(super) values: u64,
    pub(super) encoding: i64,
    pub(super) level_encoding: i64,
    /// The length of the description itself.
    pub(super) length: u64,
}

/// The kinds of pages (`PageType` in `parquet.thrift`).
pub(super) const DATA_PAGE: i64 = 0;
pub(super) const DICTIONARY_PAGE: i64 = 2;
