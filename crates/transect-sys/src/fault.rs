//! Why a question to the system has no answer.

use std::io;

/// A question that failed: the thing went away, or the system refused.
#[derive(Debug)]
pub enum Fault {
    /// Listed a moment ago, gone now. Not an error: trees change while they are read.
    Vanished,
    /// The system refused; nothing is known.
    Failed(io::Error),
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Vanished => io::ErrorKind::NotFound.into(),
            Fault::Failed(error) => error,
        }
    }
}

/// The kinds of error that users tell apart, in one word each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FaultKind {
    /// Not permitted.
    Denied,
    /// No such file or directory.
    NotFound,
    /// Exists, but is not a directory.
    NotADirectory,
    /// A name or path longer than the system takes.
    NameTooLong,
    /// Symbolic links that lead back to themselves.
    Loop,
    /// No more file descriptors.
    TooManyOpen,
    /// The device or file system failed to read (`EIO`, a corrupt directory).
    Io,
    /// A record that does not follow the format.
    InvalidData,
    /// The remote side did not answer in time.
    TimedOut,
    /// Anything else: the operating system's number says more.
    Other,
}

impl FaultKind {
    /// Returns the kind of an error.
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => return Self::Denied,
            io::ErrorKind::NotFound => return Self::NotFound,
            io::ErrorKind::NotADirectory => return Self::NotADirectory,
            io::ErrorKind::InvalidFilename => return Self::NameTooLong,
            io::ErrorKind::InvalidData => return Self::InvalidData,
            io::ErrorKind::TimedOut => return Self::TimedOut,
            _ => {}
        }
        #[cfg(target_os = "linux")]
        match error.raw_os_error() {
            Some(libc::ELOOP) => return Self::Loop,
            Some(libc::EMFILE | libc::ENFILE) => return Self::TooManyOpen,
            Some(libc::EIO | libc::EUCLEAN) => return Self::Io,
            _ => {}
        }
        Self::Other
    }

    /// Returns the word for the kind, as it stands in JSON and in the documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::NotADirectory => "not_a_directory",
            Self::NameTooLong => "name_too_long",
            Self::Loop => "loop",
            Self::TooManyOpen => "too_many_open",
            Self::Io => "io",
            Self::InvalidData => "invalid_data",
            Self::TimedOut => "timed_out",
            Self::Other => "other",
        }
    }
}
