//! What can go wrong with one file: every error says what could not be done, to which file, and why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::{FaultKind, FileType};

use crate::step::InvalidData;

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// Reading the input.
    Read,
    /// Making the temporary file, or giving it its name.
    Create,
    /// Writing the result.
    Write,
    /// Waiting until the device has it.
    Sync,
    /// Putting the result in the place of what is there.
    Replace,
    /// Comparing what the device has with what was made.
    ReadBack,
    /// Removing what a killed run has left.
    Remove,
    /// Doing the steps.
    Transform,
}

impl Operation {
    /// Returns the word for the operation, as it stands in messages, and in JSON with `_` for blanks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Replace => "replace",
            Self::ReadBack => "read back",
            Self::Remove => "remove",
            Self::Transform => "transform",
        }
    }
}

/// Why something that is there is not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It is no regular file.
    NotAFile(FileType),
    /// It is there already, and may not be replaced.
    Exists,
    /// It is the input, and nobody asked for work in place.
    IsInput,
    /// It is not the input, though work in place was asked for.
    NotInput,
    /// It has that many names: they would no longer be the same file.
    ManyNames(u32),
    /// It is a link that leads nowhere.
    LinkToNowhere,
    /// The path ends in no name.
    NoName,
    /// It is no text, and only text was to be changed.
    Binary,
    /// The device has something else than what was written.
    NotAsWritten,
    /// Its system makes no holes in a file that is there.
    NoHoles,
    /// It is the journal of an earlier patch of the file.
    UndoJournal,
    /// Another user may have written it, and it would say what to write: why.
    Untrusted(&'static str),
}

impl Rejection {
    /// Returns the word for the reason, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAFile(_) => "not_a_file",
            Self::Exists => "exists",
            Self::IsInput => "is_input",
            Self::NotInput => "not_input",
            Self::ManyNames(_) => "many_names",
            Self::LinkToNowhere => "link_to_nowhere",
            Self::NoName => "no_name",
            Self::Binary => "binary",
            Self::NotAsWritten => "not_as_written",
            Self::NoHoles => "no_holes",
            Self::UndoJournal => "undo_journal",
            Self::Untrusted(_) => "untrusted",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile(file_type) => write!(f, "it is {}", article(*file_type)),
            Self::Exists => f.write_str("it exists already"),
            Self::IsInput => f.write_str("it is the input itself"),
            Self::NotInput => f.write_str("it is not the input, which was to be changed in place"),
            Self::ManyNames(names) => {
                write!(
                    f,
                    "it has {names} names (hard links), and would keep its content under the others"
                )
            }
            Self::LinkToNowhere => f.write_str("it is a link that leads nowhere"),
            Self::NoName => f.write_str("the path does not end in the name of a file"),
            Self::Binary => f.write_str("it is no text: a NUL is among its first 8 KiB"),
            Self::NotAsWritten => f.write_str("the device has something else than was written"),
            Self::NoHoles => f.write_str("holes cannot be made in a file that is there"),
            Self::UndoJournal => f.write_str("it is the undo journal of an earlier patch"),
            Self::Untrusted(why) => write!(f, "it is not trusted, as {why}; find out who wrote it"),
        }
    }
}

/// Returns a type as it stands in a sentence.
fn article(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Directory => "a directory",
        FileType::Symlink => "a link that leads nowhere",
        FileType::Block => "a block device",
        FileType::Char => "a character device",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::File => "a file",
        FileType::Unknown => "no regular file",
    }
}

/// Why a file was not transformed. What the target held before is untouched.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    System {
        /// What was being done.
        operation: Operation,
        /// To which file: for the temporary that of its target.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not one that this is done to.
    Rejected {
        /// What was to be done.
        operation: Operation,
        /// To which file.
        path: PathBuf,
        /// Why not.
        reason: Rejection,
    },
    /// The file became another one meanwhile, so that the result is of neither.
    Changed {
        /// Which file.
        path: PathBuf,
    },
    /// A step does not take what the file holds.
    Invalid {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        error: InvalidData,
    },
    /// Two inputs would have their results in one place.
    SameTarget {
        /// Which place.
        path: PathBuf,
        /// Both inputs.
        inputs: [PathBuf; 2],
    },
    /// There is less room than the results take.
    NoSpace {
        /// The folder they were to lie in.
        path: PathBuf,
        /// Bytes that they take.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The method cannot do the work: its name, and why.
    Unsupported(&'static str, &'static str),
    /// Somebody asked to stop.
    Cancelled {
        /// Which file was at work.
        path: PathBuf,
    },
}

impl Error {
    /// Returns what the system said, if it was the system that refused.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }

    /// Returns what was being done.
    pub fn operation(&self) -> Operation {
        match self {
            Self::System { operation, .. } | Self::Rejected { operation, .. } => *operation,
            Self::SameTarget { .. } | Self::NoSpace { .. } => Operation::Write,
            Self::Changed { .. }
            | Self::Invalid { .. }
            | Self::Unsupported(..)
            | Self::Cancelled { .. } => Operation::Transform,
        }
    }

    /// Returns the word for the kind of the error, as it stands in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::System { source, .. } => FaultKind::of(source).as_str(),
            Self::Rejected { reason, .. } => reason.as_str(),
            Self::Changed { .. } => "changed",
            Self::Invalid { .. } => "refused",
            Self::SameTarget { .. } => "same_target",
            Self::NoSpace { .. } => "no_room",
            Self::Unsupported(..) => "impossible",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Returns what makes an error of the system's answer about `path`.
    pub(crate) fn system(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { operation, path: path.to_owned(), source }
    }

    /// Returns the same error once more: every file it is about has one.
    pub(crate) fn duplicate(&self) -> Self {
        match self {
            Self::System { operation, path, source } => Self::System {
                operation: *operation,
                path: path.clone(),
                source: duplicate_io_error(source),
            },
            other => unreachable!("BUG: only the system refuses several at once: {other}"),
        }
    }

    pub(crate) fn rejected(operation: Operation, path: &Path, reason: Rejection) -> Self {
        Self::Rejected { operation, path: path.to_owned(), reason }
    }

    /// Returns what makes an error of a step's refusal of what is in `path`.
    pub(crate) fn invalid(path: &Path) -> impl FnOnce(InvalidData) -> Self {
        move |error| Self::Invalid { path: path.to_owned(), error }
    }
}

/// Returns the same error of the system once more.
pub(crate) fn duplicate_io_error(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cannot = |operation: Operation, path: &Path, why: &dyn fmt::Display| {
            write!(f, "cannot {} '{}': {why}", operation.as_str(), path.display())
        };
        match self {
            Self::System { operation, path, source } => {
                cannot(*operation, path, &transect::reason(source))
            }
            Self::Rejected { operation, path, reason } => cannot(*operation, path, reason),
            Self::Changed { path } => {
                cannot(Operation::Transform, path, &"it changed while it was read")
            }
            Self::Invalid { path, error } => cannot(Operation::Transform, path, error),
            Self::SameTarget { path, inputs: [one, other] } => {
                let (one, other) = (one.display(), other.display());
                cannot(Operation::Write, path, &format_args!("'{one}' and '{other}' both go there"))
            }
            Self::NoSpace { path, needed, free } => {
                let why = format_args!("the results take {needed} bytes, and {free} are free");
                cannot(Operation::Write, path, &why)
            }
            Self::Unsupported(method, why) => {
                write!(f, "method '{method}' cannot be used here: {why}")
            }
            Self::Cancelled { path } => cannot(Operation::Transform, path, &"stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Invalid { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// For [`Write`](std::io::Write), which knows errors of the system only.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::System { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
