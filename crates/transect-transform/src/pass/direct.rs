//! Direct I/O: the device reads into our blocks and writes from them, bypassing the page cache.
//!
//! Offsets, lengths and memory must be aligned. Unaligned parts go through the cache: the end of a
//! file, and a result that starts to differ in the middle of a block.

use std::fs::File;
use std::io;

use super::IoMethod;
use super::block::{ALIGNMENT, Block};
use super::file_writer::PositionedWriter;
use super::step_runner::{BlockReader, FillReader};
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::{Source, fill};
use crate::system::{self, DirectSwitch};

/// Default block size: one request to the device.
pub(super) const BLOCK: usize = 1 << 20;

/// Returns the alignment of offsets and lengths. Always whole pages, even if less is required, so
/// that no page is half in the cache.
fn alignment(
    method: IoMethod,
    file: &File,
    failed: impl FnOnce(io::Error) -> Error,
) -> Result<usize, Error> {
    let told = system::direct_alignment(file).map_err(failed)?;
    told.filter(|told| *told <= ALIGNMENT).map(|_| ALIGNMENT).ok_or_else(|| no_direct_io(method))
}

/// Returns the error for a file that does not support direct I/O.
fn no_direct_io(method: IoMethod) -> Error {
    Error::unsupported(method.as_str(), "the file system does not support direct I/O")
}

/// A file read with direct I/O, and through the cache at unaligned offsets.
#[derive(Debug)]
pub(super) struct DirectFile {
    /// `None` if all reads go through the cache.
    direct: Option<File>,
    cached: File,
    alignment: usize,
}

impl DirectFile {
    /// Opens the source a second time.
    pub(super) fn of(source: &Source, method: IoMethod) -> Result<Self, Error> {
        let alignment = alignment(method, source.file(), source.read_error())?;
        let direct = system::open_direct(source.path()).map_err(source.read_error())?;
        let direct = direct.ok_or_else(|| no_direct_io(method))?;
        source.verify_same(&direct)?;
        Ok(Self { direct: Some(direct), alignment, ..Self::cached(source)? })
    }

    /// Returns a file that is always read through the cache.
    pub(super) fn cached(source: &Source) -> Result<Self, Error> {
        let cached = source.file().try_clone().map_err(source.read_error())?;
        Ok(Self { direct: None, cached, alignment: 1 })
    }

    /// Returns the handle for reading at an offset.
    pub(super) fn at(&self, offset: u64) -> &File {
        match &self.direct {
            Some(direct) if offset.is_multiple_of(self.alignment as u64) => direct,
            _ => &self.cached,
        }
    }
}

/// Returns a reader of blocks with direct I/O. Rounds `size` up to the alignment.
pub(super) fn reader<'a>(
    source: &'a Source,
    method: IoMethod,
    block: &'a mut Block,
    size: usize,
) -> Result<impl BlockReader + 'a, Error> {
    let file = DirectFile::of(source, method)?;
    let size = size.next_multiple_of(file.alignment);
    Ok(FillReader::new(block, size, move |block| {
        let begin = source.consumed();
        // If the device returns a short block, a read through the page cache finds out whether more
        // follows.
        let read = fill(block, |rest, filled| {
            let at = begin + filled as u64;
            system::read_at(file.at(at), rest, at)
        });
        let read = read.map_err(source.read_error())?;
        source.add_consumed(read as u64);
        Ok(read)
    }))
}

/// A file written with direct I/O where possible.
pub(super) struct DirectHandle {
    /// 1 if all writes go through the cache.
    alignment: usize,
    switch: DirectSwitch,
}

impl DirectHandle {
    pub(super) fn of(out: &Replacement, method: IoMethod) -> Result<Self, Error> {
        let alignment = match method {
            IoMethod::Uring => 1,
            _ => alignment(method, out.file(), out.write_error())?,
        };
        Ok(Self { alignment, switch: DirectSwitch::default() })
    }

    /// Returns how many bytes from an offset on to write through the cache before the next aligned
    /// offset.
    pub(super) fn unaligned_prefix(&self, offset: u64) -> usize {
        (offset.next_multiple_of(self.alignment as u64) - offset) as usize
    }

    /// Rounds a length down to the alignment.
    pub(super) fn aligned_length(&self, length: usize) -> usize {
        length / self.alignment * self.alignment
    }

    /// Switches direct I/O on or off. No request may be in flight.
    pub(super) fn set_direct(
        &mut self,
        out: &Replacement,
        method: IoMethod,
        direct: bool,
    ) -> Result<(), Error> {
        if self.alignment > 1
            && !self.switch.set_direct(out.file(), direct).map_err(out.write_error())?
        {
            return Err(no_direct_io(method));
        }
        Ok(())
    }
}

/// Writes blocks with direct I/O.
#[derive(Default)]
pub(super) struct DirectWriter {
    /// Set when the file exists.
    handle: Option<DirectHandle>,
    size: usize,
    /// Bytes that do not fill a block yet, and their offset.
    block: Block,
    gathered: usize,
    at: u64,
}

impl DirectWriter {
    pub(super) fn new(size: usize) -> Self {
        Self { size, ..Self::default() }
    }

    /// Writes bytes at an offset; `direct` requires both to be aligned.
    fn write(
        handle: &mut DirectHandle,
        out: &Replacement,
        bytes: &[u8],
        offset: u64,
        direct: bool,
    ) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        handle.set_direct(out, IoMethod::Direct, direct)?;
        let written = system::write_all_at(handle.switch.handle(out.file()), bytes, offset);
        written.map_err(out.write_error())
    }

    /// Writes the collected bytes.
    fn flush_gathered(&mut self, out: &Replacement) -> Result<(), Error> {
        let Some(handle) = &mut self.handle else { return Ok(()) };
        let bytes = &self.block.first(self.gathered)[..];
        let (whole, rest) = bytes.split_at(handle.aligned_length(bytes.len()));
        Self::write(handle, out, whole, self.at, true)?;
        Self::write(handle, out, rest, self.at + whole.len() as u64, false)?;
        self.gathered = 0;
        Ok(())
    }
}

impl PositionedWriter for DirectWriter {
    fn write_at_end(&mut self, out: &Replacement, mut bytes: &[u8]) -> Result<(), Error> {
        let mut at = out.length();
        if self.at + self.gathered as u64 != at {
            // A hole is in between.
            self.flush_gathered(out)?;
        }
        if self.handle.is_none() {
            let handle = DirectHandle::of(out, IoMethod::Direct)?;
            self.size = self.size.next_multiple_of(handle.alignment);
            self.handle = Some(handle);
        }
        while !bytes.is_empty() {
            let handle = self.handle.as_mut().expect("BUG: it was made above");
            let (now, direct) = match self.gathered {
                0 if handle.unaligned_prefix(at) > 0 => {
                    (handle.unaligned_prefix(at).min(bytes.len()), Some(false))
                }
                // Write a block that was not copied directly from its memory.
                0 if bytes.len() >= self.size
                    && bytes.as_ptr().addr().is_multiple_of(ALIGNMENT) =>
                {
                    (handle.aligned_length(bytes.len()), Some(true))
                }
                gathered => (bytes.len().min(self.size - gathered), None),
            };
            let (now, later) = bytes.split_at(now);
            if let Some(direct) = direct {
                Self::write(handle, out, now, at, direct)?;
            } else {
                self.at = at - self.gathered as u64;
                let end = self.gathered + now.len();
                self.block.first(self.size)[self.gathered..end].copy_from_slice(now);
                self.gathered = end;
                if end == self.size {
                    self.flush_gathered(out)?;
                }
            }
            at += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Writes the rest, its last bytes through the cache.
    fn finish(&mut self, out: &Replacement) -> Result<(), Error> {
        self.flush_gathered(out)?;
        self.handle
            .as_mut()
            .map_or(Ok(()), |handle| handle.set_direct(out, IoMethod::Direct, false))
    }
}
