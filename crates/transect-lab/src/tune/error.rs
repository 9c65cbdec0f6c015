//! Errors of tuning.

use std::path::PathBuf;
use std::time::Duration;

use crate::harness::{error, launch};

#[derive(Debug)]
#[non_exhaustive]
pub enum TuneError {
    Walk(transect::Error),
    /// The tree is too small; the number of its entries.
    TooSmall(PathBuf, u64),
    /// Walking even the smallest sample tree often enough takes longer than allowed; the time it takes.
    TooSlow(PathBuf, Duration),
    Launch(launch::Failure),
    Session(error::Error),
}

impl std::fmt::Display for TuneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Walk(error) => error.fmt(f),
            Self::TooSmall(path, entries) => {
                let path = path.display();
                write!(f, "'{path}' has {entries} entries: too few to tune on")
            }
            Self::TooSlow(path, time) => {
                let (path, seconds) = (path.display(), time.as_secs() + 1);
                write!(f, "reading '{path}' often enough takes about {seconds} s; use --seconds")
            }
            Self::Launch(failure) => write!(f, "a walk of the default settings {failure}"),
            Self::Session(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TuneError {}

impl From<error::Error> for TuneError {
    fn from(error: error::Error) -> Self {
        Self::Session(error)
    }
}
