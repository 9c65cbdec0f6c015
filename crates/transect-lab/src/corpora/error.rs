//! Why a corpus was not made, or is not what it is called.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect::reason;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use super::space::{FreeSpace, SpaceNeeded};

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Asking for the attributes of something.
    Stat,
    /// Asking a file system for its room.
    QueryFreeSpace,
    /// Opening or listing a directory.
    ReadDirectory,
    /// Asking whether a directory can be written to.
    WriteTo,
    /// Making a directory.
    CreateDirectory,
    /// Making a file, its content and its time.
    CreateFile,
    /// Giving the finished corpus its name.
    Rename,
    /// Removing what was begun.
    Remove,
}

impl Operation {
    /// Returns what a message says could not be done.
    fn describe(self) -> &'static str {
        match self {
            Self::Stat => "access",
            Self::QueryFreeSpace => "ask for the free space of",
            Self::ReadDirectory => "read directory",
            Self::WriteTo => "write to",
            Self::CreateDirectory => "create directory",
            Self::CreateFile => "create file",
            Self::Rename => "rename",
            Self::Remove => "remove",
        }
    }
}

/// What is wrong with the place that was named for a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetProblem {
    /// The path has no last name: `/`, `.`, `..`.
    NoName,
    /// There is something that is not a directory; a link to one is not one.
    NotDirectory,
    /// The directory holds something.
    NotEmpty,
    /// Another file system begins there, so that nothing can be renamed to it.
    MountPoint,
    /// The folder of an unfinished corpus lies beside it.
    PartialExists,
}

impl fmt::Display for TargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoName => "the path does not end in the name of a folder to create",
            Self::NotDirectory => "it exists and is not a directory",
            Self::NotEmpty => "the folder is not empty",
            Self::MountPoint => "a file system is mounted there; name a folder in it",
            Self::PartialExists => {
                "it is left over from a run that was killed, or another run is at work; \
                 remove it if there is none"
            }
        })
    }
}

/// Why a corpus was not made, or is not what it is called.
#[derive(Debug)]
#[non_exhaustive]
pub enum CorpusError {
    /// The system refused something.
    Failed {
        /// What was being done.
        operation: Operation,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place cannot be used. Nothing was written.
    UnusableTarget {
        /// The place.
        path: PathBuf,
        /// What is wrong with it.
        problem: TargetProblem,
    },
    /// Space or inodes would run out. Nothing was written.
    NotEnoughSpace {
        /// The name of the corpus.
        name: &'static str,
        /// Where it was to be.
        path: PathBuf,
        /// What it takes.
        needed: SpaceNeeded,
        /// What is there.
        free: FreeSpace,
    },
    /// The tree is not what its definition says.
    Mismatch {
        /// What it should be.
        corpus: &'static str,
        /// Where it is; for a corpus that was being made, where it was to be.
        path: PathBuf,
        /// What the definition says.
        expected: TreeCounts,
        /// What was counted.
        found: TreeCounts,
    },
    /// Somebody asked to stop. What was begun is removed.
    Cancelled {
        /// Where the corpus was to be.
        path: PathBuf,
    },
    /// What was begun could not be removed.
    CleanupFailed {
        /// Why the corpus was not made.
        cause: Box<CorpusError>,
        /// What was left.
        path: PathBuf,
        /// Why it could not be removed.
        source: io::Error,
    },
}

impl CorpusError {
    /// Returns what makes an error of the system one of an operation on a path.
    pub(super) fn failed(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Failed { operation, path: path.to_owned(), source }
    }

    pub(super) fn unusable(path: &Path, problem: TargetProblem) -> Self {
        Self::UnusableTarget { path: path.to_owned(), problem }
    }

    pub(super) fn mismatch(corpus: &Corpus, path: &Path, found: TreeCounts) -> Self {
        let expected = TreeCounts::of(corpus);
        Self::Mismatch { corpus: corpus.name, path: path.to_owned(), expected, found }
    }
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { operation, path, source } => {
                write!(
                    f,
                    "cannot {} '{}': {}",
                    operation.describe(),
                    path.display(),
                    reason(source)
                )
            }
            Self::UnusableTarget { path, problem } => {
                write!(f, "cannot create a corpus in '{}': {problem}", path.display())
            }
            Self::NotEnoughSpace { name, path, needed, free } => {
                let path = path.display();
                write!(f, "cannot create corpus '{name}' in '{path}': it needs {needed}; {free}")
            }
            Self::Mismatch { corpus, path, expected, found } => {
                let path = path.display();
                write!(f, "'{path}' is not corpus '{corpus}': {found}, expected {expected}")
            }
            Self::Cancelled { path } => {
                write!(f, "cancelled: nothing is left in '{}'", path.display())
            }
            Self::CleanupFailed { cause, path, source } => {
                write!(f, "{cause}; cannot remove '{}': {}", path.display(), reason(source))
            }
        }
    }
}

impl std::error::Error for CorpusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed { source, .. } => Some(source),
            Self::CleanupFailed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
