//! Writes a result to its file, leaving out holes.

use transect::Cancel;

use super::block::Block;
use super::copy::Copier;
use super::diff_writer::BlockWriter;
use super::holes::append_sparse_with;
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::Source;
use crate::step::Shape;

/// Size from which space is reserved. For smaller files, the first write reports a full device just
/// as well.
const MIN_RESERVED_SIZE: u64 = 256 << 10;

/// A means of writing bytes at a position in a file, other than appending to its handle.
pub(super) trait PositionedWriter: Send {
    /// Writes bytes at the end of the result. The caller then moves the end behind them.
    fn write_at_end(&mut self, out: &Replacement, bytes: &[u8]) -> Result<(), Error>;

    /// Writes the buffered bytes.
    fn finish(&mut self, out: &Replacement) -> Result<(), Error>;
}

/// Writes to a replacement.
pub(super) struct FileWriter<'a> {
    source: &'a Source,
    out: &'a mut Replacement,
    cancel: &'a Cancel,
    /// The size of the result, if it is known in advance.
    size: Option<u64>,
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
        cancel: &'a Cancel,
    ) -> Self {
        let same_size = shape != Some(Shape::Resizing);
        let around_holes = same_size && source.is_sparse();
        let size = Some(source.size()).filter(|size| {
            // Reserving space would defeat holes.
            same_size && !around_holes && *size >= MIN_RESERVED_SIZE
        });
        Self { source, out, cancel, size, around_holes, positioned: None }
    }

    /// Writes through `positioned` instead of appending.
    pub(super) fn with_positioned_writer(mut self, positioned: impl PositionedWriter + 'a) -> Self {
        self.positioned = Some(Box::new(positioned));
        self
    }
}

impl BlockWriter for FileWriter<'_> {
    fn start(&mut self, prefix: u64) -> Result<(), Error> {
        self.out.start()?;
        if let Some(size) = self.size {
            self.out.reserve(size)?;
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
