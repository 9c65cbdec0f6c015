//! Divides the input into pieces of fixed length.

use crate::step::StepError;
use crate::steps::pending::carry_over;

/// Collects the input into pieces of `PIECE` bytes: by default, the block size of zstd. The output of
/// compressors may depend on how much input they get at once, and so may the errors of
/// decompressors; with fixed pieces, the same file gives the same result, however it is read.
#[derive(Default)]
pub(super) struct FixedBlocks<const PIECE: usize = { 128 << 10 }> {
    /// The beginning of the next piece.
    kept: Vec<u8>,
}

impl<const PIECE: usize> FixedBlocks<PIECE> {
    /// Passes on the complete pieces, and keeps the rest.
    pub(super) fn feed(
        &mut self,
        input: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        if !self.kept.is_empty() {
            rest = carry_over(&mut self.kept, PIECE, rest);
            if self.kept.len() < PIECE {
                return Ok(());
            }
            take(&self.kept)?;
            self.kept.clear();
        }
        let (pieces, last) = rest.as_chunks::<PIECE>();
        for piece in pieces {
            take(piece)?;
        }
        self.kept.extend_from_slice(last);
        Ok(())
    }

    /// Returns the last piece, which may be short or empty.
    pub(super) fn last(&self) -> &[u8] {
        &self.kept
    }

    /// Discards the kept bytes.
    pub(super) fn reset(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 1000;

    #[test]
    fn fixed_blocks_independent_of_input_blocks() {
        let input: Vec<u8> = (0..3 * PIECE + 5).map(|at| (at % 251) as u8).collect();
        for size in [7, PIECE - 1, PIECE, PIECE + 1, input.len()] {
            let (mut pieces, mut all) = (FixedBlocks::<PIECE>::default(), Vec::new());
            for block in input.chunks(size) {
                let take = |piece: &[u8]| {
                    assert_eq!(piece.len(), PIECE);
                    all.extend_from_slice(piece);
                    Ok(())
                };
                pieces.feed(block, take).unwrap();
            }
            all.extend_from_slice(pieces.last());
            assert!(all == input, "cut at {size}");
        }
    }
}
