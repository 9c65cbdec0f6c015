//! Patches that move parts of a file: the result is made anew.

use std::io::{Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use transect::Cancel;

use super::bps::{Action, Bps};
use crate::error::{Error, Operation};
use crate::pass::{LARGE_BLOCK, check};
use crate::publish::{Published, ReplaceOptions, Replacement};
use crate::source::{At, Source, fill};
use crate::step::Refusal;

/// Makes the file that a patch makes of `input`.
pub(super) fn apply(
    bps: &Bps,
    input: &Path,
    target: &Path,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<Published, Error> {
    let source = Source::open(input)?;
    let mut out = Replacement::begin(target, Some(&source), options)?;
    let mut block = vec![0; LARGE_BLOCK];
    verify(bps, &source, &mut block, cancel)?;
    out.reserve(bps.after)?;
    let mut maker = Maker { source: &source, out: &mut out, cancel, block, sum: Crc::new() };
    for action in bps.actions() {
        maker.act(action)?;
    }
    if maker.sum.sum() != bps.crc_after {
        let reason = "the patch does not make what it should (CRC-32)";
        return Err(Error::refused(input)(Refusal::whole(reason)));
    }
    source.verify_unchanged()?;
    drop(source);
    out.publish()
}

/// Makes sure that a file is the one that a patch is for.
fn verify(bps: &Bps, source: &Source, block: &mut [u8], cancel: &Cancel) -> Result<(), Error> {
    let refused = |reason: String| Err(Error::refused(source.path())(Refusal::whole(reason)));
    if source.size() != bps.before {
        return refused(format!("the patch is for a file of {} bytes", bps.before));
    }
    let mut sum = Crc::new();
    loop {
        check(cancel, source)?;
        let read = source.fill(block)?;
        sum.update(&block[..read]);
        if read < block.len() {
            break;
        }
    }
    if sum.sum() != bps.crc_before {
        return refused("the patch is for another file (CRC-32)".to_owned());
    }
    Ok(())
}

/// A result being made.
struct Maker<'a> {
    source: &'a Source,
    out: &'a mut Replacement,
    cancel: &'a Cancel,
    block: Vec<u8>,
    sum: Crc,
}

impl Maker<'_> {
    fn act(&mut self, action: Action<'_>) -> Result<(), Error> {
        match action {
            Action::Literal(bytes) => self.append(bytes),
            Action::Before { from, length } => self.copy_before(from, length),
            Action::After { from, length } => self.copy_after(from, length),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.sum.update(bytes);
        self.out.append(bytes)
    }

    fn append_block(&mut self, length: usize) -> Result<(), Error> {
        self.sum.update(&self.block[..length]);
        self.out.append(&self.block[..length])
    }

    fn copy_before(&mut self, from: u64, length: u64) -> Result<(), Error> {
        let mut there = At { file: self.source.file(), offset: from };
        let mut left = length;
        while left > 0 {
            check(self.cancel, self.source)?;
            let size = left.min(self.block.len() as u64) as usize;
            let read = fill(&mut there, &mut self.block[..size])
                .map_err(Error::system(Operation::Read, self.source.path()))?;
            if read < size {
                return Err(Error::Changed { path: self.source.path().to_owned() });
            }
            self.append_block(size)?;
            left -= size as u64;
        }
        Ok(())
    }

    /// Copies what was made, which may be what this copy makes: then it is a pattern, as long as the
    /// distance, again and again.
    fn copy_after(&mut self, from: u64, length: u64) -> Result<(), Error> {
        let distance = self.out.length() - from;
        let (mut at, mut left) = (from, length);
        while left > 0 {
            check(self.cancel, self.source)?;
            let size = left.min(distance).min(self.block.len() as u64) as usize;
            self.read_back(at, size)?;
            let repeated = self.repeat(size, left);
            self.append_block(repeated)?;
            // A block that is a whole pattern is followed by the same.
            at += if size as u64 == distance { 0 } else { size as u64 };
            left -= repeated as u64;
        }
        Ok(())
    }

    /// Fills the block with as many of its first bytes, again and again, as it has room for and are
    /// asked for; if they are the whole of a pattern. Returns how many bytes that are.
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

    fn read_back(&mut self, at: u64, size: usize) -> Result<(), Error> {
        let failed = || Error::system(Operation::Write, self.source.path());
        let mut file = self.out.file();
        let read = fill(&mut At { file, offset: at }, &mut self.block[..size]).map_err(failed())?;
        debug_assert_eq!(read, size, "what was made is there");
        // Some systems have moved: who appends goes on at the end.
        file.seek(SeekFrom::Start(self.out.length())).map_err(failed())?;
        Ok(())
    }
}
