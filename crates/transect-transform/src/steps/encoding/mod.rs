//! Text encodings.

pub(super) mod bom;
pub(super) mod decode;
pub(super) mod encode;
mod single_byte;
mod utf16;
mod utf8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16(Order),
    Latin1,
    Cp1252,
}

/// Byte order of a 16-bit unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Encoding {
    const ALL: [Self; 5] = [
        Self::Utf8,
        Self::Utf16(Order::Little),
        Self::Utf16(Order::Big),
        Self::Latin1,
        Self::Cp1252,
    ];

    /// Returns its name, as typed.
    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16(Order::Little) => "utf-16le",
            Self::Utf16(Order::Big) => "utf-16be",
            Self::Latin1 => "latin1",
            Self::Cp1252 => "cp1252",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// Returns its byte order mark, U+FEFF, if it has one.
    fn mark(self) -> Option<&'static [u8]> {
        match self {
            Self::Utf8 => Some(b"\xef\xbb\xbf"),
            Self::Utf16(Order::Little) => Some(b"\xff\xfe"),
            Self::Utf16(Order::Big) => Some(b"\xfe\xff"),
            Self::Latin1 | Self::Cp1252 => None,
        }
    }

    /// Returns the encoding whose byte order mark a text starts with.
    fn from_mark(text: &[u8]) -> Option<Self> {
        let has_mark = |encoding: &Self| encoding.mark().is_some_and(|mark| text.starts_with(mark));
        Self::ALL.into_iter().find(has_mark)
    }
}

/// Returns how many bytes at the beginning are ASCII. Checks whole spans first.
fn ascii(bytes: &[u8]) -> usize {
    const SPAN: usize = 64;
    let spans = bytes.chunks(SPAN).take_while(|span| span.is_ascii()).count();
    let end = (spans * SPAN).min(bytes.len());
    end + bytes[end..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_names_and_marks() {
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::from_name(encoding.name()), Some(encoding));
            if let Some(mark) = encoding.mark() {
                assert_eq!(Encoding::from_mark(&[mark, b"text"].concat()), Some(encoding));
            }
        }
        assert_eq!(Encoding::from_name("ebcdic"), None);
        assert_eq!(Encoding::from_mark(b"\xef\xbb"), None);
    }

    #[test]
    fn ascii_prefix_any_length() {
        for length in [0, 1, 63, 64, 65, 200] {
            let text = vec![b'a'; length];
            assert_eq!(ascii(&text), length);
            assert_eq!(ascii(&[&text[..], b"\x80bc"].concat()), length);
        }
    }
}
