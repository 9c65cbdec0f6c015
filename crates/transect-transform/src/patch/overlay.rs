//! Applies changes as a step.

use flate2::Crc;

use super::changes::{Change, Changes};
use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};

/// Overlays changes on a file, and rejects a file that the patch is not for.
pub(super) struct ChangeOverlay<'a> {
    changes: &'a Changes,
    /// Whether the result is as long as the file.
    same_size: bool,
    /// The first change that does not lie entirely before the current position.
    next: usize,
    at: u64,
    /// CRC-32 of the file and of the result, if the patch specifies them.
    sums: Option<(Crc, Crc)>,
}

impl<'a> ChangeOverlay<'a> {
    /// Returns the step for a file of this size.
    pub(super) fn new(changes: &'a Changes, size: u64) -> Self {
        let same_size = changes.keep_size(size);
        let sums = changes.known.map(|_| (Crc::new(), Crc::new()));
        Self { changes, same_size, next: 0, at: 0, sums }
    }

    fn change(&mut self) -> Option<&'a Change> {
        let list = &self.changes.list;
        while list.get(self.next).is_some_and(|change| change.end() <= self.at) {
            self.next += 1;
        }
        list.get(self.next)
    }

    /// Takes the next bytes of the file, as far as they are all changed or all unchanged. Returns
    /// how many, and their new content.
    fn take(&mut self, rest: &[u8]) -> Result<(usize, Option<&'a [u8]>), InvalidData> {
        let (length, new) = match self.change() {
            None => (rest.len(), None),
            Some(change) if change.offset > self.at => {
                (clamped(change.offset - self.at, rest.len()), None)
            }
            Some(change) => {
                let from = (self.at - change.offset) as usize;
                let length = rest.len().min(change.new.len() - from);
                if let Some(old) = &change.old {
                    expect(&old[from..from + length], &rest[..length], self.at)?;
                }
                (length, Some(&change.new[from..from + length]))
            }
        };
        if let Some((before, after)) = &mut self.sums {
            before.update(&rest[..length]);
            after.update(new.unwrap_or(&rest[..length]));
        }
        Ok((length, new))
    }

    /// Writes bytes of the result, up to its maximum length.
    fn put(&mut self, bytes: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let left = self.changes.cut.unwrap_or(u64::MAX).saturating_sub(self.at);
        self.at += bytes.len() as u64;
        out.put(&bytes[..clamped(left, bytes.len())])
    }

    /// Writes the changes beyond the end of the file, with zeros before them.
    fn grow(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while let Some(change) = self.change() {
            if self.same_size || !self.changes.grows {
                return Err(self.changes.too_short().into());
            }
            match change.offset.checked_sub(self.at) {
                Some(gap @ 1..) => self.put(&ZEROS[..clamped(gap, ZEROS.len())], out)?,
                _ => self.put(&change.new[(self.at - change.offset) as usize..], out)?,
            }
        }
        Ok(())
    }

    /// Checks that the patch was for this file, and produced the right result.
    fn verify(&self) -> Result<(), InvalidData> {
        let (Some(known), Some((before, after))) = (self.changes.known, &self.sums) else {
            return Ok(());
        };
        if self.at != known.size {
            let reason = format!("the patch is for a file of {} bytes", known.size);
            return Err(InvalidData::new(reason));
        }
        if before.sum() != known.before {
            return Err(InvalidData::new("the patch is for another file (CRC-32)"));
        }
        if after.sum() != known.after {
            return Err(InvalidData::new("the patched file has the wrong CRC-32"));
        }
        Ok(())
    }
}

/// Returns the smaller of a length and a limit.
fn clamped(length: u64, limit: usize) -> usize {
    usize::try_from(length).map_or(limit, |length| length.min(limit))
}

/// Checks the old bytes at an offset.
pub(super) fn expect(old: &[u8], there: &[u8], at: u64) -> Result<(), InvalidData> {
    match old.iter().zip(there).position(|(old, there)| old != there) {
        None => Ok(()),
        Some(first) => {
            let reason = format!("{:02x} is not the expected {:02x}", there[first], old[first]);
            Err(InvalidData::at(at + first as u64, reason))
        }
    }
}

impl Step for ChangeOverlay<'_> {
    fn shape(&self) -> Shape {
        match self.same_size {
            true => Shape::SameSize { word: 1, in_order: true },
            false => Shape::Resizing,
        }
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        while !rest.is_empty() {
            let (length, new) = self.take(rest)?;
            self.put(new.unwrap_or(&rest[..length]), out)?;
            rest = &rest[length..];
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.verify()?;
        self.grow(out)
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        let mut from = 0;
        while from < block.len() {
            let (length, new) = self.take(&block[from..])?;
            if let Some(new) = new {
                block[from..from + length].copy_from_slice(new);
            }
            self.at += length as u64;
            from += length;
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.next = 0;
        self.at = 0;
        self.sums = self.sums.as_ref().map(|_| (Crc::new(), Crc::new()));
    }
}
