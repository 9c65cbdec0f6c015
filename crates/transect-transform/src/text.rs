//! Distinguishes text files from binary files.

/// Number of bytes at the beginning of a file that decide whether it is text.
pub const PREFIX: usize = 8 << 10;

/// Returns whether a file that starts with `prefix` is binary: one of its first 8 KiB is NUL, which
/// is also git's rule. UTF-16 contains NULs, and is text if it starts with its byte order mark.
///
/// ```
/// use transect_transform::text::is_binary;
///
/// assert!(is_binary(b"\x7fELF\x02\x01\x01\0"));
/// assert!(!is_binary(b"int main(void) {}\n"));
/// assert!(!is_binary(b"\xff\xfet\0e\0x\0t\0"));
/// ```
pub fn is_binary(prefix: &[u8]) -> bool {
    let prefix = &prefix[..prefix.len().min(PREFIX)];
    let is_utf16 = match prefix {
        // The byte order mark of UTF-32, which no step decodes.
        [0xff, 0xfe, 0, 0, ..] => false,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        _ => false,
    };
    !is_utf16 && memchr::memchr(0, prefix).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_binary_nul_except_in_utf16() {
        for (prefix, binary) in [
            (&b""[..], false),
            (b"text", false),
            (b"\xff\xd8\xff\xe0", false),
            (b"te\0xt", true),
            (b"\xff\xfet\0", false),
            (b"\xfe\xff\0t", false),
            (b"\xff\xfe\0\0t\0\0\0", true),
            (b"\xef\xbb\xbftext", false),
            (b"\xef\xbb\xbf\0", true),
        ] {
            assert_eq!(is_binary(prefix), binary, "{prefix:?}");
        }
    }

    #[test]
    fn is_binary_checks_only_prefix() {
        let mut file = vec![b'x'; PREFIX];
        file.push(0);
        assert!(!is_binary(&file));
        file[PREFIX - 1] = 0;
        assert!(is_binary(&file));
    }
}
