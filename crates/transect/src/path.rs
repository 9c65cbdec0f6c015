//! Paths and names as bytes.

use std::ffi::{OsStr, OsString};
#[cfg(any(feature = "filters", test))]
use std::path::Path;

/// Returns whether a name can be appended to the path without a separator: the path is empty, ends
/// with one, or is a Windows drive (`C:`, the current directory of that drive).
pub(crate) fn ends_with_separator(path: &[u8]) -> bool {
    match path {
        [.., last] if std::path::is_separator((*last).into()) => true,
        [_, b':'] => cfg!(windows),
        path => path.is_empty(),
    }
}

/// Returns a path without its first `bytes` bytes, which end with a separator.
#[cfg(all(unix, any(feature = "filters", test)))]
pub(crate) fn strip_prefix_bytes(path: &Path, bytes: usize) -> &Path {
    let rest = path.as_os_str().as_encoded_bytes().get(bytes..).unwrap_or_default();
    let rest: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(rest);
    Path::new(rest)
}

/// Returns a path without its first `bytes` bytes, which end with a separator.
#[cfg(all(not(unix), any(feature = "filters", test)))]
pub(crate) fn strip_prefix_bytes(path: &Path, bytes: usize) -> &Path {
    let length = path.as_os_str().len().saturating_sub(bytes);
    let mut rest = path.components();
    while rest.as_path().as_os_str().len() > length {
        rest.next();
    }
    rest.as_path()
}

/// Appends a name to the path of its directory.
pub fn push_name(path: &mut OsString, name: &OsStr) {
    if !ends_with_separator(path.as_encoded_bytes()) {
        path.push(std::path::MAIN_SEPARATOR_STR);
    }
    path.push(name);
}
