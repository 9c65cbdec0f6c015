//! Why a snapshot was not written.

use std::fmt;
use std::io;

/// Why a snapshot was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The output could not be written.
    Output(io::Error),
    /// Writing was cancelled.
    Cancelled,
    /// A value could not be encoded.
    Encode(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => f.write_str(&transect::reason(error)),
            Self::Cancelled => f.write_str("interrupted"),
            Self::Encode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Output(error) | Self::Encode(error) => Some(error),
            Self::Cancelled => None,
        }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Output(error) | WriteError::Encode(error) => error,
            error @ WriteError::Cancelled => Self::other(error.to_string()),
        }
    }
}
