//! Memory-mapped files.
//!
//! Blocks are copied out of the mapping of the input and into that of the output: other processes
//! may change mapped bytes at any time, so each is read only once (`Mapping` of `transect_sys`).
//! One window of each file is mapped at a time, so memory use does not depend on the size of the
//! file.

use std::ops::Range;

use super::IoMethod;
use super::block::Block;
use super::file_writer::PositionedWriter;
use super::step_runner::BlockReader;
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::Source;
use crate::system::{self, Mapping};

/// Bytes of a file that are mapped at once.
const WINDOW: u64 = 4 << 20;

/// The part of a file that is mapped.
#[derive(Default)]
struct Window(Option<(Range<u64>, Mapping)>);

impl Window {
    /// Returns the mapping that contains the byte at `offset`, and its index there. Unmaps the old
    /// window and calls `open` for a new one if needed.
    fn at(
        &mut self,
        offset: u64,
        open: impl FnOnce() -> Result<(Range<u64>, Mapping), Error>,
    ) -> Result<(&mut Mapping, usize), Error> {
        if !self.0.as_ref().is_some_and(|(part, _)| part.contains(&offset)) {
            self.0 = None;
            self.0 = Some(open()?);
        }
        let (part, mapping) = self.0.as_mut().expect("BUG: it was opened above");
        Ok((mapping, (offset - part.start) as usize))
    }
}

/// Returns the error for a file that cannot be mapped.
fn unmappable(method: IoMethod) -> Error {
    Error::unsupported(method.as_str(), "files of this kind cannot be mapped")
}

/// Copies blocks out of a mapping.
pub(super) struct MappedReader<'a> {
    source: &'a Source,
    method: IoMethod,
    block: &'a mut Block,
    size: usize,
    window: Window,
}

impl<'a> MappedReader<'a> {
    pub(super) fn new(
        source: &'a Source,
        method: IoMethod,
        block: &'a mut Block,
        size: usize,
    ) -> Result<Self, Error> {
        if source.size() == 0 && !source.is_empty()? {
            let why = "the file has no size: its content is made up while it is read";
            return Err(Error::unsupported(method.as_str(), why));
        }
        Ok(Self { source, method, block, size, window: Window::default() })
    }
}

impl BlockReader for MappedReader<'_> {
    fn next_block(&mut self) -> Result<&mut [u8], Error> {
        let Self { source, method, .. } = *self;
        let begin = source.consumed();
        // Bytes appended meanwhile are detected at the end.
        let length = (source.size() - begin).min(self.size as u64) as usize;
        let block = &mut self.block.first(self.size)[..length];
        let mut copied = 0;
        while copied < length {
            let at = begin + copied as u64;
            let (mapping, from) = self.window.at(at, || {
                let part = at..source.size().min(at + WINDOW);
                let mapping = Mapping::map_read(source.file(), part.clone());
                let mapping = mapping.map_err(|error| source.changed_or(error))?;
                Ok((part, mapping.ok_or_else(|| unmappable(method))?))
            })?;
            let piece = (length - copied).min(mapping.len() - from);
            let read = mapping.read(from, &mut block[copied..copied + piece]);
            read.map_err(|error| source.changed_or(error))?;
            copied += piece;
        }
        source.add_consumed(length as u64);
        Ok(block)
    }
}

/// Copies blocks into a mapping. Space is reserved before a window is mapped, so that a full device
/// is an error and not a fault later.
pub(super) struct MappedWriter {
    method: IoMethod,
    /// Where the file will end; `None` if space is reserved only outside holes.
    end: Option<u64>,
    window: Window,
}

impl MappedWriter {
    pub(super) fn new(source: &Source, method: IoMethod) -> Self {
        let end = (!source.is_sparse()).then(|| source.size());
        Self { method, end, window: Window::default() }
    }

    /// Reserves and maps a part.
    fn open(
        method: IoMethod,
        out: &Replacement,
        part: Range<u64>,
    ) -> Result<(Range<u64>, Mapping), Error> {
        if !system::reserve(out.file(), part.clone()).map_err(out.write_error())? {
            let why = "this file system cannot reserve space, so a full device would not be \
                       detected in time";
            return Err(Error::unsupported(method.as_str(), why));
        }
        let mapping = Mapping::map_write(out.file(), part.clone()).map_err(out.write_error())?;
        Ok((part, mapping.ok_or_else(|| unmappable(method))?))
    }
}

impl PositionedWriter for MappedWriter {
    fn write_at_end(&mut self, out: &Replacement, mut bytes: &[u8]) -> Result<(), Error> {
        let Self { method, end, .. } = *self;
        let mut at = out.length();
        while !bytes.is_empty() {
            let (mapping, to) = self.window.at(at, || {
                let least = at + bytes.len() as u64;
                let end = end.map_or(least, |end| end.min(at + WINDOW).max(least));
                Self::open(method, out, at..end)
            })?;
            let (now, later) = bytes.split_at(bytes.len().min(mapping.len() - to));
            mapping.write(to, now).map_err(out.write_error())?;
            at += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Replacement) -> Result<(), Error> {
        self.window = Window::default();
        Ok(())
    }
}
