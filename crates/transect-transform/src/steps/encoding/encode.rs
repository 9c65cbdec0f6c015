//! Converts UTF-8 to other encodings.

use super::single_byte::byte;
use super::utf8::Utf8;
use super::{Encoding, Order, ascii};
use crate::output::OutputBuffer;
use crate::step::{InvalidData, Step, StepError};
use crate::steps::info::StepResult;

/// The byte order mark as a character.
const MARK: char = '\u{feff}';

/// Converts UTF-8 to another encoding. Rejects characters that the encoding lacks, and never
/// replaces them.
struct Encode {
    utf8: Utf8,
    writer: Writer,
}

/// Writes text in an encoding.
struct Writer {
    encoding: Encoding,
    /// Whether the result starts with a byte order mark even if the input does not.
    mark: bool,
    /// Bytes of the input so far.
    position: u64,
}

pub(in crate::steps) fn encode(parameter: Option<&str>) -> StepResult {
    let parameter = parameter.unwrap_or_default();
    let (name, mark) = match parameter.strip_suffix(",bom") {
        Some(name) => (name, true),
        None => (parameter, false),
    };
    let encoding = Encoding::from_name(name).ok_or("there is no such encoding")?;
    if mark && encoding.mark().is_none() {
        return Err(format!("{name} has no byte order mark"));
    }
    let writer = Writer { encoding, mark, position: 0 };
    Ok(Box::new(Encode { utf8: Utf8::at(0, "not UTF-8"), writer }))
}

impl Writer {
    fn write(&mut self, text: &str, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if self.position == 0 && self.mark && !text.starts_with(MARK) {
            out.put(self.encoding.mark().unwrap_or_default())?;
        }
        match self.encoding {
            Encoding::Utf8 => out.put(text.as_bytes())?,
            Encoding::Utf16(Order::Little) => write_utf16(text, u16::to_le_bytes, out)?,
            Encoding::Utf16(Order::Big) => write_utf16(text, u16::to_be_bytes, out)?,
            Encoding::Latin1 | Encoding::Cp1252 => self.write_bytes(text, out)?,
        }
        self.position += text.len() as u64;
        Ok(())
    }

    fn write_bytes(&self, text: &str, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, after) = rest.split_at(ascii(rest.as_bytes()));
            out.put(plain.as_bytes())?;
            rest = after;
            let others = rest.find(|character: char| character.is_ascii()).unwrap_or(rest.len());
            let (others, after) = rest.split_at(others);
            for (at, character) in others.char_indices() {
                let byte = byte(self.encoding, character).ok_or_else(|| {
                    let at = text.len() - rest.len() + at;
                    let (code, name) = (u32::from(character), self.encoding.name());
                    let reason = format!("U+{code:04X}, which {name} does not have,");
                    InvalidData::at(self.position + at as u64, reason)
                })?;
                out.put(&[byte])?;
            }
            rest = after;
        }
        Ok(())
    }
}

fn write_utf16(
    text: &str,
    to_bytes: impl Fn(u16) -> [u8; 2],
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    // Units to write at once.
    const SPAN: usize = 32;
    let mut rest = text;
    while !rest.is_empty() {
        let (plain, after) = rest.split_at(ascii(rest.as_bytes()));
        for span in plain.as_bytes().chunks(SPAN) {
            let mut units = [[0; 2]; SPAN];
            for (unit, byte) in units.iter_mut().zip(span) {
                *unit = to_bytes(u16::from(*byte));
            }
            out.put(units[..span.len()].as_flattened())?;
        }
        rest = after;
        let others = rest.find(|character: char| character.is_ascii()).unwrap_or(rest.len());
        let (others, after) = rest.split_at(others);
        for unit in others.encode_utf16() {
            out.put(&to_bytes(unit))?;
        }
        rest = after;
    }
    Ok(())
}

impl Step for Encode {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let Self { utf8, writer } = self;
        utf8.feed(input, |text| writer.write(text, out))
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.utf8.finish()
    }

    fn reset(&mut self) {
        self.utf8.reset();
        self.writer.position = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts};

    #[test]
    fn encode_all_encodings() {
        for (line, input, expected) in [
            ("encode=utf-8", "a\u{e9}", &b"a\xc3\xa9"[..]),
            ("encode=utf-8,bom", "a", b"\xef\xbb\xbfa"),
            ("encode=utf-8,bom", "\u{feff}a", b"\xef\xbb\xbfa"),
            ("encode=utf-8,bom", "", b""),
            ("encode=utf-16le", "a\u{1f600}", b"a\0\x3d\xd8\0\xde"),
            ("encode=utf-16be", "a\u{20ac}", b"\0a\x20\xac"),
            ("encode=utf-16le,bom", "a", b"\xff\xfea\0"),
            ("encode=utf-16be,bom", "\u{feff}a", b"\xfe\xff\0a"),
            ("encode=latin1", "a\u{e9}\u{80}b", b"a\xe9\x80b"),
            ("encode=cp1252", "a\u{e9}\u{20ac}\u{178}", b"a\xe9\x80\x9f"),
        ] {
            assert_eq!(StepTester::parse(line).result(input.as_bytes(), &[1]), expected, "{line}");
        }
    }

    #[test]
    fn encode_missing_character_rejected_at_offset() {
        for (line, input, error) in [
            (
                "encode=latin1",
                &b"a\xc3\xa9b\xe2\x82\xac"[..],
                "U+20AC, which latin1 does not have, at byte 4",
            ),
            ("encode=cp1252", b"a\xc2\x80", "U+0080, which cp1252 does not have, at byte 1"),
            ("encode=cp1252", b"\xc2\x81", "U+0081, which cp1252 does not have, at byte 0"),
            ("encode=utf-16le", b"ab\xff", "not UTF-8 at byte 2"),
            ("encode=utf-8", b"ab\xc3", "not UTF-8 at byte 2"),
        ] {
            let refused = StepTester::parse(line).run(input, &[1]).unwrap_err();
            assert_eq!(refused.to_string(), format!("{line}: {error}"));
        }
    }

    #[test]
    fn encode_unknown_parameter_rejected() {
        for parameter in
            [None, Some(""), Some("auto"), Some("utf-16"), Some("latin1,bom"), Some("utf-8,mark")]
        {
            assert!(encode(parameter).is_err(), "{parameter:?}");
        }
    }

    proptest! {
        #[test]
        fn encode_round_trip(text in "(\\PC|[a-z]{0,40}|\u{e9}|\n){0,60}", sizes in cuts()) {
            for name in ["utf-8", "utf-16le", "utf-16be"] {
                let both = format!("encode={name} decode={name}");
                prop_assert_eq!(&StepTester::parse(&both).result(text.as_bytes(), &sizes), text.as_bytes());
                let marked = format!("encode={name},bom decode=auto");
                prop_assert_eq!(&StepTester::parse(&marked).result(text.as_bytes(), &sizes), text.as_bytes());
            }
            let expected: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(StepTester::parse("encode=utf-16be").result(text.as_bytes(), &sizes), expected);
        }

        #[test]
        fn encode_single_byte_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..300), sizes in cuts()) {
            let both = "decode=latin1 encode=latin1";
            prop_assert_eq!(&StepTester::parse(both).result(&bytes, &sizes), &bytes);
            let defined: Vec<u8> = bytes
                .into_iter()
                .filter(|byte| ![0x81, 0x8d, 0x8f, 0x90, 0x9d].contains(byte))
                .collect();
            let both = "decode=cp1252 encode=cp1252";
            prop_assert_eq!(&StepTester::parse(both).result(&defined, &sizes), &defined);
        }
    }
}
