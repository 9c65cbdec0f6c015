//! The bytes of a volume, and numbers in them.

use std::fs::File;
use std::io;
use std::path::Path;

use transect_sys::ReadAt;

pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = transect_sys::input::open_disk(path)?;
    // Tables are read in large pieces, in which all is wanted: what the kernel would read ahead is not.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    Ok(file)
}

/// Consecutive bytes of another source: a partition of a disk. All reads stay within it.
pub(super) struct Window<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) begin: u64,
    pub(super) length: u64,
}

impl ReadAt for Window<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(block.len() as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let begin = self.begin.checked_add(offset).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.source.read_exact_at(begin, block)
    }

    fn prefetch(&self, offset: u64, length: u64) {
        self.source.prefetch(self.begin.saturating_add(offset), length);
    }
}

/// Memory for one read after the other.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// Reads this many bytes at an offset.
    pub(super) fn read(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        length: usize,
    ) -> io::Result<&[u8]> {
        if self.0.len() < length {
            self.0.resize(length, 0);
        }
        let bytes = &mut self.0[..length];
        source.read_exact_at(offset, bytes)?;
        Ok(bytes)
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

    pub(super) fn u64(self, at: usize) -> u64 {
        self.array(at).map_or(0, u64::from_le_bytes)
    }

    /// Returns a number whose halves are apart.
    pub(super) fn u64_of(self, low: usize, high: usize) -> u64 {
        u64::from(self.u32(low)) | u64::from(self.u32(high)) << 32
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.first_chunk().copied()
    }
}
