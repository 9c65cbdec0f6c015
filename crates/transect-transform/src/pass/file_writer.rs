//! Writing into the file, around the holes of a sparse input.

use transect::Cancel;

use super::block::Block;
use super::copy::Copier;
use super::outlet::Writer;
use super::placer::Placer;
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::Source;
use crate::step::Shape;

/// What is written where nothing is kept: a hole of this size can be one on every file system.
const PAGE: usize = 4096;

/// Below this, room is not asked for: the first block says it as well.
const WORTH_RESERVING: u64 = 256 << 10;

/// Writes into a replacement.
pub(super) struct FileWriter<'a> {
    source: &'a Source,
    out: &'a mut Replacement,
    cancel: &'a Cancel,
    /// The size of the result, if it is known before.
    size: Option<u64>,
    /// Zeros become holes, as they were.
    keeps_holes: bool,
    /// Who gets the bytes into the file, if they are not written.
    placer: Option<Box<dyn Placer + 'a>>,
}

impl<'a> FileWriter<'a> {
    pub(super) fn new(
        source: &'a Source,
        out: &'a mut Replacement,
        shape: Option<Shape>,
        cancel: &'a Cancel,
    ) -> Self {
        let same_size = shape != Some(Shape::Resizing);
        let keeps_holes = same_size && source.is_sparse();
        let size = Some(source.size()).filter(|size| {
            // Holes are there to need no room.
            same_size && !keeps_holes && *size >= WORTH_RESERVING
        });
        Self { source, out, cancel, size, keeps_holes, placer: None }
    }

    /// Lets somebody else get the bytes into the file.
    pub(super) fn through(mut self, placer: impl Placer + 'a) -> Self {
        self.placer = Some(Box::new(placer));
        self
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(placer) = &mut self.placer else {
            return self.out.append(bytes);
        };
        placer.place(self.out, bytes)?;
        self.out.skip(bytes.len() as u64)
    }

    fn write_around_holes(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let zeros = leading(bytes, self.out.length(), true);
            if zeros > 0 {
                self.out.skip(zeros as u64)?;
            }
            let data = leading(&bytes[zeros..], self.out.length(), false);
            self.append(&bytes[zeros..zeros + data])?;
            bytes = &bytes[zeros + data..];
        }
        Ok(())
    }
}

impl Writer for FileWriter<'_> {
    fn start(&mut self, prefix: u64) -> Result<(), Error> {
        self.out.start()?;
        if let Some(size) = self.size {
            self.out.reserve(size)?;
        }
        let block = &mut Block::default();
        let Self { source, cancel, .. } = *self;
        Copier { source, out: self.out, cancel, block }.part(0..prefix)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.keeps_holes { self.write_around_holes(bytes) } else { self.append(bytes) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.placer.as_mut().map_or(Ok(()), |placer| placer.finish(self.out))
    }
}

/// Returns how many of the first bytes lie in pages that are all zeros, or that are not. Bytes are
/// cut where pages of the file end, of which the first begins before `offset`.
fn leading(bytes: &[u8], offset: u64, zeros: bool) -> usize {
    let first = PAGE - (offset % PAGE as u64) as usize;
    let mut length = 0;
    while length < bytes.len() {
        let end = if length == 0 { first } else { length + PAGE }.min(bytes.len());
        if is_zero(&bytes[length..end]) != zeros {
            break;
        }
        length = end;
    }
    length
}

fn is_zero(bytes: &[u8]) -> bool {
    static ZEROS: [u8; PAGE] = [0; PAGE];
    bytes == &ZEROS[..bytes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_where_pages_of_the_file_end() {
        let mut bytes = vec![0; 3 * PAGE];
        bytes[PAGE + 5] = 1;
        assert_eq!(leading(&bytes, 0, true), PAGE);
        assert_eq!(leading(&bytes[PAGE..], PAGE as u64, false), PAGE);
        // The page in which the 1 lies begins 10 bytes later.
        assert_eq!(leading(&bytes, 4086, true), 10);
        assert_eq!(leading(&bytes[..PAGE], 7, true), PAGE);
        assert_eq!(leading(&[], 7, true), 0);
    }
}
