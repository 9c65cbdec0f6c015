//! Errors of creating and verifying a corpus.

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
    /// Querying attributes.
    Stat,
    /// Querying free space.
    QueryFreeSpace,
    /// Opening or listing a directory.
    ReadDirectory,
    /// Checking write permission.
    WriteTo,
    /// Creating a directory.
    CreateDirectory,
    /// Creating a file with its content and times.
    CreateFile,
    /// Renaming the finished corpus.
    Rename,
    /// Removing a partial corpus.
    Remove,
}

impl Operation {
    /// Returns the verb for error messages.
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

/// Why a path cannot be the target of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetProblem {
    /// The path has no file name: `/`, `.`, `..`.
    NoName,
    /// The path exists and is not a directory; a link to a directory is not one.
    NotDirectory,
    /// The directory is not empty.
    NotEmpty,
    /// It is a mount point, which cannot be the target of a rename.
    MountPoint,
    /// The partial directory of an earlier run exists.
    PartialExists,
}

impl fmt::Display for TargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoName => "the path does not end in the name of a directory to create",
            Self::NotDirectory => "it exists and is not a directory",
            Self::NotEmpty => "the directory is not empty",
            Self::MountPoint => "a file system is mounted there; name a directory in it",
            Self::PartialExists => {
                "it is left over from a run that was killed, or another run is at work; \
                 remove it if there is none"
            }
        })
    }
}

/// Error of creating or verifying a corpus.
#[derive(Debug)]
#[non_exhaustive]
pub enum CorpusError {
    /// A system call failed.
    Failed {
        /// The operation.
        operation: Operation,
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The target cannot be used. Nothing was written.
    UnusableTarget {
        /// The target.
        path: PathBuf,
        /// The problem.
        problem: TargetProblem,
    },
    /// There is not enough space, or not enough inodes. Nothing was written.
    NotEnoughSpace {
        /// The name of the corpus.
        name: &'static str,
        /// The target.
        path: PathBuf,
        /// The space it needs.
        needed: SpaceNeeded,
        /// The free space.
        free: FreeSpace,
    },
    /// The tree does not match its definition.
    Mismatch {
        /// Name of the corpus.
        corpus: &'static str,
        /// Its path; while creating a corpus, the target.
        path: PathBuf,
        /// The counts of the definition.
        expected: TreeCounts,
        /// The actual counts.
        found: TreeCounts,
    },
    /// The operation was cancelled. The partial corpus was removed.
    Cancelled {
        /// The target.
        path: PathBuf,
    },
    /// The partial corpus could not be removed.
    CleanupFailed {
        /// Why the corpus was not created.
        cause: Box<CorpusError>,
        /// The path left behind.
        path: PathBuf,
        /// Why removing it failed.
        source: io::Error,
    },
}

impl CorpusError {
    /// Returns a function that adds an operation and a path to a system error.
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
