//! Why a question has no attributes for an answer.

use std::fmt;
use std::io;

use transect_sys::{Attributes, FaultKind};

use transect::reason;

/// What is answered to a question about attributes.
pub type LookupResult = Result<Attributes, LookupError>;

/// Why a question has no attributes for an answer. It is kept as attributes are: what is denied is
/// denied, and not missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LookupError {
    /// What the system said, or would say.
    System {
        /// What it means.
        kind: FaultKind,
        /// The system's number, where it has one.
        os_error: Option<i32>,
    },
    /// The path lies outside the roots that the cache answers for.
    OutsideRoots,
    /// The path is relative, and the cache was given nothing that it could be relative to.
    NoBase,
}

impl LookupError {
    /// There is no such name. (2 is `ENOENT` on Unix, `ERROR_FILE_NOT_FOUND` on Windows.)
    pub(super) const MISSING: Self = Self::System { kind: FaultKind::NotFound, os_error: Some(2) };

    /// No system takes a path with a NUL in it.
    pub(super) const NUL: Self = Self::System { kind: FaultKind::InvalidName, os_error: None };

    /// Returns what the system's error means; `None` if the system was not asked.
    pub fn kind(self) -> Option<FaultKind> {
        match self {
            Self::System { kind, .. } => Some(kind),
            Self::OutsideRoots | Self::NoBase => None,
        }
    }

    /// Returns whether there is nothing of that name, or nothing below what has that name.
    pub fn is_missing(self) -> bool {
        matches!(self.kind(), Some(FaultKind::NotFound | FaultKind::NotADirectory))
    }

    /// Returns whether everything below a directory is refused for the reason for which the
    /// directory is.
    pub(super) fn applies_below(self) -> bool {
        self.is_missing() || matches!(self.kind(), Some(FaultKind::Loop | FaultKind::NameTooLong))
    }
}

impl From<io::Error> for LookupError {
    fn from(error: io::Error) -> Self {
        Self::System { kind: FaultKind::of(&error), os_error: error.raw_os_error() }
    }
}

impl From<LookupError> for io::Error {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::System { os_error: Some(number), .. } => Self::from_raw_os_error(number),
            _ => Self::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { os_error: Some(number), .. } => {
                f.write_str(&reason(&io::Error::from_raw_os_error(*number)))
            }
            Self::System { kind, .. } => f.write_str(&kind.as_str().replace('_', " ")),
            Self::OutsideRoots => f.write_str("outside the roots"),
            Self::NoBase => f.write_str("relative, and there is no base"),
        }
    }
}

impl std::error::Error for LookupError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_is_what_the_system_says_of_one() {
        let here = std::env::current_dir().unwrap();
        let error = std::fs::File::open(here.join("no such name")).unwrap_err();
        assert_eq!(LookupError::from(error), LookupError::MISSING);
        assert_eq!(io::Error::from(LookupError::MISSING).kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn every_refusal_has_words() {
        for (error, words) in [
            (LookupError::NUL, "invalid name"),
            (LookupError::OutsideRoots, "outside the roots"),
            (LookupError::NoBase, "relative, and there is no base"),
        ] {
            assert_eq!(error.to_string(), words);
            assert_eq!(io::Error::from(error).to_string(), words);
        }
    }
}
