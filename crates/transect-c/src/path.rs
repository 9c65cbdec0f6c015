//! Paths from and to the bytes that C programs use: on Unix those of the system, on Windows WTF-8
//! (<https://wtf-8.codeberg.page>): UTF-8 in which a surrogate without its partner is encoded like a
//! character.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

/// Returns the path with these bytes; `None` if they are not WTF-8 on Windows.
#[cfg(unix)]
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Cow<'_, Path>> {
    let path: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    Some(Path::new(path).into())
}

/// Returns the path with these bytes; `None` if they are not WTF-8 on Windows.
#[cfg(windows)]
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Cow<'_, Path>> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Some(Path::new(text).into());
    }
    let path: std::ffi::OsString = std::os::windows::ffi::OsStringExt::from_wide(&utf16(bytes)?);
    Some(std::path::PathBuf::from(path).into())
}

/// Returns WTF-8 as UTF-16; `None` if it is not WTF-8.
#[cfg(any(windows, test))]
fn utf16(mut rest: &[u8]) -> Option<Vec<u16>> {
    let mut units = Vec::with_capacity(rest.len());
    while let Some(chunk) = rest.utf8_chunks().next() {
        units.extend(chunk.valid().encode_utf16());
        rest = &rest[chunk.valid().len()..];
        rest = match rest {
            [] => rest,
            [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, after @ ..] => {
                units.push(0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F));
                after
            }
            _ => return None,
        };
    }
    Some(units)
}

/// Returns the bytes of a path or name. The standard library of Windows stores WTF-8; a test proves
/// it.
pub(crate) fn to_bytes(path: &OsStr) -> &[u8] {
    path.as_encoded_bytes()
}

/// Replaces `text` by the bytes of a name with a NUL at the end. Returns their number without it.
pub(crate) fn write_with_nul(name: &OsStr, text: &mut Vec<u8>) -> usize {
    text.clear();
    text.extend_from_slice(to_bytes(name));
    text.push(0);
    text.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_from_wtf8() {
        for (bytes, units) in [
            (&b""[..], &[][..]),
            (b"a", &[0x61]),
            ("é€😀".as_bytes(), &[0xE9, 0x20AC, 0xD83D, 0xDE00]),
            (b"\xED\x9F\xBF", &[0xD7FF]),
            (b"\xED\xA0\x80", &[0xD800]),
            (b"a\xED\xBF\xBFb\xED\xA0\xBDc", &[0x61, 0xDFFF, 0x62, 0xD83D, 0x63]),
        ] {
            assert_eq!(utf16(bytes).as_deref(), Some(units), "{bytes:x?}");
        }
        for bytes in
            [&b"\xFF"[..], b"a\xED", b"\xED\xA0", b"\xED\xA0A", b"\xC3", b"\xED\xA0\x80\xFF"]
        {
            assert_eq!(utf16(bytes), None, "{bytes:x?}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn any_units_round_trip_as_wtf8() {
        use std::os::windows::ffi::{OsStrExt, OsStringExt};

        for units in
            [&[0x61, 0xE9][..], &[0xD83D, 0xDE00], &[0xD800], &[0x61, 0xDFFF, 0x62, 0xD83D]]
        {
            let name = std::ffi::OsString::from_wide(units);
            let found = from_bytes(to_bytes(&name)).unwrap();
            assert_eq!(found.as_os_str().encode_wide().collect::<Vec<_>>(), units);
        }
        assert_eq!(to_bytes(&std::ffi::OsString::from_wide(&[0xD800])), b"\xED\xA0\x80");
        assert!(from_bytes(b"\xFF").is_none());
    }
}
