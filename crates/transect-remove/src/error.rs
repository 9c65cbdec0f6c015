//! Errors that prevent a removal.

use std::fmt;
use std::path::PathBuf;

/// Why entries are not to be removed at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemovalError {
    /// The table lacks [`Removal::COLUMNS`](super::Removal::COLUMNS): what changed since the scan could not be told.
    Columns,
    /// A root that has no name of its own: `/`, `.` or what ends with `..`.
    Nameless(PathBuf),
    /// There is no trash on this system, or it is not supported yet (Windows).
    NoTrash,
    /// The date of a [`Trash`](super::Trash) that is not written as it has to be.
    Date(String),
}

impl fmt::Display for RemovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns => write!(f, "the scan kept no times: what has changed cannot be told"),
            Self::Nameless(path) => {
                write!(f, "'{}' cannot be removed: it is no name in a directory", path.display())
            }
            Self::NoTrash => write!(f, "moving to the trash is not supported on this system yet"),
            Self::Date(date) => write!(f, "'{date}' is not written as 2026-11-21T19:07:37"),
        }
    }
}

impl std::error::Error for RemovalError {}
