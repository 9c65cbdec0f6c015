//! Errors of a session.

use std::io;
use std::path::PathBuf;

use crate::harness::cache_state::State;
use crate::harness::log;
use crate::harness::work::Work;

/// An error that prevents or ends a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file of the session.
    Log(log::Error),
    /// A file or directory of the session cannot be created.
    Scratch(PathBuf, io::Error),
    Remove(PathBuf, io::Error),
    Walk(transect::Error),
    /// A state of the caches cannot be made.
    State(State, io::Error),
    /// A tree has changed since the session began: its path, its work then and now.
    Changed(PathBuf, Work, Work),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Scratch(path, error) => {
                write!(f, "cannot create '{}': {}", path.display(), transect::reason(error))
            }
            Self::Remove(path, error) => {
                write!(f, "cannot remove '{}': {}", path.display(), transect::reason(error))
            }
            Self::Walk(error) => error.fmt(f),
            Self::State(state, error) => {
                write!(f, "cannot make caches {}: {}", state.as_str(), transect::reason(error))
            }
            Self::Changed(root, then, now) => {
                let root = root.display();
                if then == now {
                    return write!(
                        f,
                        "'{root}' has changed since the session began: as many files, directories and \
                         bytes, but other entries"
                    );
                }
                write!(f, "'{root}' has changed since the session began: {now}, then {then}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<log::Error> for Error {
    fn from(error: log::Error) -> Self {
        Self::Log(error)
    }
}
