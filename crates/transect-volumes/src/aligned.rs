//! A source that is read only in whole sectors, into memory that begins at a multiple of their size: so that a device of
//! Windows can be read at any offset.

use std::io;
use std::sync::{Mutex, PoisonError};

use transect_sys::ReadAt;

/// A multiple of the sectors of all devices.
const SECTOR: u64 = 4096;
/// The most bytes that are read at once: a piece of a table, wherever it begins.
const PIECE: u64 = (1 << 20) + SECTOR;

/// A source of this size, which is a multiple of its sectors.
#[derive(Debug)]
pub(super) struct Aligned<S> {
    source: S,
    size: u64,
    /// Memory that no thread is using.
    spare: Mutex<Vec<Sectors>>,
}

impl<S: ReadAt> Aligned<S> {
    pub(super) fn new(source: S, size: u64) -> Self {
        Self { source, size, spare: Mutex::default() }
    }

    #[cfg(windows)]
    pub(super) fn with_size(self, size: u64) -> Self {
        Self { size, ..self }
    }

    fn read(&self, sectors: &mut Sectors, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(block.len() as u64).filter(|&end| end <= self.size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (mut at, mut rest) = (offset / SECTOR * SECTOR, block);
        while !rest.is_empty() {
            // The last sectors of a device may be smaller.
            let length = (end - at).next_multiple_of(SECTOR).min(self.size - at).min(PIECE);
            let read = sectors.memory(length as usize);
            self.source.read_exact_at(at, read)?;
            let wanted = &read[offset.saturating_sub(at) as usize..];
            let (now, later) = rest.split_at_mut(wanted.len().min(rest.len()));
            now.copy_from_slice(&wanted[..now.len()]);
            rest = later;
            at += length;
        }
        Ok(())
    }
}

impl<S: ReadAt> ReadAt for Aligned<S> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sectors = spare().pop().unwrap_or_default();
        let read = self.read(&mut sectors, offset, block);
        spare().push(sectors);
        read
    }
}

/// A buffer that is reused, with room to align the first sector.
#[derive(Debug, Default)]
struct Sectors(Vec<u8>);

impl Sectors {
    /// Returns `length` bytes, aligned to [`SECTOR`].
    fn memory(&mut self, length: usize) -> &mut [u8] {
        let needed = length + SECTOR as usize;
        if self.0.len() < needed {
            self.0 = vec![0; needed];
        }
        let begin = self.0.as_ptr().align_offset(SECTOR as usize);
        &mut self.0[begin..begin + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails as a device does.
    struct Device(Vec<u8>);

    impl ReadAt for Device {
        fn size(&self) -> io::Result<u64> {
            self.0.size()
        }

        fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
            let numbers = [offset, block.len() as u64, block.as_ptr().addr() as u64];
            if numbers.iter().any(|number| !number.is_multiple_of(512)) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            self.0.read_exact_at(offset, block)
        }
    }

    #[test]
    fn aligned_any_offset_and_length_same_as_unaligned() {
        let size = 3 * PIECE as usize + 512;
        let bytes: Vec<u8> = (0..size).map(|at| (at / 7 + at / 4096) as u8).collect();
        let device = Aligned::new(Device(bytes.clone()), size as u64);
        let places = [0, 1, 511, 4095, 4096, 5000, PIECE as usize - 1, 2 * PIECE as usize, size];
        for begin in places {
            for end in places.into_iter().chain([size - 1, size - 511]).filter(|&end| begin <= end)
            {
                let mut block = vec![0xAA; end - begin];
                device.read_exact_at(begin as u64, &mut block).unwrap();
                assert!(block == bytes[begin..end], "{begin}..{end}");
            }
        }
        for (begin, length) in [(size as u64, 1), (0, size + 1), (u64::MAX, 2)] {
            let beyond = device.read_exact_at(begin, &mut vec![0; length]).unwrap_err();
            assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
        }
        let shorter = Aligned::new(Device(vec![0; 512]), 1024);
        let error = shorter.read_exact_at(500, &mut [0; 100]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "the error of the source");
    }
}
