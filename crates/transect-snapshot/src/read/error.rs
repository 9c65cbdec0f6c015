//! Why a snapshot cannot be read.

use std::fmt;
use std::io;

use crate::schema::VERSION;

/// Why a snapshot cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// An I/O error.
    Io(io::Error),
    /// The file is not a Parquet file.
    NotParquet,
    /// The file is a Parquet file, but not a snapshot: the reason.
    NotSnapshot(String),
    /// The file has a later version of the format.
    Newer(u64),
    /// The file is damaged: the reason.
    Damaged(String),
    /// The snapshot cannot help to read its tree again: the reason.
    Unsuitable(String),
    /// The entries do not fit into a table.
    Table(transect::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => f.write_str(&transect::reason(error)),
            Self::NotParquet => f.write_str("not a snapshot: not a Parquet file, or truncated"),
            Self::NotSnapshot(reason) => write!(f, "not a snapshot of transect: {reason}"),
            Self::Newer(version) => write!(
                f,
                "it has version {version} of the format, and this program reads versions up to {VERSION}; \
                 use a later transect"
            ),
            Self::Unsuitable(reason) => f.write_str(reason),
            Self::Damaged(reason) => write!(f, "the snapshot is damaged: {reason}"),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Table(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early".to_owned()),
            _ => Self::Io(error),
        }
    }
}

pub(crate) fn damaged<T>(reason: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::Damaged(reason.into()))
}
