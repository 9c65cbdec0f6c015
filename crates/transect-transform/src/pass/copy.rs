//! Copies by the kernel, or by reading and writing where the kernel cannot copy.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use transect::Cancel;

use super::block::{Block, LARGE_BLOCK};
use super::holes::append_sparse;
use super::options::add_progress;
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::{Source, check_cancelled, fill_at};
use crate::system;

/// Bytes per call: enough that calls cost nothing, and few enough to check for cancellation.
const PIECE: u64 = 16 << 20;

/// Copies from a source to a replacement.
pub(super) struct Copier<'a> {
    pub(super) source: &'a Source,
    pub(super) out: &'a mut Replacement,
    pub(super) cancel: &'a Cancel,
    /// Counts the bytes copied.
    pub(super) progress: Option<&'a AtomicU64>,
    /// Memory for reading and writing.
    pub(super) block: &'a mut Block,
}

impl Copier<'_> {
    /// Copies the whole source.
    pub(super) fn whole(mut self) -> Result<(), Error> {
        let Self { source, out, .. } = &mut self;
        let size = source.size();
        out.start()?;
        if size > 0 && system::clone_file(source.file(), out.file()) {
            source.add_consumed(size);
            return out.skip(size);
        }
        if !source.is_sparse() {
            out.reserve(size)?;
        }
        self.part(0..size)?;
        // Pseudo files and growing files have more bytes than their size.
        self.read_and_write(size..u64::MAX)?;
        self.source.add_consumed(self.out.length());
        Ok(())
    }

    /// Copies a part to the end of the output. Holes stay holes. Stops where the source ends.
    pub(super) fn part(&mut self, range: Range<u64>) -> Result<(), Error> {
        let mut at = range.start;
        while at < range.end {
            let data = self.next_data(at..range.end);
            self.out.hole(data.start - at)?;
            at = data.end;
            if !self.extent(data)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns the next part that is not a hole; an empty range at the end if the rest is a hole.
    fn next_data(&self, range: Range<u64>) -> Range<u64> {
        if !self.source.is_sparse() {
            return range;
        }
        let end = range.end;
        system::next_data(self.source.file(), range).unwrap_or(end..end)
    }

    /// Copies bytes outside holes. Returns whether the source had all of them.
    fn extent(&mut self, range: Range<u64>) -> Result<bool, Error> {
        let mut at = range.start;
        while at < range.end {
            check_cancelled(self.cancel, self.source)?;
            let length = (range.end - at).min(PIECE) as usize;
            let copied = system::copy_range(self.source.file(), self.out.file(), at, length)
                .map_err(self.out.write_error())?;
            match copied {
                Some(copied) => {
                    at += copied as u64;
                    add_progress(self.progress, copied);
                    // The kernel wrote at an offset, so the handle must be moved.
                    self.out.skip(copied as u64)?;
                }
                None => return self.read_and_write(at..range.end),
            }
        }
        Ok(true)
    }

    /// Copies by reading and writing. Returns whether the source had all bytes.
    fn read_and_write(&mut self, range: Range<u64>) -> Result<bool, Error> {
        let mut at = range.start;
        while at < range.end {
            check_cancelled(self.cancel, self.source)?;
            let length = (range.end - at).min(LARGE_BLOCK as u64) as usize;
            let block = self.block.first(length);
            let read = fill_at(self.source.file(), block, at).map_err(self.source.read_error())?;
            at += read as u64;
            if self.source.is_sparse() {
                // Not every system reports where the holes are.
                append_sparse(self.out, &block[..read])?;
            } else {
                self.out.append(&block[..read])?;
            }
            add_progress(self.progress, read);
            if read < length {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
