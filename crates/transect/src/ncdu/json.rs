//! Reads JSON byte by byte, without recursion: nesting may be arbitrarily deep. Strings are bytes,
//! as names need not be UTF-8.

use std::io::BufRead;

use super::Error;

/// The maximum length of a string; names and paths are much shorter on every system.
const MAX_STRING_BYTES: usize = 1 << 20;

/// Reads values from a stream of bytes.
pub(super) struct JsonReader<R> {
    input: R,
    offset: u64,
}

impl<R: BufRead> JsonReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, offset: 0 }
    }

    /// Returns an error at the offset of the next byte.
    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::Format { offset: self.offset, what: what.into() })
    }

    /// Skips whitespace and returns the next byte without consuming it; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Error> {
        loop {
            match self.next_byte()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.advance(),
                next => return Ok(next),
            }
        }
    }

    /// Consumes a punctuation mark, or fails.
    pub(super) fn expect(&mut self, mark: u8) -> Result<(), Error> {
        match self.peek()? {
            Some(next) if next == mark => {
                self.advance();
                Ok(())
            }
            Some(_) => self.error(format!("'{}' is expected here", char::from(mark))),
            None => self.unexpected_end(),
        }
    }

    /// Consumes a punctuation mark if it comes next, and returns whether it did.
    pub(super) fn accept(&mut self, mark: u8) -> Result<bool, Error> {
        let there = self.peek()? == Some(mark);
        if there {
            self.advance();
        }
        Ok(there)
    }

    /// Reads a string and resolves its escapes.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, Error> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            match self.string_byte()? {
                b'"' => return Ok(text),
                b'\\' => self.escape(&mut text)?,
                byte => text.push(byte),
            }
            if text.len() > MAX_STRING_BYTES {
                return self.error("a text that is longer than any name");
            }
        }
    }

    /// Reads a non-negative integer; a fraction is dropped.
    pub(super) fn number(&mut self) -> Result<u64, Error> {
        let (start, digits) = self.digits()?;
        let whole = digits.split_once('.').map_or(digits.as_str(), |(whole, _)| whole);
        let what = "a whole number is expected here, not negative and below 2^64";
        parse_unsigned(whole).ok_or_else(|| Error::Format { offset: start, what: what.to_owned() })
    }

    /// Reads a time in seconds since 1970 UTC; returns nanoseconds, clamped to the range of `i64`.
    pub(super) fn time(&mut self) -> Result<i64, Error> {
        let (start, digits) = self.digits()?;
        let (negative, seconds) = match digits.strip_prefix('-') {
            Some(seconds) => (true, seconds),
            None => (false, digits.as_str()),
        };
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        let billionths: String = fraction.chars().chain("00000000".chars()).take(9).collect();
        let what = "a time in seconds is expected here";
        let (Some(whole), Some(fraction)) = (parse_unsigned(whole), parse_unsigned(&billionths))
        else {
            return Err(Error::Format { offset: start, what: what.to_owned() });
        };
        // ncdu writes times before 1970 as unsigned 64-bit numbers.
        let whole = if negative { i128::from(whole) } else { i128::from(whole as i64) };
        let time = whole * 1_000_000_000 + i128::from(fraction);
        let time = if negative { -time } else { time };
        Ok(time.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    /// Reads all characters that a number may contain, and returns them with the offset of the
    /// first.
    fn digits(&mut self) -> Result<(u64, String), Error> {
        self.peek()?;
        let start = self.offset;
        let mut digits = String::new();
        while let Some(byte @ (b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) =
            self.next_byte()?
        {
            digits.push(char::from(byte));
            self.advance();
            if digits.len() > 40 {
                break;
            }
        }
        Ok((start, digits))
    }

    pub(super) fn boolean(&mut self) -> Result<bool, Error> {
        match self.peek()? {
            Some(b't') => self.literal(b"true").map(|()| true),
            Some(b'f') => self.literal(b"false").map(|()| false),
            _ => self.error("true or false is expected here"),
        }
    }

    /// Skips a value of any kind. Checks only as much as is needed to find its end.
    pub(super) fn skip_value(&mut self) -> Result<(), Error> {
        let mut depth = 0_u64;
        loop {
            match self.peek()? {
                None => return self.unexpected_end(),
                Some(b'"') => drop(self.string()?),
                Some(b'[' | b'{') => {
                    depth += 1;
                    self.advance();
                }
                Some(b']' | b'}') if depth > 0 => {
                    depth -= 1;
                    self.advance();
                }
                Some(b',' | b':') if depth > 0 => self.advance(),
                Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                    while matches!(
                        self.next_byte()?,
                        Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
                    ) {
                        self.advance();
                    }
                }
                Some(_) => return self.error("a value is expected here"),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    fn unexpected_end<T>(&self) -> Result<T, Error> {
        self.error("it ends here, too early")
    }

    fn next_byte(&mut self) -> Result<Option<u8>, Error> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn advance(&mut self) {
        self.input.consume(1);
        self.offset += 1;
    }

    fn string_byte(&mut self) -> Result<u8, Error> {
        match self.next_byte()? {
            None => self.unexpected_end(),
            Some(..=0x1f) => self.error("a control character within a text"),
            Some(byte) => {
                self.advance();
                Ok(byte)
            }
        }
    }

    fn literal(&mut self, literal: &[u8]) -> Result<(), Error> {
        for &letter in literal {
            if self.next_byte()? != Some(letter) {
                return self.error("true or false is expected here");
            }
            self.advance();
        }
        Ok(())
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        let byte = match self.string_byte()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'u' => {
                let character = self.character()?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.error("an escape that JSON does not have"),
        };
        text.push(byte);
        Ok(())
    }

    /// Reads the digits after `\u`: a character, or a surrogate pair.
    fn character(&mut self) -> Result<char, Error> {
        let first = self.hex_digits()?;
        let second = match first {
            0xd800..=0xdbff if self.string_byte()? == b'\\' && self.string_byte()? == b'u' => {
                Some(self.hex_digits()?)
            }
            _ => None,
        };
        match char::decode_utf16([first].into_iter().chain(second)).next() {
            Some(Ok(character)) => Ok(character),
            _ => self.error("half a character"),
        }
    }

    fn hex_digits(&mut self) -> Result<u16, Error> {
        let mut number = 0;
        for _ in 0..4 {
            match char::from(self.string_byte()?).to_digit(16) {
                Some(digit) => number = number << 4 | digit as u16,
                None => return self.error("expected four hexadecimal digits"),
            }
        }
        Ok(number)
    }
}

/// Parses an unsigned number without a sign.
fn parse_unsigned(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &[u8]) -> JsonReader<&[u8]> {
        JsonReader::new(text)
    }

    #[test]
    fn json_strings_are_bytes_with_escapes() {
        for (json, text) in [
            (&br#""plain""#[..], &b"plain"[..]),
            (br#" "\"\\\/\n\t\r\b\f""#, b"\"\\/\n\t\r\x08\x0c"),
            (br#""\u00e9\ud83d\ude00\u0000""#, "é😀\0".as_bytes()),
            (b"\"\xff\xfe\"", b"\xff\xfe"),
        ] {
            assert_eq!(reader(json).string().unwrap(), text);
        }
        for json in
            [&b"\"open"[..], b"plain", br#""\x""#, br#""\u12g4""#, br#""\ud83d""#, b"\"a\nb\"", b""]
        {
            assert!(reader(json).string().is_err(), "{}", String::from_utf8_lossy(json));
        }
        let error = reader(br#""\u12g4""#).string().unwrap_err().to_string();
        assert!(error.contains("expected four hexadecimal digits"), "{error}");
    }

    #[test]
    fn json_numbers_negative_rejected_fraction_dropped() {
        let number = |text: &str| reader(text.as_bytes()).number();
        assert_eq!(number("0").unwrap(), 0);
        assert_eq!(number(" 18446744073709551615,").unwrap(), u64::MAX);
        assert_eq!(number("12.75").unwrap(), 12);
        for text in ["-1", "18446744073709551616", "x", "", "+1", "\"1\""] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn json_times_before_1970_and_fractions_read() {
        let time = |text: &str| reader(text.as_bytes()).time();
        for (text, nanoseconds) in [
            ("0", 0),
            (" 5,", 5_000_000_000),
            ("5.25", 5_250_000_000),
            ("5.1234567899", 5_123_456_789),
            ("-5", -5_000_000_000),
            ("-5.25", -5_250_000_000),
            ("18446744073709551611", -5_000_000_000),
            ("18446744073709551611.75", -4_250_000_000),
            ("9223372036", 9_223_372_036_000_000_000),
            ("9223372037", i64::MAX),
            ("9223372036854775808", i64::MIN),
            ("-18446744073709551615", i64::MIN),
        ] {
            assert_eq!(time(text).unwrap(), nanoseconds, "{text}");
        }
        for text in ["", "x", "--5", "+5", "5e3", "18446744073709551616", "1.+5"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn json_skip_value_any_kind_and_depth() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for value in ["1", "-1.5e9", "\"]}\"", "null", r#"{"a":[1,{"b":"c"}],"d":true}"#, &deep] {
            let text = format!("{value} ,");
            let mut json = reader(text.as_bytes());
            json.skip_value().unwrap();
            assert_eq!(json.peek().unwrap(), Some(b','), "{}", &value[..value.len().min(40)]);
        }
        for text in ["", "[", "]", "{\"a\"", ",", "?"] {
            assert!(reader(text.as_bytes()).skip_value().is_err(), "{text}");
        }
    }
}
