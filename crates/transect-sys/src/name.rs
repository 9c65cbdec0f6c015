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

/// Returns the first eight bytes of a name as a number that sorts the same way. They distinguish
/// most names without a second look at them.
#[doc(hidden)]
#[inline]
pub fn name_prefix(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = name.len().min(8);
    first[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(first)
}

/// Returns the name with these bytes. On Windows, where names are UTF-16, they must be WTF-8: invalid
/// sequences are replaced.
pub fn name_from_bytes(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    String::from_utf8(bytes).map_or_else(|error| from_other_bytes(error.as_bytes()), OsString::from)
}

/// Returns the name with these bytes, which are not UTF-8.
#[cfg(not(unix))]
fn from_other_bytes(bytes: &[u8]) -> OsString {
    #[cfg(windows)]
    if let Some(units) = utf16_from_wtf8(bytes) {
        return std::os::windows::ffi::OsStringExt::from_wide(&units);
    }
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Returns the UTF-16 of a name in WTF-8: UTF-8 in which unpaired surrogates are encoded, too. `None` for
/// other bytes.
#[cfg(any(windows, test))]
fn utf16_from_wtf8(bytes: &[u8]) -> Option<Vec<u16>> {
    let (mut units, mut rest) = (Vec::new(), bytes);
    loop {
        let text = match str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => str::from_utf8(&rest[..error.valid_up_to()]).ok()?,
        };
        units.extend(text.encode_utf16());
        match &rest[text.len()..] {
            [] => return Some(units),
            [0xED, high @ 0xA0..=0xBF, low @ 0x80..=0xBF, after @ ..] => {
                units.push(0xD000 | (u16::from(high & 0x3F) << 6) | u16::from(low & 0x3F));
                rest = after;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wtf8_text_and_surrogates_round_trip() {
        let cases: [(&[u8], &[u16]); 6] = [
            (b"", &[]),
            ("a\u{e9}\u{20ac}\u{1f600}".as_bytes(), &[0x61, 0xE9, 0x20AC, 0xD83D, 0xDE00]),
            (b"\xed\xa0\x80", &[0xD800]),
            (b"\xed\xbf\xbf", &[0xDFFF]),
            (b"a\xed\xb0\x80b", &[0x61, 0xDC00, 0x62]),
            (b"\xed\x9f\xbf\xed\xb0\x80\xed\xa0\x80", &[0xD7FF, 0xDC00, 0xD800]),
        ];
        for (bytes, units) in cases {
            assert_eq!(utf16_from_wtf8(bytes).as_deref(), Some(units), "{bytes:x?}");
        }
    }

    #[test]
    fn wtf8_other_bytes_refused() {
        for bytes in [&b"\xff"[..], b"a\xed", b"\xed\xa0", b"\xed\xa0z", b"\xc3(", b"\xf0\x9f"] {
            assert_eq!(utf16_from_wtf8(bytes), None, "{bytes:x?}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn name_from_bytes_unpaired_surrogates_preserved() {
        use std::os::windows::ffi::{OsStrExt, OsStringExt};

        let units = [0x61, 0xDC00, 0xE9, 0xD800, 0xD83D, 0xDE00];
        let name = OsString::from_wide(&units);
        let read = name_from_bytes(name.as_encoded_bytes().to_vec());
        assert_eq!(read.encode_wide().collect::<Vec<_>>(), units);
        assert_eq!(name_from_bytes(b"a\xff".to_vec()), "a\u{fffd}");
    }
}
