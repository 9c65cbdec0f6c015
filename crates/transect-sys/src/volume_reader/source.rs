//! The bytes of a volume: an image file, a block device, or memory.

use std::fs::File;
use std::io;

/// Bytes that can be read at any offset, from any thread.
pub trait ReadAt: Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The system's error.
    fn size(&self) -> io::Result<u64>;

    /// Fills a block with the bytes at an offset.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if there are fewer; the system's error.
    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        // The length of a device is 0 in its attributes, so its end is looked for.
        use std::io::{Seek, SeekFrom};
        let mut file = self;
        file.seek(SeekFrom::End(0))
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        match crate::file::read_at(self, block, offset)? {
            read if read == block.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl ReadAt for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let begin = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = begin.checked_add(block.len());
        let bytes = end.and_then(|end| self.get(begin..end));
        block.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Little-endian numbers at fixed offsets of a record. Beyond its end, there are zeros.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    pub(super) fn u16(self, at: usize) -> u16 {
        self.array(at).map_or(0, u16::from_le_bytes)
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        self.array(at).map_or(0, u32::from_le_bytes)
    }

    /// Returns a number whose halves are apart.
    pub(super) fn u64_of(self, low: usize, high: usize) -> u64 {
        u64::from(self.u32(low)) | u64::from(self.u32(high)) << 32
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }
}
