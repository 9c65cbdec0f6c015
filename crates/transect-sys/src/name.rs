//! Names as bytes and back, without loss, on every system.
//!
//! A batch keeps all names of a directory in one buffer of bytes. On Unix those are the bytes the
//! kernel gave; elsewhere they are the encoded bytes of an [`OsStr`], which round-trip unpaired
//! surrogates.

use std::ffi::OsStr;

/// Returns the name that the bytes spell.
///
/// The bytes must have come out of an [`OsStr`] (or, on Unix, from the kernel).
#[cfg(unix)]
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// Returns the name that the bytes spell.
///
/// The bytes must have come out of an [`OsStr`].
#[cfg(not(unix))]
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> &OsStr {
    // SAFETY: crate-private, and only called by `Batch` on ranges that `Batch::push` copied whole
    // from `OsStr::as_encoded_bytes`; no range is ever split or joined.
    unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }
}
