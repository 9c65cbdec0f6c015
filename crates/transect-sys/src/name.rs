//! Conversion of names from and to bytes, lossless on every system.
//!
//! A batch stores all names of a directory in one buffer of bytes. On Unix these are the kernel's
//! bytes. Elsewhere they are UTF-8 or the encoded bytes of an [`OsStr`], which preserve unpaired
//! surrogates.

use std::ffi::{OsStr, OsString};

/// Returns the name with these bytes.
///
/// The bytes must come from an [`OsStr`] or, on Unix, from the kernel.
#[cfg(unix)]
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// Returns the name with these bytes.
///
/// The bytes must be UTF-8 or come from an [`OsStr`].
#[cfg(not(unix))]
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> &OsStr {
    // SAFETY: crate-private, and only called by `Batch` and `NameBuffer` on ranges that hold one
    // name each: copied whole from `OsStr::as_encoded_bytes` (`Batch::push`, `NameBuffer::push`,
    // and `Batch::push_utf16` for names that are not Unicode), or made of `char`s (`append_utf8`).
    // No range is ever split or joined.
    unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }
}

/// Returns the name with these bytes. Where names are not bytes (Windows), invalid UTF-8 is
/// replaced.
pub fn name_from_bytes(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    return String::from_utf8_lossy(&bytes).into_owned().into();
}
