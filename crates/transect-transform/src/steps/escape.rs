//! Bytes in parameters: the escapes `\n`, `\t`, `\r`, `\\`, `\/` and `\xNN`, and literal bytes.

/// Returns both sides of the only unescaped `/`.
pub(super) fn parse_pair(text: &str) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut sides = vec![Vec::new()];
    let mut rest = text.as_bytes();
    while let Some((&typed, after)) = rest.split_first() {
        rest = after;
        let byte = match typed {
            b'/' => {
                sides.push(Vec::new());
                continue;
            }
            b'\\' => {
                let (byte, after) = escaped(rest).ok_or("after '\\' only n, t, r, \\, / or xNN")?;
                rest = after;
                byte
            }
            plain => plain,
        };
        sides.last_mut().expect("BUG: there is a first side").push(byte);
    }
    match <[Vec<u8>; 2]>::try_from(sides) {
        Ok([first, second]) => Ok((first, second)),
        Err(sides) if sides.len() < 2 => Err("there is no '/'".to_owned()),
        Err(_) => Err("there is more than one '/': one that is meant as such is '\\/'".to_owned()),
    }
}

/// Returns the byte of an escape after its backslash, and what follows.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (byte, rest) = match text {
        [b'n', rest @ ..] => (b'\n', rest),
        [b't', rest @ ..] => (b'\t', rest),
        [b'r', rest @ ..] => (b'\r', rest),
        [b'\\', rest @ ..] => (b'\\', rest),
        [b'/', rest @ ..] => (b'/', rest),
        [b'x', high, low, rest @ ..] => (hex(*high)? << 4 | hex(*low)?, rest),
        _ => return None,
    };
    Some((byte, rest))
}

/// Returns the value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_escapes_and_literal_bytes() {
        for (text, first, second) in [
            ("a/b", &b"a"[..], &b"b"[..]),
            ("/", b"", b""),
            ("a/", b"a", b""),
            (r"\n\t\r\\\//\x00\xfF", b"\n\t\r\\/", b"\x00\xff"),
            ("\u{e9} /\u{1f600}", "\u{e9} ".as_bytes(), "\u{1f600}".as_bytes()),
            (r"\x2f/\x41", b"/", b"A"),
        ] {
            let (one, other) = parse_pair(text).unwrap();
            assert_eq!((&one[..], &other[..]), (first, second), "{text}");
        }
    }

    #[test]
    fn pair_invalid_rejected() {
        for text in [
            "",
            "a",
            r"a\/b",
            "a/b/c",
            r"\",
            r"a/\",
            r"\a/b",
            r"\x4/b",
            r"\x",
            r"\xg0/",
            r"\x\u{e9}/",
        ] {
            assert!(parse_pair(text).is_err(), "{text}");
        }
    }
}
