//! Names as bytes and back, without loss, on every system.
//!
//! A batch keeps all names of a directory in one buffer of bytes. On Unix those are the bytes the
//! kernel gave; elsewhere they are UTF-8, or the encoded bytes of an [`OsStr`], which round-trip
//! unpaired surrogates.

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
/// The bytes must be UTF-8, or have come out of an [`OsStr`].
#[cfg(not(unix))]
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> &OsStr {
    // SAFETY: crate-private, and only called by `Batch` and `NameBuffer` on ranges that hold one name
    // each: copied whole from `OsStr::as_encoded_bytes` (`Batch::push`, `NameBuffer::push`, and
    // `Batch::push_utf16` for what is no text), or made of `char`s (`append_utf8`). No range is
    // ever split or joined.
    unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }
}
