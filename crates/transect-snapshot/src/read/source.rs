//! Where a snapshot is read from.

use std::fs::File;
use std::io;

/// Bytes that can be read at any offset.
pub trait ReadAt {
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
        Ok(transect_sys::file::attributes_of(self)?.size().unwrap_or(0))
    }

    fn read_exact_at(&self, mut offset: u64, mut block: &mut [u8]) -> io::Result<()> {
        while !block.is_empty() {
            match transect_sys::file::read_at(self, block, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    offset += read as u64;
                    block = &mut block[read..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
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

impl<S: ReadAt> ReadAt for &S {
    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        (**self).read_exact_at(offset, block)
    }
}
