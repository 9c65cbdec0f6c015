//! Errors of a session.

use std::io;
use std::path::PathBuf;

use crate::harness::cache_state::State;
use crate::harness::work::Work;

/// An error that prevents or ends a session.
#[derive(Debug)]
pub enum Error {
    /// An operation on a file or directory failed: its name, the path and the error.
    File(&'static str, PathBuf, io::Error),
    /// A file is not a session, or of another version: its path, and why.
    NoSession(PathBuf, String),
    /// A state of the caches cannot be made.
    State(State, io::Error),
    /// A tree has changed since the session began: its path, its work then and now.
    Changed(PathBuf, Work, Work),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(operation, path, error) => {
                write!(f, "cannot {operation} '{}': {}", path.display(), transect::reason(error))
            }
            Self::NoSession(path, why) => {
                write!(f, "'{}' is not a session of the lab: {why}", path.display())
            }
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
