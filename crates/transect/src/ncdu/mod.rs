//! Reads and writes trees in the JSON format of ncdu, which gdu and others also use.
//!
//! ```text
//! [1, 2, {"progname": …},          version of the format, and the program
//!  [{"name": "/usr", …},           a directory: an array that begins with itself
//!   {"name": "notes", …},          anything else: an object
//!   [{"name": "bin", …}, …]]]
//! ```
//!
//! Names are bytes, and only what JSON requires is escaped. So a name that is not UTF-8 makes a
//! file that is not UTF-8, and no name is changed. Missing values are 0 or false, as in ncdu.

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
    /// An I/O error.
    Read(io::Error),
    /// Not a valid export.
    Format {
        /// The offset of the invalid byte, from 0.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// More entries than a table can hold.
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
