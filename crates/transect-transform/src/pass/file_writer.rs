//! Writes a result to its file, leaving out holes.

use transect::Cancel;

use super::block::{Block, LARGE_BLOCK};
use super::copy::Copier;
use super::diff_writer::BlockWriter;
use super::holes::{Holes, append_sparse_with};
use super::positioned_writer::PositionedWriter;
use crate::error::{Error, Operation};
use crate::publish::Replacement;
use crate::source::{PositionedReader, Source, check_cancelled, fill};
use crate::step::Shape;

/// Size from which space is reserved. For smaller files, the first write reports a full device just
/// as well.
const MIN_RESERVED_SIZE: u64 = 256 << 10;

/// Writes to a replacement.
pub(super) struct FileWriter<'a> {
    source: &'a Source,
    out: &'a mut Replacement,
    cancel: &'a Cancel,
    /// The size of the result, if it is known in advance.
    size: Option<u64>,
    holes: Holes,
    /// Turn zeros into holes.
    around_holes: bool,
    /// Writes the bytes, if not by appending.
    positioned: Option<Box<dyn PositionedWriter + 'a>>,
}

impl<'a> FileWriter<'a> {
    pub(super) fn new(
        source: &'a Source,
        out: &'a mut Replacement,
        shape: Option<Shape>,
        holes: Holes,
        cancel: &'a Cancel,
    ) -> Self {
        let same_size = shape != Some(Shape::Resizing);
        let around_holes = match holes {
            Holes::Keep => same_size && source.is_sparse(),
            Holes::Make => true,
            Holes::Fill => false,
        };
        let size = Some(source.size()).filter(|size| {
            // Reserving space would defeat holes.
            same_size && !around_holes && *size >= MIN_RESERVED_SIZE
        });
        Self { source, out, cancel, size, holes, around_holes, positioned: None }
    }

    /// Writes through `positioned` instead of appending.
    pub(super) fn with_positioned_writer(mut self, positioned: impl PositionedWriter + 'a) -> Self {
        self.positioned = Some(Box::new(positioned));
        self
    }

    /// Copies the beginning of the input by writing it, so that zeros are treated as requested.
    fn write_prefix(&mut self, prefix: u64) -> Result<(), Error> {
        let mut block = Block::default();
        let mut there = PositionedReader { file: self.source.file(), offset: 0 };
        while there.offset < prefix {
            check_cancelled(self.cancel, self.source)?;
            let length = (prefix - there.offset).min(LARGE_BLOCK as u64) as usize;
            let block = block.first(length);
            let read = fill(&mut there, block)
                .map_err(Error::system(Operation::Read, self.source.path()))?;
            if read == 0 {
                // The input became shorter, which is detected at the end.
                break;
            }
            self.write(&block[..read])?;
        }
        Ok(())
    }
}

impl BlockWriter for FileWriter<'_> {
    fn start(&mut self, prefix: u64) -> Result<(), Error> {
        self.out.start()?;
        if let Some(size) = self.size {
            self.out.reserve(size)?;
        }
        if self.holes != Holes::Keep {
            return self.write_prefix(prefix);
        }
        let block = &mut Block::default();
        let Self { source, cancel, .. } = *self;
        // These bytes have been counted before.
        Copier { source, out: self.out, cancel, progress: None, block }.part(0..prefix)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Self { out, positioned, .. } = self;
        let mut append = |out: &mut Replacement, bytes: &[u8]| match positioned {
            None => out.append(bytes),
            Some(positioned) => {
                positioned.write_at_end(out, bytes)?;
                out.skip(bytes.len() as u64)
            }
        };
        if self.around_holes { append_sparse_with(out, bytes, append) } else { append(out, bytes) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.positioned.as_mut().map_or(Ok(()), |positioned| positioned.finish(self.out))
    }
}
