//! Why a question to the system has no answer.

use std::{error, fmt, io};

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

/// A directory lists an entry that the file system cannot find, whenever it is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Inconsistent;

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its directory lists it, but the file system does not find it")
    }
}

impl error::Error for Inconsistent {}

impl From<Inconsistent> for io::Error {
    fn from(inconsistent: Inconsistent) -> Self {
        Self::new(io::ErrorKind::NotFound, inconsistent)
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
    /// A name or path that the system does not take at all (`*` on Windows).
    InvalidName,
    /// Somebody else has it open and shares it with nobody (Windows).
    SharingViolation,
    /// Symbolic links that lead back to themselves.
    Loop,
    /// No more file descriptors.
    TooManyOpen,
    /// The device or file system failed to read (`EIO`, a corrupt directory).
    Io,
    /// A record that does not follow the format.
    InvalidData,
    /// The directory lists the entry, but the file system does not find it.
    Inconsistent,
    /// The remote side did not answer in time.
    TimedOut,
    /// Anything else: the operating system's number says more.
    Other,
}

impl FaultKind {
    /// Returns the kind of an error.
    pub fn of(error: &io::Error) -> Self {
        if let Some(kind) = Self::of_system(error.raw_os_error()) {
            return kind;
        }
        match error.kind() {
            _ if error.get_ref().is_some_and(|error| error.is::<Inconsistent>()) => {
                Self::Inconsistent
            }
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::NotADirectory => Self::NotADirectory,
            io::ErrorKind::InvalidFilename => Self::NameTooLong,
            io::ErrorKind::InvalidData => Self::InvalidData,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Other,
        }
    }

    /// Returns the kind of an error whose number says more than the standard library does.
    #[cfg(target_os = "linux")]
    fn of_system(error: Option<i32>) -> Option<Self> {
        Some(match error? {
            libc::ELOOP => Self::Loop,
            libc::EMFILE | libc::ENFILE => Self::TooManyOpen,
            libc::EIO | libc::EUCLEAN => Self::Io,
            _ => return None,
        })
    }

    /// Returns the kind of an error whose number says more than the standard library does.
    #[cfg(windows)]
    fn of_system(error: Option<i32>) -> Option<Self> {
        use windows_sys::Win32::Foundation as win32;
        Some(match error? as u32 {
            win32::ERROR_SHARING_VIOLATION | win32::ERROR_LOCK_VIOLATION => Self::SharingViolation,
            win32::ERROR_INVALID_NAME | win32::ERROR_BAD_PATHNAME => Self::InvalidName,
            win32::ERROR_DELETE_PENDING => Self::NotFound,
            win32::ERROR_CANT_RESOLVE_FILENAME => Self::Loop,
            win32::ERROR_TOO_MANY_OPEN_FILES => Self::TooManyOpen,
            win32::ERROR_CRC
            | win32::ERROR_READ_FAULT
            | win32::ERROR_IO_DEVICE
            | win32::ERROR_FILE_CORRUPT
            | win32::ERROR_DISK_CORRUPT => Self::Io,
            _ => return None,
        })
    }

    /// Returns the kind of an error whose number says more than the standard library does.
    #[cfg(not(any(target_os = "linux", windows)))]
    fn of_system(_: Option<i32>) -> Option<Self> {
        None
    }

    /// Returns the word for the kind, as it stands in JSON and in the documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::NotADirectory => "not_a_directory",
            Self::NameTooLong => "name_too_long",
            Self::InvalidName => "invalid_name",
            Self::SharingViolation => "sharing_violation",
            Self::Loop => "loop",
            Self::TooManyOpen => "too_many_open",
            Self::Io => "io",
            Self::InvalidData => "invalid_data",
            Self::Inconsistent => "inconsistent",
            Self::TimedOut => "timed_out",
            Self::Other => "other",
        }
    }
}
