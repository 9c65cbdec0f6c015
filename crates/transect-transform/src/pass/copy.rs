//! Copies that the kernel makes, and what is done where it makes none.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use transect::Cancel;

use super::block::Block;
use super::holes::append_sparse;
use super::{LARGE_BLOCK, add_progress, check_cancelled};
use crate::error::{Error, Operation};
use crate::publish::Replacement;
use crate::source::{PositionedReader, Source, fill};
use crate::system;

/// How much the kernel copies by one call: so much that calls do not count, and so little that a
/// request to stop is heard.
const PIECE: u64 = 16 << 20;

/// Copies from a source into a replacement.
pub(super) struct Copier<'a> {
    pub(super) source: &'a Source,
    pub(super) out: &'a mut Replacement,
    pub(super) cancel: &'a Cancel,
    /// Where to count what was copied.
    pub(super) progress: Option<&'a AtomicU64>,
    /// For what is copied by reading and writing.
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
        // What the size did not tell of: files that the system makes up, files that grow.
        self.read_and_write(size..u64::MAX)?;
        self.source.add_consumed(self.out.length());
        Ok(())
    }

    /// Copies a part, to an output that is as long as what is before it. Holes stay holes. Ends
    /// where the source turns out to end.
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

    /// Returns the next part that is no hole: an empty one at the end if the rest is one.
    fn next_data(&self, range: Range<u64>) -> Range<u64> {
        if !self.source.is_sparse() {
            return range;
        }
        let end = range.end;
        system::next_data(self.source.file(), range).unwrap_or(end..end)
    }

    /// Copies bytes that are no hole. Returns whether all were there.
    fn extent(&mut self, range: Range<u64>) -> Result<bool, Error> {
        let mut at = range.start;
        while at < range.end {
            check_cancelled(self.cancel, self.source)?;
            let length = (range.end - at).min(PIECE) as usize;
            let copied = system::copy_range(self.source.file(), self.out.file(), at, length)
                .map_err(Error::system(Operation::Write, self.out.path()))?;
            match copied {
                Some(copied) => {
                    at += copied as u64;
                    add_progress(self.progress, copied);
                    // The kernel wrote at an offset: who writes on begins behind.
                    self.out.skip(copied as u64)?;
                }
                None => return self.read_and_write(at..range.end),
            }
        }
        Ok(true)
    }

    /// Copies by reading and writing. Returns whether all was there.
    fn read_and_write(&mut self, range: Range<u64>) -> Result<bool, Error> {
        let mut there = PositionedReader { file: self.source.file(), offset: range.start };
        while there.offset < range.end {
            check_cancelled(self.cancel, self.source)?;
            let length = (range.end - there.offset).min(LARGE_BLOCK as u64) as usize;
            let block = self.block.first(length);
            let read = fill(&mut there, block)
                .map_err(Error::system(Operation::Read, self.source.path()))?;
            if self.source.is_sparse() {
                // Not every system tells where the holes are.
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
