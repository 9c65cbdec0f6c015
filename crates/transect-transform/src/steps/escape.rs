//! Bytes in parameters: the escapes `\n`, `\t`, `\r`, `\\`, `\/` and `\xNN`, and literal bytes.

/// A byte of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParameterByte {
    pub(super) byte: u8,
    /// Whether it is literal. An escaped byte has no special meaning.
    pub(super) plain: bool,
}

/// Returns both sides of the only unescaped `/`.
pub(super) fn parse_pair(text: &str) -> Result<(Vec<ParameterByte>, Vec<ParameterByte>), String> {
    let typed = parse(text)?;
    let slash = ParameterByte { byte: b'/', plain: true };
    let mut sides = typed.split(|&byte| byte == slash);
    match (sides.next(), sides.next(), sides.next()) {
        (Some(first), Some(second), None) => Ok((first.to_vec(), second.to_vec())),
        (_, None, _) => Err("there is no '/'".to_owned()),
        _ => Err("there is more than one '/': one that is meant as such is '\\/'".to_owned()),
    }
}

/// Returns the bytes.
pub(super) fn bytes(typed: &[ParameterByte]) -> Vec<u8> {
    typed.iter().map(|typed| typed.byte).collect()
}

fn parse(text: &str) -> Result<Vec<ParameterByte>, String> {
    let mut typed = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'\\' {
            let (byte, after) = escaped(rest).ok_or("after '\\' only n, t, r, \\, / or xNN")?;
            typed.push(ParameterByte { byte, plain: false });
            rest = after;
        } else {
            typed.push(ParameterByte { byte, plain: true });
        }
    }
    Ok(typed)
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
            assert_eq!((&bytes(&one)[..], &bytes(&other)[..]), (first, second), "{text}");
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
