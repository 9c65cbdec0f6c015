//! Errors of lookups.

use std::fmt;
use std::io;

use transect_sys::{Attributes, FaultKind};

use transect::reason;

/// The result of a lookup of attributes.
pub type LookupResult = Result<Attributes, LookupError>;

/// Why a lookup returned no attributes. Cached like attributes: *denied* never becomes *missing*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LookupError {
    /// An error of the system, returned now or earlier.
    System {
        /// What kind of error it is.
        kind: FaultKind,
        /// The system's error number, if it has one.
        os_error: Option<i32>,
    },
    /// The path is outside the roots of the cache.
    OutsideRoots,
    /// The path is relative, and the cache has no base.
    NoBase,
}

impl LookupError {
    /// The name does not exist. (2 is `ENOENT` on Unix, `ERROR_FILE_NOT_FOUND` on Windows.)
    pub(super) const MISSING: Self = Self::System { kind: FaultKind::NotFound, os_error: Some(2) };

    /// The path contains a NUL, which no system accepts.
    pub(super) const NUL: Self = Self::System { kind: FaultKind::InvalidName, os_error: None };

    /// Returns the meaning of the system's error; `None` if the system was not queried.
    pub fn kind(self) -> Option<FaultKind> {
        match self {
            Self::System { kind, .. } => Some(kind),
            Self::OutsideRoots | Self::NoBase => None,
        }
    }

    /// Returns whether the name, or a directory in its path, does not exist.
    pub fn is_missing(self) -> bool {
        matches!(self.kind(), Some(FaultKind::NotFound | FaultKind::NotADirectory))
    }

    /// Returns whether this error of a directory is also the error of everything below it.
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
    fn lookup_error_missing_equals_system_error() {
        let here = std::env::current_dir().unwrap();
        let error = std::fs::File::open(here.join("no such name")).unwrap_err();
        assert_eq!(LookupError::from(error), LookupError::MISSING);
        assert_eq!(io::Error::from(LookupError::MISSING).kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn lookup_error_without_os_error_has_text() {
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
