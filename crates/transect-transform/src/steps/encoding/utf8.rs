//! Decodes UTF-8 in blocks.

use crate::step::{InvalidData, StepError};

/// Validates UTF-8, wherever blocks are split.
pub(super) struct Utf8 {
    /// The error for invalid bytes.
    reason: &'static str,
    /// Offset of the next byte in the input.
    position: u64,
    /// The first bytes of a character that was split: at most three.
    broken: Vec<u8>,
}

impl Utf8 {
    /// Returns the state after `position` bytes that are not part of the text. `reason` is the
    /// error for invalid bytes.
    pub(super) fn at(position: u64, reason: &'static str) -> Self {
        Self { reason, position, broken: Vec::with_capacity(4) }
    }

    /// Passes the text of a block to `take`, in non-empty pieces.
    ///
    /// # Errors
    /// The block is not valid UTF-8, and everything before was passed on; or `take` accepts no
    /// more.
    pub(super) fn feed(
        &mut self,
        input: &[u8],
        mut take: impl FnMut(&str) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        while !self.broken.is_empty() {
            // Byte by byte, to take none too many.
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

    /// Ends the text.
    ///
    /// # Errors
    /// It ended within a character.
    pub(super) fn finish(&self) -> Result<(), StepError> {
        if self.broken.is_empty() { Ok(()) } else { Err(self.invalid()) }
    }

    /// Returns to the initial state.
    pub(super) fn reset(&mut self) {
        self.position = 0;
        self.broken.clear();
    }

    fn invalid(&self) -> StepError {
        InvalidData::at(self.position, self.reason).into()
    }
}
