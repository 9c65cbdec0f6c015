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

/// Why a file was not transformed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The system reported an error.
    System(io::Error),
    /// It changed meanwhile, so that the result matches neither version.
    Changed,
    /// A step cannot process the content: where and why.
    Invalid(InvalidData),
    /// Both inputs have the same target.
    SameTarget([PathBuf; 2]),
    /// There is not enough free space for the results.
    NoSpace {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The method cannot do the work. Contains its name and the reason.
    Unsupported(&'static str, &'static str),
    /// The user cancelled.
    Cancelled,
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

impl Reason {
    /// Returns the name of the reason in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::System(source) => FaultKind::of(source).as_str(),
            Self::Changed => "changed",
            Self::Invalid(_) => "refused",
            Self::SameTarget(_) => "same_target",
            Self::NoSpace { .. } => "no_room",
            Self::Unsupported(..) => "impossible",
            Self::Cancelled => "cancelled",
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(source) => write!(f, "{}", transect::reason(source)),
            Self::Changed => f.write_str("it changed while it was read"),
            Self::Invalid(error) => error.fmt(f),
            Self::SameTarget([one, other]) => {
                let (one, other) = (one.display(), other.display());
                write!(f, "it is the target of both '{one}' and '{other}'")
            }
            Self::NoSpace { needed, free } => {
                write!(f, "the results need {needed} bytes, and only {free} are free")
            }
            Self::Unsupported(method, why) => {
                write!(f, "method '{method}' cannot be used here: {why}")
            }
            Self::Cancelled => f.write_str("stopped"),
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

/// Why a file was not transformed: what failed, and on which file. The target is unchanged.
#[derive(Debug)]
pub struct Error {
    operation: Operation,
    /// For a temporary file, its target.
    path: Option<PathBuf>,
    reason: Reason,
}

impl Error {
    /// Returns the system's error, if it is one.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.reason {
            Reason::System(source) => Some(source),
            _ => None,
        }
    }

    /// Returns the file; for a temporary file, its target. `None` if the error is not about one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns why it failed.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    pub(crate) fn new(operation: Operation, path: &Path, reason: Reason) -> Self {
        Self { operation, path: Some(path.to_owned()), reason }
    }

    /// Returns a function that turns a system error about `path` into an [`Error`].
    pub fn system(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(operation, path, Reason::System(source))
    }

    /// Returns a copy of a system error, for each further file it concerns.
    pub(crate) fn duplicate(&self) -> Self {
        let Reason::System(source) = &self.reason else {
            unreachable!("BUG: only the system refuses several at once: {self}")
        };
        let reason = Reason::System(duplicate_io_error(source));
        Self { operation: self.operation, path: self.path.clone(), reason }
    }

    /// Returns the error for a method that cannot do the work.
    pub(crate) fn unsupported(method: &'static str, why: &'static str) -> Self {
        let reason = Reason::Unsupported(method, why);
        Self { operation: Operation::Transform, path: None, reason }
    }

    /// Returns a function that turns a step's error about the content of `path` into an [`Error`].
    pub(crate) fn invalid(path: &Path) -> impl FnOnce(InvalidData) -> Self {
        move |error| Self::new(Operation::Transform, path, Reason::Invalid(error))
    }

    /// Returns the error for a file that changed while it was read.
    pub(crate) fn changed(path: &Path) -> Self {
        Self::new(Operation::Transform, path, Reason::Changed)
    }

    /// Returns the error for a file that was in progress when the user cancelled.
    pub(crate) fn cancelled(path: &Path) -> Self {
        Self::new(Operation::Transform, path, Reason::Cancelled)
    }
}

/// Returns a copy of a system error.
pub(crate) fn duplicate_io_error(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => {
                let operation = self.operation.as_str();
                write!(f, "cannot {operation} '{}': {}", path.display(), self.reason)
            }
            None => self.reason.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::System(source) => Some(source),
            Reason::Invalid(error) => Some(error),
            _ => None,
        }
    }
}

/// For [`Write`](std::io::Write), which returns system errors only.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.io_error().map_or(io::ErrorKind::Other, io::Error::kind), error)
    }
}
