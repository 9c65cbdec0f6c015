//! Errors of steps.

use std::fmt;

/// Why a step cannot process its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidData {
    /// The step, as typed. Set by the chain; a single step leaves it empty.
    pub step: String,
    /// Byte offset in the step's input; `None` if the error concerns its end or the whole input.
    pub position: Option<u64>,
    /// What is wrong, in one line.
    pub reason: String,
}

impl InvalidData {
    /// Returns an error about the bytes at `position` in the step's input.
    pub fn at(position: u64, reason: impl Into<String>) -> Self {
        Self { step: String::new(), position: Some(position), reason: reason.into() }
    }

    /// Returns an error about the end of the input, or the whole input.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { step: String::new(), position: None, reason: reason.into() }
    }
}

impl fmt::Display for InvalidData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.step.is_empty() {
            write!(f, "{}: ", self.step)?;
        }
        match self.position {
            Some(position) => write!(f, "{} at byte {position}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for InvalidData {}

/// Why a step stopped before the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// The step cannot process its input.
    Invalid(InvalidData),
    /// The consumer of the result accepts no more and keeps the reason: the device is full, or the
    /// user cancelled.
    Closed,
}

impl From<InvalidData> for StepError {
    fn from(error: InvalidData) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Closed => f.write_str("the consumer accepts no more"),
        }
    }
}

impl std::error::Error for StepError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_data_display_names_step_and_position() {
        let mut error = InvalidData::at(7, "not UTF-8");
        assert_eq!(error.to_string(), "not UTF-8 at byte 7");
        error.step = "decode=utf-8".to_owned();
        assert_eq!(StepError::from(error).to_string(), "decode=utf-8: not UTF-8 at byte 7");
        assert_eq!(InvalidData::new("ends too early").to_string(), "ends too early");
    }
}
