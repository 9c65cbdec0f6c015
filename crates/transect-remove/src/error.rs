//! Errors that prevent a removal.

use std::fmt;
use std::path::PathBuf;

/// An error that prevents a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemovalError {
    /// The table lacks [`Removal::COLUMNS`](super::Removal::COLUMNS), so changes since the walk
    /// cannot be detected.
    Columns,
    /// A root without a name in a directory: `/`, `.` or a path that ends with `..`.
    Nameless(PathBuf),
    /// This system has no trash, or it is not supported yet (Windows).
    NoTrash,
    /// The date given to [`Trash`](super::Trash) has the wrong format.
    Date(String),
}

impl fmt::Display for RemovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns => write!(f, "the walk kept no times, so changes cannot be detected"),
            Self::Nameless(path) => {
                write!(f, "cannot remove '{}': it is not an entry of a directory", path.display())
            }
            Self::NoTrash => write!(f, "moving to the trash is not supported on this system yet"),
            Self::Date(date) => write!(f, "'{date}' is not written as 2026-11-21T19:07:37"),
        }
    }
}

impl std::error::Error for RemovalError {}
