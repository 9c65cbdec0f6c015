//! Errors about one file: which operation failed, on which file, and why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::{FaultKind, FileType};

use crate::step::InvalidData;

transect_sys::words! {
    /// The operation that failed, with its word in messages; JSON has `_` for blanks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Operation {
        /// Reading the input.
        Read = "read",
        /// Creating the temporary file, or naming it.
        Create = "create",
        /// Writing the result.
        Write = "write",
        /// Waiting for the device.
        Sync = "sync",
        /// Renaming the result to its target.
        Replace = "replace",
        /// Comparing the result on the device with the written bytes.
        ReadBack = "read back",
        /// Removing a file that a killed process left behind.
        Remove = "remove",
        /// Running the steps.
        Transform = "transform",
    }
}

/// Why a file is left unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It is not a regular file.
    NotAFile(FileType),
    /// It exists and must not be replaced.
    Exists,
    /// It is the input, and in-place mode is off.
    IsInput,
    /// It is not the input, and in-place mode is on.
    NotInput,
    /// It has that many names, which would no longer be the same file.
    ManyNames(u32),
    /// It is a dangling link.
    LinkToNowhere,
    /// The path does not end in a file name.
    NoName,
    /// It is binary, and only text was to be changed.
    Binary,
    /// The device holds other bytes than were written.
    NotAsWritten,
}

impl Rejection {
    /// Returns the name of the reason in JSON.
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
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile(file_type) => write!(f, "it is {}", article(*file_type)),
            Self::Exists => f.write_str("it already exists"),
            Self::IsInput => f.write_str("it is the input itself"),
            Self::NotInput => f.write_str("it is not the input, which was to be changed in place"),
            Self::ManyNames(names) => {
                write!(
                    f,
                    "it has {names} names (hard links); the others would keep the old content"
                )
            }
            Self::LinkToNowhere => f.write_str("it is a dangling link"),
            Self::NoName => f.write_str("the path does not end in the name of a file"),
            Self::Binary => f.write_str("it is not text: its first 8 KiB contain a NUL"),
            Self::NotAsWritten => f.write_str("the device does not return what was written"),
        }
    }
}

/// Returns a file type with its article, as used in messages.
fn article(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Directory => "a directory",
        FileType::Symlink => "a dangling link",
        FileType::Block => "a block device",
        FileType::Char => "a character device",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::File => "a file",
        FileType::Unknown => "not a regular file",
    }
}

/// Why a file was not transformed. The target is unchanged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system reported an error.
    System {
        /// The operation that failed.
        operation: Operation,
        /// The file; for a temporary file, its target.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file does not qualify for the operation.
    Rejected {
        /// The operation.
        operation: Operation,
        /// The file.
        path: PathBuf,
        /// Why it does not qualify.
        reason: Rejection,
    },
    /// The file changed meanwhile, so that the result matches neither version.
    Changed {
        /// The operation.
        operation: Operation,
        /// The file.
        path: PathBuf,
    },
    /// A step cannot process the content.
    Invalid {
        /// The operation.
        operation: Operation,
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: InvalidData,
    },
    /// Two inputs have the same target.
    SameTarget {
        /// The target.
        path: PathBuf,
        /// Both inputs.
        inputs: [PathBuf; 2],
    },
    /// There is not enough free space for the results.
    NoSpace {
        /// The directory for the results.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The method cannot do the work. Contains its name and the reason.
    Unsupported(&'static str, &'static str),
    /// The user cancelled.
    Cancelled {
        /// The file in progress.
        path: PathBuf,
    },
}

impl Error {
    /// Returns the system's error, if it is one.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }

    /// Returns the file; `None` if the error is not about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::System { path, .. }
            | Self::Rejected { path, .. }
            | Self::Changed { path, .. }
            | Self::Invalid { path, .. }
            | Self::SameTarget { path, .. }
            | Self::NoSpace { path, .. }
            | Self::Cancelled { path } => Some(path),
            Self::Unsupported(..) => None,
        }
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        match self {
            Self::System { operation, .. }
            | Self::Rejected { operation, .. }
            | Self::Changed { operation, .. }
            | Self::Invalid { operation, .. } => *operation,
            Self::SameTarget { .. } | Self::NoSpace { .. } => Operation::Write,
            Self::Unsupported(..) | Self::Cancelled { .. } => Operation::Transform,
        }
    }

    /// Returns the kind of the error in JSON.
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

    /// Returns a function that turns a system error about `path` into an [`Error`].
    pub(crate) fn system(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { operation, path: path.to_owned(), source }
    }

    /// Returns a copy of a system error, for each further file it concerns.
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

    /// Returns a function that turns a step's error about the content of `path` into an [`Error`].
    pub(crate) fn invalid(path: &Path) -> impl FnOnce(InvalidData) -> Self {
        move |error| Self::Invalid { operation: Operation::Transform, path: path.to_owned(), error }
    }

    /// Returns the error for a file that changed while it was read.
    pub(crate) fn changed(path: &Path) -> Self {
        Self::Changed { operation: Operation::Transform, path: path.to_owned() }
    }

    /// Returns a function that makes errors about the content of a file errors of an operation
    /// other than [`Operation::Transform`].
    pub(crate) fn during(actual: Operation) -> impl FnOnce(Self) -> Self {
        move |mut error| {
            if let Self::Changed { operation, .. } | Self::Invalid { operation, .. } = &mut error
                && *operation == Operation::Transform
            {
                *operation = actual;
            }
            error
        }
    }
}

/// Returns a copy of a system error.
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
            Self::Changed { operation, path } => {
                cannot(*operation, path, &"it changed while it was read")
            }
            Self::Invalid { operation, path, error } => cannot(*operation, path, error),
            Self::SameTarget { path, inputs: [one, other] } => {
                let (one, other) = (one.display(), other.display());
                cannot(
                    Operation::Write,
                    path,
                    &format_args!("it is the target of both '{one}' and '{other}'"),
                )
            }
            Self::NoSpace { path, needed, free } => {
                let why = format_args!("the results need {needed} bytes, and only {free} are free");
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

/// For [`Write`](std::io::Write), which returns system errors only.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::System { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
