//! Errors of volumes.

use std::io;

/// Returns the error for a volume with impossible content.
pub(super) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Returns the error for what holds no volume that can be read.
pub(super) fn unsupported(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// Returns an error like this one.
pub(super) fn same_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
