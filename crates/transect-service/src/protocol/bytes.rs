//! Reads numbers and strings from untrusted bytes.

use super::{MAX_PATH_BYTES, ProtocolError};

/// The rest of a frame. Numbers are little-endian; the length of a string precedes it.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

const SHORT: ProtocolError = ProtocolError("the frame ends early");

impl<'a> ByteReader<'a> {
    /// Returns whether everything was read.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Takes this number of bytes.
    ///
    /// # Errors
    /// There are fewer; the same holds for the methods that follow.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Takes a byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes a number of two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Takes a number of four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes a number of eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, ProtocolError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a string: its length in two bytes, and its bytes.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8], ProtocolError> {
        let length = self.u16()?;
        self.take(length.into())
    }

    /// Checks that everything was read.
    ///
    /// # Errors
    /// Bytes are left.
    pub fn end(self) -> Result<(), ProtocolError> {
        if self.is_empty() { Ok(()) } else { Err(ProtocolError("unexpected bytes after the end")) }
    }
}

/// Returns what to send for a string. Where systems accept no path of the limit's length, a longer one
/// is truncated. Windows may accept longer ones, so there a path is sent that no system accepts.
#[inline]
pub(super) fn limited(string: &[u8]) -> &[u8] {
    match string.len() {
        0..=MAX_PATH_BYTES => string,
        _ if cfg!(windows) => b"\0",
        _ => &string[..MAX_PATH_BYTES],
    }
}

/// Appends a string that is at most as long as a path; a longer one as [`limited`] says.
#[inline]
pub(super) fn append_string(out: &mut Vec<u8>, string: &[u8]) {
    let string = limited(string);
    out.extend_from_slice(&(string.len() as u16).to_le_bytes());
    out.extend_from_slice(string);
}
