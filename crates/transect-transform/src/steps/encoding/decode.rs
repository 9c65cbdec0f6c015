//! Converts other encodings to UTF-8.

use super::Encoding;
use super::single_byte::SingleByte;
use super::utf8::Utf8;
use super::utf16::Utf16;
use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::pending::carry_over;

/// Length of the longest byte order mark, that of UTF-32.
const MARK: usize = 4;

/// What the parameter says about the encoding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Given by the byte order mark; without one, UTF-8.
    Auto,
    /// UTF-16, in the byte order of its mark.
    Utf16,
    Known(Encoding),
}

/// Converts an encoding to UTF-8. Rejects bytes that are invalid in that encoding, also in UTF-8.
struct Decode {
    source: Source,
    state: State,
}

enum State {
    /// The first bytes, until a byte order mark is complete.
    Beginning(Vec<u8>),
    Decoding(Encoding, Decoder),
}

enum Decoder {
    Utf8(Utf8),
    Utf16(Utf16),
    SingleByte(SingleByte),
}

pub(in crate::steps) fn decode(parameter: Option<&str>) -> StepResult {
    let source = match parameter.unwrap_or_default() {
        "auto" => Source::Auto,
        "utf-16" => Source::Utf16,
        name => Source::Known(Encoding::from_name(name).ok_or("there is no such encoding")?),
    };
    Ok(Box::new(Decode { source, state: State::begin(source) }))
}

impl State {
    fn begin(source: Source) -> Self {
        match source {
            Source::Known(encoding) => Self::decoding(encoding, 0, "not UTF-8"),
            Source::Auto | Source::Utf16 => Self::Beginning(Vec::with_capacity(MARK)),
        }
    }

    /// Returns the state after a byte order mark of `mark` bytes. `no_utf8` is the error for
    /// invalid UTF-8.
    fn decoding(encoding: Encoding, mark: u64, no_utf8: &'static str) -> Self {
        let decoder = match encoding {
            Encoding::Utf8 => Decoder::Utf8(Utf8::at(mark, no_utf8)),
            Encoding::Utf16(order) => Decoder::Utf16(Utf16::at(mark, order)),
            Encoding::Latin1 | Encoding::Cp1252 => Decoder::SingleByte(SingleByte::new(encoding)),
        };
        Self::Decoding(encoding, decoder)
    }
}

impl Decoder {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match self {
            Self::Utf8(utf8) => utf8.feed(input, |text| out.put(text.as_bytes())),
            Self::Utf16(utf16) => utf16.feed(input, out),
            Self::SingleByte(single_byte) => single_byte.feed(input, out),
        }
    }

    fn finish(&self) -> Result<(), StepError> {
        match self {
            Self::Utf8(utf8) => utf8.finish(),
            Self::Utf16(utf16) => utf16.finish(),
            Self::SingleByte(_) => Ok(()),
        }
    }
}

impl Decode {
    /// Determines the encoding from the beginning of the text, and decodes that.
    fn begin(&mut self, beginning: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if matches!(beginning, [0xff, 0xfe, 0, 0] | [0, 0, 0xfe, 0xff]) {
            return Err(InvalidData::at(0, "UTF-32, which is not read").into());
        }
        let (encoding, mark, no_utf8) = match (self.source, Encoding::from_mark(beginning)) {
            (Source::Utf16, None | Some(Encoding::Utf8)) => {
                let reason = "no byte order mark: utf-16le or utf-16be would have to be said";
                return Err(InvalidData::at(0, reason).into());
            }
            (_, Some(encoding)) => (encoding, encoding.mark().map_or(0, <[u8]>::len), "not UTF-8"),
            (_, None) => (Encoding::Utf8, 0, "no byte order mark, and not UTF-8"),
        };
        self.state = State::decoding(encoding, mark as u64, no_utf8);
        self.decode(&beginning[mark..], out)
    }

    fn decode(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match &mut self.state {
            State::Beginning(_) => unreachable!("BUG: decided before"),
            State::Decoding(_, decoder) => decoder.feed(input, out),
        }
    }
}

impl Step for Decode {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        if let State::Beginning(beginning) = &mut self.state {
            rest = carry_over(beginning, MARK, rest);
            if beginning.len() < MARK {
                return Ok(());
            }
            let beginning = std::mem::take(beginning);
            self.begin(&beginning, out)?;
        }
        self.decode(rest, out)
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if let State::Beginning(beginning) = &mut self.state {
            let beginning = std::mem::take(beginning);
            if beginning.is_empty() {
                // An empty text is valid in every encoding.
                return Ok(());
            }
            self.begin(&beginning, out)?;
        }
        match &self.state {
            State::Beginning(_) => unreachable!("BUG: decided before"),
            State::Decoding(_, decoder) => decoder.finish(),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        match (self.source, &self.state) {
            (Source::Auto | Source::Utf16, State::Decoding(encoding, _)) => {
                vec![Finding::new("encoding", encoding.name())]
            }
            _ => Vec::new(),
        }
    }

    fn reset(&mut self) {
        self.state = State::begin(self.source);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts, made_of};

    fn position(line: &str, input: &[u8]) -> Option<u64> {
        StepTester::parse(line).run(input, &[1]).unwrap_err().position
    }

    #[test]
    fn decode_all_encodings() {
        for (line, input, expected) in [
            ("decode=utf-8", &b"\xef\xbb\xbfa\xc3\xa9"[..], "\u{feff}a\u{e9}"),
            ("decode=auto", b"\xef\xbb\xbfa\xc3\xa9", "a\u{e9}"),
            ("decode=auto", b"a\xc3\xa9", "a\u{e9}"),
            ("decode=auto", b"", ""),
            ("decode=auto", b"\xff\xfe", ""),
            ("decode=auto", b"\xff\xfea\0\xac\x20", "a\u{20ac}"),
            ("decode=auto", b"\xfe\xff\0a\x20\xac", "a\u{20ac}"),
            ("decode=utf-16", b"\xfe\xff\0a\xd8\x3d\xde\0", "a\u{1f600}"),
            ("decode=utf-16le", b"\xff\xfea\0\x3d\xd8\0\xde", "\u{feff}a\u{1f600}"),
            ("decode=utf-16be", b"\0a", "a"),
            ("decode=latin1", b"a\xe9\x80", "a\u{e9}\u{80}"),
            ("decode=cp1252", b"a\xe9\x80\x9f\xff", "a\u{e9}\u{20ac}\u{178}\u{ff}"),
        ] {
            let result = StepTester::parse(line).result(input, &[1]);
            assert_eq!(String::from_utf8(result).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn decode_invalid_bytes_rejected_at_offset() {
        for (line, input, expected) in [
            ("decode=utf-8", &b"abc\xff"[..], 3),
            ("decode=utf-8", b"abc\xe2\x82x", 3),
            ("decode=utf-8", b"abc\xe2\x82", 3),
            ("decode=utf-8", b"\xed\xa0\x80", 0),
            ("decode=auto", b"abc\xe9t\xe9", 3),
            ("decode=auto", b"\xef\xbb\xbfabc\xff", 6),
            ("decode=auto", b"\xff\xfe\0\0a\0\0\0", 0),
            ("decode=utf-16", b"a\0b\0", 0),
            ("decode=utf-16le", b"a\0b", 2),
            ("decode=utf-16le", b"a\0\0\xd8b\0", 2),
            ("decode=utf-16le", b"a\0\0\xd8", 2),
            ("decode=utf-16le", b"a\0\0\xdcb\0", 2),
            ("decode=cp1252", b"abc\x81", 3),
        ] {
            assert_eq!(position(line, input), Some(expected), "{line} {input:?}");
        }
        for byte in [0x81, 0x8d, 0x8f, 0x90, 0x9d] {
            assert_eq!(position("decode=cp1252", &[byte]), Some(0), "five are undefined");
        }
    }

    #[test]
    fn decode_unknown_parameter_rejected() {
        for parameter in [None, Some(""), Some("UTF-8"), Some("utf-32"), Some("ansi")] {
            assert!(decode(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn decode_finding_names_encoding() {
        let outcome = StepTester::parse("decode=auto").run(b"\xfe\xff\0a", &[1]).unwrap();
        assert_eq!(outcome.finding("encoding"), "utf-16be");
        assert_eq!(StepTester::parse("decode=latin1").run(b"a", &[1]).unwrap().findings, []);
    }

    proptest! {
        #[test]
        fn decode_utf_8_equals_standard_library(
            input in made_of(&[b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80"]),
            end in prop_oneof![Just(vec![]), prop::collection::vec(any::<u8>(), 0..6)],
            sizes in cuts(),
        ) {
            let input = [input, end].concat();
            let decoded = StepTester::parse("decode=utf-8").run(&input, &sizes);
            match std::str::from_utf8(&input) {
                Ok(text) => prop_assert_eq!(decoded.unwrap().result, text.as_bytes()),
                Err(error) => {
                    let position = decoded.unwrap_err().position;
                    prop_assert_eq!(position, Some(error.valid_up_to() as u64));
                }
            }
        }

        #[test]
        fn decode_utf_16_equals_standard_library(input in any_bytes(), sizes in cuts()) {
            let units = input.as_chunks().0.iter().map(|unit| u16::from_be_bytes(*unit));
            let mut expected = Ok(String::new());
            let mut at = 0;
            for character in char::decode_utf16(units) {
                match (character, &mut expected) {
                    (Ok(character), Ok(text)) => {
                        text.push(character);
                        at += 2 * character.len_utf16() as u64;
                    }
                    (Err(_), Ok(_)) => expected = Err(at),
                    (_, Err(_)) => {}
                }
            }
            if input.len() % 2 == 1 && expected.is_ok() {
                expected = Err(at);
            }
            let decoded = StepTester::parse("decode=utf-16be").run(&input, &sizes);
            match expected {
                Ok(text) => prop_assert_eq!(decoded.unwrap().result, text.as_bytes()),
                Err(at) => prop_assert_eq!(decoded.unwrap_err().position, Some(at)),
            }
        }

        #[test]
        fn decode_latin1_equals_first_characters(input in any_bytes(), sizes in cuts()) {
            let expected: String = input.iter().map(|byte| char::from(*byte)).collect();
            let result = StepTester::parse("decode=latin1").result(&input, &sizes);
            prop_assert_eq!(result, expected.as_bytes());
        }
    }
}
