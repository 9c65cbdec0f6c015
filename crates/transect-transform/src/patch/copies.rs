//! Applies BPS patches that move parts of a file, by writing a new file.

use std::io::{Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use transect::Cancel;

use super::bps::{Action, Bps};
use crate::error::{Error, Operation};
use crate::pass::LARGE_BLOCK;
use crate::publish::{PublishReport, ReplaceOptions, Replacement};
use crate::source::{PositionedReader, Source, check_cancelled, fill};
use crate::step::InvalidData;

/// Writes the patched `input` to `target`.
pub(super) fn apply(
    bps: &Bps,
    input: &Path,
    target: &Path,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<PublishReport, Error> {
    let source = Source::open(input)?;
    let mut out = Replacement::begin(target, Some(&source), options)?;
    let mut block = vec![0; LARGE_BLOCK];
    verify(bps, &source, &mut block, cancel)?;
    out.reserve(bps.after)?;
    let (before, made) = (ReadWindow::new(&source, block), BufferedResult::new(&mut out));
    let block = vec![0; LARGE_BLOCK];
    let mut applier = BpsApplier { cancel, before, made, block, sum: Crc::new() };
    for action in bps.actions() {
        applier.apply_action(action)?;
    }
    applier.made.flush()?;
    if applier.sum.sum() != bps.crc_after {
        let reason = "the patched file has the wrong CRC-32";
        return Err(Error::invalid(input)(InvalidData::new(reason)));
    }
    source.verify_unchanged()?;
    drop(source);
    out.publish()
}

/// Checks that the patch is for this file.
fn verify(bps: &Bps, source: &Source, block: &mut [u8], cancel: &Cancel) -> Result<(), Error> {
    let invalid = |reason: String| Err(Error::invalid(source.path())(InvalidData::new(reason)));
    if source.size() != bps.before {
        return invalid(format!("the patch is for a file of {} bytes", bps.before));
    }
    let mut sum = Crc::new();
    loop {
        check_cancelled(cancel, source)?;
        let read = source.fill(block)?;
        sum.update(&block[..read]);
        if read < block.len() {
            break;
        }
    }
    if sum.sum() != bps.crc_before {
        return invalid("the patch is for another file (CRC-32)".to_owned());
    }
    Ok(())
}

/// A result in progress.
struct BpsApplier<'a> {
    cancel: &'a Cancel,
    before: ReadWindow<'a>,
    made: BufferedResult<'a>,
    /// Memory for patterns.
    block: Vec<u8>,
    sum: Crc,
}

impl BpsApplier<'_> {
    fn apply_action(&mut self, action: Action<'_>) -> Result<(), Error> {
        match action {
            Action::Literal(bytes) => {
                self.sum.update(bytes);
                self.made.append(bytes)
            }
            Action::Before { from, length } => self.copy_before(from, length),
            Action::After { from, length } => self.copy_after(from, length),
        }
    }

    fn copy_before(&mut self, from: u64, length: u64) -> Result<(), Error> {
        let (mut at, mut left) = (from, length);
        while left > 0 {
            check_cancelled(self.cancel, self.before.source)?;
            let bytes = self.before.at(at, left)?;
            self.sum.update(bytes);
            self.made.append(bytes)?;
            at += bytes.len() as u64;
            left -= bytes.len() as u64;
        }
        Ok(())
    }

    /// Copies from the result, possibly including bytes that this copy produces: then the bytes
    /// between source and end are a pattern to repeat.
    fn copy_after(&mut self, from: u64, length: u64) -> Result<(), Error> {
        let distance = self.made.length() - from;
        let (mut at, mut left) = (from, length);
        while left > 0 {
            check_cancelled(self.cancel, self.before.source)?;
            let size = left.min(distance).min(self.block.len() as u64) as usize;
            self.made.read(at, &mut self.block[..size])?;
            let repeated = self.repeat(size, left);
            self.sum.update(&self.block[..repeated]);
            self.made.append(&self.block[..repeated])?;
            // After a block of whole patterns, the next block is the same.
            at += if size as u64 == distance { 0 } else { size as u64 };
            left -= repeated as u64;
        }
        Ok(())
    }

    /// Repeats the first `size` bytes of the block to fill it, up to `left` bytes, if they are a
    /// whole pattern. Returns how many bytes are filled.
    fn repeat(&mut self, size: usize, left: u64) -> usize {
        let wanted =
            (self.block.len() / size * size).min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut filled = size;
        while filled < wanted {
            let more = filled.min(wanted - filled);
            self.block.copy_within(..more, filled);
            filled += more;
        }
        filled
    }
}

/// Minimum number of bytes to read at the source of a copy: the next copy often starts right after
/// it.
const AHEAD: usize = 16 << 10;

/// The bytes last read from the input.
struct ReadWindow<'a> {
    source: &'a Source,
    block: Vec<u8>,
    /// Offset in the input.
    start: u64,
    length: usize,
}

impl<'a> ReadWindow<'a> {
    fn new(source: &'a Source, block: Vec<u8>) -> Self {
        Self { source, block, start: 0, length: 0 }
    }

    /// Returns between 1 and `wanted` bytes at an offset.
    fn at(&mut self, from: u64, wanted: u64) -> Result<&[u8], Error> {
        let wanted = wanted.min(self.block.len() as u64) as usize;
        if !(self.start..self.start + self.length as u64).contains(&from) {
            self.read(from, wanted.max(AHEAD))?;
        }
        let there = &self.block[(from - self.start) as usize..self.length];
        Ok(&there[..wanted.min(there.len())])
    }

    fn read(&mut self, from: u64, size: usize) -> Result<(), Error> {
        let Self { source, block, .. } = self;
        let mut there = PositionedReader { file: source.file(), offset: from };
        let read = fill(&mut there, &mut block[..size]);
        let read = read.map_err(Error::system(Operation::Read, source.path()))?;
        if read == 0 {
            return Err(Error::changed(source.path()));
        }
        (self.start, self.length) = (from, read);
        Ok(())
    }
}

/// A result whose last bytes are in memory, so that they are written in blocks, and copies of them
/// need not read them back.
struct BufferedResult<'a> {
    out: &'a mut Replacement,
    bytes: Vec<u8>,
    /// How many of the bytes are written.
    written: usize,
}

impl<'a> BufferedResult<'a> {
    fn new(out: &'a mut Replacement) -> Self {
        Self { out, bytes: Vec::with_capacity(2 * LARGE_BLOCK), written: 0 }
    }

    /// Returns the length of the result so far.
    fn length(&self) -> u64 {
        self.out.length() + (self.bytes.len() - self.written) as u64
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for piece in bytes.chunks(LARGE_BLOCK) {
            if self.bytes.len() + piece.len() > 2 * LARGE_BLOCK {
                self.flush()?;
                self.bytes.drain(..self.bytes.len().saturating_sub(LARGE_BLOCK));
                self.written = self.bytes.len();
            }
            self.bytes.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Writes the bytes that are only in memory.
    fn flush(&mut self) -> Result<(), Error> {
        self.out.append(&self.bytes[self.written..])?;
        self.written = self.bytes.len();
        Ok(())
    }

    /// Fills a block with the result from offset `at` on. The result is long enough.
    fn read(&mut self, at: u64, block: &mut [u8]) -> Result<(), Error> {
        let start = self.length() - self.bytes.len() as u64;
        let in_file = start.saturating_sub(at).min(block.len() as u64) as usize;
        let (far, near) = block.split_at_mut(in_file);
        if !far.is_empty() {
            self.read_back(at, far)?;
        }
        if !near.is_empty() {
            let begin = (at + in_file as u64 - start) as usize;
            near.copy_from_slice(&self.bytes[begin..begin + near.len()]);
        }
        Ok(())
    }

    fn read_back(&mut self, at: u64, block: &mut [u8]) -> Result<(), Error> {
        let failed = || Error::system(Operation::Write, self.out.path());
        let mut file = self.out.file();
        let read = fill(&mut PositionedReader { file, offset: at }, block).map_err(failed())?;
        debug_assert_eq!(read, block.len(), "what was made is there");
        // Some systems moved the offset of the handle; appending needs it at the end.
        file.seek(SeekFrom::Start(self.out.length())).map_err(failed())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::super::bps::tests::{Do, patch};
    use super::*;

    /// Copies within the last block, far before it, across both, and overlapping themselves; and
    /// from anywhere in the input.
    #[test]
    fn bps_apply_many_small_copies() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let before: Vec<u8> = (0..300_000).map(|_| next(256) as u8).collect();
        let (mut after, mut actions) = (vec![0; 10], vec![Do::Literal(&[0; 10])]);
        let (mut before_at, mut after_at) = (0_i64, 0_i64);
        while after.len() < 3 * LARGE_BLOCK {
            let longest = if next(50) == 0 { 400_000 } else { 300 };
            let length = 1 + next(longest);
            if next(2) == 0 {
                let length = length.min(before.len() as u64);
                let from = next(before.len() as u64 - length + 1);
                after.extend_from_slice(&before[from as usize..(from + length) as usize]);
                actions.push(Do::Before(from as i64 - before_at, length));
                before_at = (from + length) as i64;
            } else {
                let back = 1 + next(after.len() as u64);
                let from = after.len() as u64 - back;
                (from..from + length).for_each(|at| after.push(after[at as usize]));
                actions.push(Do::After(from as i64 - after_at, length));
                after_at = (from + length) as i64;
            }
        }
        let bps = Bps::parse(&patch(&before, &after, &actions)).unwrap();
        let temp = TempDir::new();
        let (input, target) = (temp.join("input"), temp.join("target"));
        std::fs::write(&input, &before).unwrap();
        apply(&bps, &input, &target, ReplaceOptions::default(), &Cancel::new()).unwrap();
        assert!(std::fs::read(&target).unwrap() == after);
    }
}
