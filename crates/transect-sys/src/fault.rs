//! Why a query failed.

use std::{error, fmt, io};

/// The result of a query.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// A failed query: the entry is gone, or the system reported an error.
#[derive(Debug)]
pub enum Fault {
    /// The entry was listed a moment ago and is gone. Not an error: trees change while they are
    /// read.
    Vanished,
    /// The system reported an error.
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

/// The error for an entry that its directory lists repeatedly although the file system never finds
/// it.
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

crate::words! {
    /// The kinds of errors that users distinguish, one word each.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum FaultKind {
        /// Permission denied.
        Denied = "denied",
        /// No such file or directory.
        NotFound = "not_found",
        /// Exists, but is not a directory.
        NotADirectory = "not_a_directory",
        /// A name or path exceeds the length limit of the system.
        NameTooLong = "name_too_long",
        /// A name or path is not valid on this system (`*` on Windows).
        InvalidName = "invalid_name",
        /// Another process has the file open and does not share it (Windows).
        SharingViolation = "sharing_violation",
        /// A loop of symbolic links.
        Loop = "loop",
        /// Too many open files.
        TooManyOpen = "too_many_open",
        /// The device or file system could not be read (`EIO`, a corrupt directory).
        Io = "io",
        /// A malformed record.
        InvalidData = "invalid_data",
        /// The directory lists the entry, but the file system does not find it.
        Inconsistent = "inconsistent",
        /// A remote file system did not respond in time.
        TimedOut = "timed_out",
        /// Any other error; see its number.
        Other = "other",
    }
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

    /// Returns the kind of an error whose number is more specific than [`io::ErrorKind`].
    #[cfg(target_os = "linux")]
    fn of_system(error: Option<i32>) -> Option<Self> {
        Some(match error? {
            libc::ELOOP => Self::Loop,
            libc::EMFILE | libc::ENFILE => Self::TooManyOpen,
            libc::EIO | libc::EUCLEAN => Self::Io,
            _ => return None,
        })
    }

    /// Returns the kind of an error whose number is more specific than [`io::ErrorKind`].
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

    /// Returns the kind of an error whose number is more specific than [`io::ErrorKind`].
    #[cfg(not(any(target_os = "linux", windows)))]
    fn of_system(_: Option<i32>) -> Option<Self> {
        None
    }
}
