//! UTF-8 in blocks.

use crate::step::{InvalidData, StepError};

/// Finds the characters of UTF-8, wherever the blocks are cut.
pub(super) struct Utf8 {
    /// What is said of bytes that are no characters.
    reason: &'static str,
    /// Where the next byte stands in the input.
    position: u64,
    /// The bytes of a character that the last block broke off: at most three.
    broken: Vec<u8>,
}

impl Utf8 {
    /// Returns the state after so many bytes that are none of its own. `reason` is what it says of
    /// bytes that are no characters.
    pub(super) fn at(position: u64, reason: &'static str) -> Self {
        Self { reason, position, broken: Vec::with_capacity(4) }
    }

    /// Hands on the text in a block, in pieces that are not empty.
    ///
    /// # Errors
    /// It is no UTF-8; all before it was handed on. Or `take` takes no more.
    pub(super) fn feed(
        &mut self,
        input: &[u8],
        mut take: impl FnMut(&str) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        while !self.broken.is_empty() {
            // One byte after the other: never one too many.
            let [next, after @ ..] = rest else { return Ok(()) };
            self.broken.push(*next);
            rest = after;
            match std::str::from_utf8(&self.broken) {
                Ok(character) => {
                    take(character)?;
                    self.position += self.broken.len() as u64;
                    self.broken.clear();
                }
                Err(error) if error.error_len().is_some() => return Err(self.invalid()),
                Err(_) => {}
            }
        }
        let (text, error) = match std::str::from_utf8(rest) {
            Ok(text) => (text, None),
            Err(error) => {
                let text = std::str::from_utf8(&rest[..error.valid_up_to()]);
                (text.expect("BUG: valid up to there"), Some(error))
            }
        };
        if !text.is_empty() {
            take(text)?;
            self.position += text.len() as u64;
        }
        match error {
            Some(error) if error.error_len().is_some() => Err(self.invalid()),
            _ => {
                self.broken.extend_from_slice(&rest[text.len()..]);
                Ok(())
            }
        }
    }

    /// Ends.
    ///
    /// # Errors
    /// It ended within a character.
    pub(super) fn finish(&self) -> Result<(), StepError> {
        if self.broken.is_empty() { Ok(()) } else { Err(self.invalid()) }
    }

    /// Goes back to the beginning.
    pub(super) fn reset(&mut self) {
        self.position = 0;
        self.broken.clear();
    }

    fn invalid(&self) -> StepError {
        InvalidData::at(self.position, self.reason).into()
    }
}
