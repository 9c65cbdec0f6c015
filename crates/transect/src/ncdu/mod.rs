//! Trees as ncdu exports them, in JSON: read and written. gdu and others speak the same.
//!
//! ```text
//! [1, 2, {"progname": …},          version of the format, and who wrote it
//!  [{"name": "/usr", …},           a directory: an array that begins with itself
//!   {"name": "notes", …},          anything else: an object
//!   [{"name": "bin", …}, …]]]
//! ```
//!
//! Names are bytes, and only what JSON cannot hold is escaped: a name that is no text makes a file
//! that is no text either, and nothing is lost. What is missing is 0 or false, as ncdu has it.

mod json;
mod read;
mod write;

use std::fmt;
use std::io;

pub use read::read;
pub use write::write;

/// Why an export could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It could not be read as a file.
    Read(io::Error),
    /// It is not what it should be.
    Format {
        /// The byte, from 0, at which that was seen.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// There is more than a table can hold.
    Table(crate::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => f.write_str(&crate::reason(error)),
            Self::Format { offset, what } => write!(f, "at byte {offset}: {what}"),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Format { .. } => None,
            Self::Table(error) => Some(error),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
