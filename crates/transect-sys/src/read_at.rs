//! Bytes that can be read at any offset: a file, a block device, or memory.

use std::fs::File;
use std::io;

/// Bytes that can be read at any offset, from any thread.
pub trait ReadAt: Sync {
    /// Returns the number of bytes.
    fn size(&self) -> io::Result<u64>;

    /// Fills a block with the bytes at an offset.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if there are fewer; the system's error.
    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()>;

    /// Returns where the next byte outside a hole is, from an offset on; the number of all bytes if there is none. What has
    /// no holes returns the offset.
    fn next_data(&self, offset: u64) -> io::Result<u64> {
        Ok(offset)
    }

    /// Begins to fetch bytes that are read soon, where that helps. Does not wait for them.
    fn prefetch(&self, offset: u64, length: u64) {
        let _ = (offset, length);
    }
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        use std::io::{Seek, SeekFrom};
        let metadata = self.metadata()?;
        if metadata.is_file() {
            return Ok(metadata.len());
        }
        // The length of a device is 0 in its attributes, so its end is looked for.
        let mut file = self;
        file.seek(SeekFrom::End(0))
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        match crate::file::read_at(self, block, offset)? {
            read if read == block.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    #[cfg(target_os = "linux")]
    fn next_data(&self, offset: u64) -> io::Result<u64> {
        match rustix::fs::seek(self, rustix::fs::SeekFrom::Data(offset)) {
            Err(rustix::io::Errno::NXIO) => self.size(),
            // Not every file system reports holes.
            found => Ok(found.unwrap_or(offset)),
        }
    }

    #[cfg(windows)]
    fn next_data(&self, offset: u64) -> io::Result<u64> {
        let size = self.size()?;
        match crate::windows::next_allocated_range(self, offset.min(size)..size) {
            Ok(found) => Ok(found.map_or(size, |range| range.start)),
            // Not every file system reports holes.
            Err(_) => Ok(offset),
        }
    }

    #[cfg(target_os = "linux")]
    fn prefetch(&self, offset: u64, length: u64) {
        // The kernel checks each page before it does nothing.
        if length == 0
            || is_cached(self, offset) && is_cached(self, offset.saturating_add(length - 1))
        {
            return;
        }
        // Without it, reading takes longer, and shows the same.
        if let Some(length) = std::num::NonZero::new(length) {
            let _ = rustix::fs::fadvise(self, offset, Some(length), rustix::fs::Advice::WillNeed);
        }
    }
}

/// Returns whether a byte is in the page cache.
#[cfg(target_os = "linux")]
fn is_cached(file: &File, offset: u64) -> bool {
    let mut byte = [0];
    let mut buffers = [io::IoSliceMut::new(&mut byte)];
    let flags = rustix::io::ReadWriteFlags::NOWAIT;
    rustix::io::preadv2(file, &mut buffers, offset, flags).is_ok_and(|read| read > 0)
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

impl ReadAt for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_exact_at(offset, block)
    }
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        (**self).read_exact_at(offset, block)
    }

    fn next_data(&self, offset: u64) -> io::Result<u64> {
        (**self).next_data(offset)
    }

    fn prefetch(&self, offset: u64, length: u64) {
        (**self).prefetch(offset, length);
    }
}
