//! The buffer that steps write their results to.

use crate::step::StepError;

/// Bytes to collect before passing them on. Many small pieces become few blocks, and the blocks of
/// several chained steps stay in the cache of one core.
pub const BLOCK: usize = 128 << 10;

/// Collects the result of a step into blocks, and passes each block on as soon as it is full. A
/// step such as a decompressor may produce gigabytes from one block of input without more than one
/// block being held in memory.
///
/// The buffer belongs to the caller and survives from one call of a step to the next. The blocks
/// passed on therefore do not depend on how the input was split, and nothing is allocated for them.
///
/// ```
/// use transect_transform::output::OutputBuffer;
///
/// let (mut gathered, mut result) = (Vec::new(), Vec::new());
/// let mut next = |block: &[u8]| {
///     result.extend_from_slice(block);
///     Ok(())
/// };
/// let mut out = OutputBuffer::new(&mut gathered, &mut next);
/// out.put(b"one ")?;
/// out.put(b"two")?;
/// out.flush()?;
/// assert_eq!(result, b"one two");
/// # Ok::<(), transect_transform::step::StepError>(())
/// ```
pub struct OutputBuffer<'a> {
    gathered: &'a mut Vec<u8>,
    next: &'a mut dyn FnMut(&[u8]) -> Result<(), StepError>,
    /// The consumer accepts no more.
    stopped: bool,
}

impl<'a> OutputBuffer<'a> {
    /// Returns a buffer that passes its blocks to `next`. `gathered` holds bytes that were not
    /// passed on yet: empty at first, and the same vector for all calls about one file.
    pub fn new(
        gathered: &'a mut Vec<u8>,
        next: &'a mut dyn FnMut(&[u8]) -> Result<(), StepError>,
    ) -> Self {
        Self { gathered, next, stopped: false }
    }

    /// Appends bytes to the result.
    ///
    /// # Errors
    /// The consumer accepts no more.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), StepError> {
        if self.gathered.len() + bytes.len() < BLOCK {
            self.gathered.extend_from_slice(bytes);
            return Ok(());
        }
        self.put_full(bytes)
    }

    /// Appends bytes that fill the block. A long piece is passed on without a copy.
    #[cold]
    fn put_full(&mut self, bytes: &[u8]) -> Result<(), StepError> {
        let mut rest = bytes;
        if !self.gathered.is_empty() {
            let (first, after) = rest.split_at(BLOCK.saturating_sub(self.gathered.len()));
            self.gathered.extend_from_slice(first);
            self.flush()?;
            rest = after;
        }
        if rest.len() >= BLOCK {
            return self.emit(rest);
        }
        self.gathered.extend_from_slice(rest);
        Ok(())
    }

    /// Appends `bytes` after `change` has modified them. `change` sees all of them in order, in
    /// pieces.
    ///
    /// # Errors
    /// The consumer accepts no more.
    pub fn put_changed(
        &mut self,
        mut bytes: &[u8],
        mut change: impl FnMut(&mut [u8]),
    ) -> Result<(), StepError> {
        while !bytes.is_empty() {
            let begin = self.gathered.len();
            let room = BLOCK.saturating_sub(begin);
            if room == 0 {
                self.flush()?;
                continue;
            }
            let (piece, rest) = bytes.split_at(bytes.len().min(room));
            self.gathered.extend_from_slice(piece);
            change(&mut self.gathered[begin..]);
            bytes = rest;
        }
        Ok(())
    }

    /// Returns the current block, with room for at least one more byte, for callers that write into
    /// its spare capacity.
    ///
    /// # Errors
    /// The consumer accepts no more.
    pub fn spare_block(&mut self) -> Result<&mut Vec<u8>, StepError> {
        if self.gathered.len() >= BLOCK {
            self.flush()?;
        }
        self.gathered.reserve_exact(BLOCK - self.gathered.len());
        Ok(self.gathered)
    }

    /// Passes on the collected bytes, even if they do not fill a block.
    ///
    /// # Errors
    /// The consumer accepts no more.
    pub fn flush(&mut self) -> Result<(), StepError> {
        if !self.gathered.is_empty() {
            // Whatever happens next, the block must not be passed on twice.
            let mut block = std::mem::take(self.gathered);
            let handed = self.emit(&block);
            block.clear();
            *self.gathered = block;
            handed?;
        }
        Ok(())
    }

    /// Returns `outcome`, the result of the step that wrote here. If the step failed on its input,
    /// first passes on the bytes that it wrote before: a later step may fail on an earlier byte,
    /// and the reported error must not depend on how the input was split.
    pub(crate) fn flush_before_error(
        &mut self,
        outcome: Result<(), StepError>,
    ) -> Result<(), StepError> {
        if matches!(outcome, Err(StepError::Invalid(_))) && !self.stopped {
            self.flush()?;
        }
        outcome
    }

    fn emit(&mut self, block: &[u8]) -> Result<(), StepError> {
        let handed = (self.next)(block);
        self.stopped |= handed.is_err();
        handed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::InvalidData;

    /// Puts pieces, and returns the lengths of the blocks and all bytes that came out.
    fn blocks(pieces: &[Vec<u8>]) -> (Vec<usize>, Vec<u8>) {
        let (mut gathered, mut lengths, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = |block: &[u8]| {
            lengths.push(block.len());
            all.extend_from_slice(block);
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        for piece in pieces {
            out.put(piece).unwrap();
        }
        out.flush().unwrap();
        out.flush().unwrap();
        (lengths, all)
    }

    #[test]
    fn output_pieces_gathered_into_blocks() {
        let piece = |length: usize| (0..length).map(|at| at as u8).collect::<Vec<_>>();
        for (pieces, lengths) in [
            (vec![], vec![]),
            (vec![0], vec![]),
            (vec![5, 6], vec![11]),
            (vec![BLOCK], vec![BLOCK]),
            (vec![3 * BLOCK + 1], vec![3 * BLOCK + 1]),
            (vec![1, BLOCK - 1, 1], vec![BLOCK, 1]),
            (vec![1, 3 * BLOCK, 7], vec![BLOCK, 2 * BLOCK + 1, 7]),
            (vec![1, BLOCK, 7], vec![BLOCK, 8]),
            (vec![BLOCK / 2; 5], vec![BLOCK, BLOCK, BLOCK / 2]),
        ] {
            let pieces: Vec<_> = pieces.into_iter().map(piece).collect();
            assert_eq!(blocks(&pieces), (lengths, pieces.concat()));
        }
    }

    #[test]
    fn output_put_changed_applies_change() {
        let (mut gathered, mut all) = (vec![1, 2, 3], Vec::new());
        let mut next = |block: &[u8]| {
            assert!(block.len() <= BLOCK);
            all.extend_from_slice(block);
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        out.put_changed(&vec![7; 2 * BLOCK], |piece| piece.fill(8)).unwrap();
        out.flush().unwrap();
        assert_eq!(all, [&[1, 2, 3][..], &vec![8; 2 * BLOCK]].concat());
    }

    #[test]
    fn output_later_step_error_reported_first_and_once() {
        let invalid = |reason: &str| StepError::from(InvalidData::new(reason));
        let (mut gathered, mut calls) = (Vec::new(), 0);
        let mut next = |_: &[u8]| {
            calls += 1;
            Err(invalid("below"))
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        out.put(b"what was certain").unwrap();
        assert_eq!(out.flush_before_error(Err(invalid("above"))), Err(invalid("below")));
        out.put(b"more").unwrap();
        assert_eq!(out.flush_before_error(Err(invalid("below"))), Err(invalid("below")));
        assert_eq!(calls, 1);
    }
}
