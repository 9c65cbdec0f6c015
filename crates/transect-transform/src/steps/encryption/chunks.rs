//! Divides the input into chunks, and identifies the last one.

use crate::step::StepError;

/// Collects the input into chunks of equal length. A chunk is passed on only when more input
/// follows, because the last chunk is known only at the end of the input.
pub(super) struct Chunks {
    length: usize,
    kept: Vec<u8>,
}

impl Chunks {
    /// Returns chunks of a length, with room for `more` bytes after each.
    pub(super) fn new(length: usize, more: usize) -> Self {
        Self { length, kept: Vec::with_capacity(length + more) }
    }

    /// Passes on all chunks but the last. Changes made to them are discarded.
    pub(super) fn feed(
        &mut self,
        input: &[u8],
        mut take: impl FnMut(&mut Vec<u8>) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        while !rest.is_empty() {
            if self.kept.len() == self.length {
                take(&mut self.kept)?;
                self.kept.clear();
            }
            let (first, after) = rest.split_at(rest.len().min(self.length - self.kept.len()));
            self.kept.extend_from_slice(first);
            rest = after;
        }
        Ok(())
    }

    /// Returns the last chunk, which may be short, or empty if there was no input.
    pub(super) fn last(&mut self) -> &mut Vec<u8> {
        &mut self.kept
    }

    /// Discards the kept chunk.
    pub(super) fn reset(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_last_kept_even_if_full() {
        for (length, expected) in
            [(0, vec![]), (1, vec![1]), (4, vec![4]), (5, vec![4, 1]), (12, vec![4, 4, 4])]
        {
            let input: Vec<u8> = (0..length).collect();
            for size in [1, 3, 4, 5, 20] {
                let (mut chunks, mut all, mut lengths) = (Chunks::new(4, 0), vec![], vec![]);
                for block in input.chunks(size) {
                    let take = |chunk: &mut Vec<u8>| {
                        lengths.push(chunk.len());
                        all.append(chunk);
                        Ok(())
                    };
                    chunks.feed(block, take).unwrap();
                }
                assert!(lengths.iter().all(|&length| length == 4));
                lengths.extend(Some(chunks.last().len()).filter(|&length| length > 0));
                all.append(chunks.last());
                assert_eq!((&lengths, &all), (&expected, &input), "cut at {size}");
            }
        }
    }
}
