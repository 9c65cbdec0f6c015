//! Why an entry is not removed.

use std::io;

use crate::report::KeepReason;

/// Why an entry could not be reached or removed.
#[derive(Debug)]
pub enum Refusal {
    /// It does not exist any more.
    Vanished,
    /// The entry is kept for this reason.
    Kept(KeepReason, Option<io::Error>),
    /// It is kept because of its entries, which are reported already.
    Reported,
}

impl Refusal {
    /// Returns the meaning of an error about a directory that existed a moment ago. If the
    /// directory has moved, its entries are not gone.
    pub(super) fn of_known_dir(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Kept(KeepReason::Changed, Some(error)),
            _ => error.into(),
        }
    }

    /// Returns the system's error, if there was one.
    pub fn into_io_error(self) -> Option<io::Error> {
        match self {
            Self::Vanished => Some(io::ErrorKind::NotFound.into()),
            Self::Kept(_, error) => error,
            Self::Reported => None,
        }
    }
}

impl From<KeepReason> for Refusal {
    fn from(reason: KeepReason) -> Self {
        Self::Kept(reason, None)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ => Self::Kept(KeepReason::of(&error), Some(error)),
        }
    }
}
