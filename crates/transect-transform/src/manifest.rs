//! Manifests: lines with a digest and a file name, as printed and checked by `b3sum`, `sha256sum`
//! and similar programs.
//!
//! ```text
//! af1349b9...  name            plain: does not say which digest it is
//! af1349b9... *name            the same; the asterisk once meant binary mode
//! BLAKE3 (name) = af1349b9...  tagged
//! \af1349b9...  na\nme         a leading backslash: \\, \n and \r in the name are escapes
//! # anything                   a comment
//! ```

use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use crate::lines::{Lines, RawLine};
use crate::system;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// BLAKE3, 256 bits.
    Blake3,
    /// SHA-256.
    Sha256,
    /// XXH3, 128 bits.
    Xxh3,
    /// CRC-32C.
    Crc32c,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 4] = [Self::Blake3, Self::Sha256, Self::Xxh3, Self::Crc32c];

    /// Returns the name of the step that computes the digest ([`STEPS`](crate::steps::STEPS)).
    pub fn step(self) -> &'static str {
        match self {
            Self::Blake3 => "blake3",
            Self::Sha256 => "sha256",
            Self::Xxh3 => "xxh3",
            Self::Crc32c => "crc32c",
        }
    }

    /// Returns the name in tagged lines.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Blake3 => "BLAKE3",
            Self::Sha256 => "SHA256",
            // As in xxhsum, which uses XXH3 for 64 bits.
            Self::Xxh3 => "XXH128",
            Self::Crc32c => "CRC32C",
        }
    }

    /// Returns the number of hexadecimal digits.
    pub fn digits(self) -> usize {
        match self {
            Self::Blake3 | Self::Sha256 => 64,
            Self::Xxh3 => 32,
            Self::Crc32c => 8,
        }
    }
}

/// A file and its digest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The algorithm; `None` in a plain line.
    pub algorithm: Option<Algorithm>,
    /// The digest, in lower-case hexadecimal.
    pub digest: String,
    /// The file name as written. The caller chooses the directory of relative names.
    pub name: PathBuf,
}

impl Line {
    /// Returns a plain line.
    pub fn new(digest: impl Into<String>, name: impl Into<PathBuf>) -> Self {
        Self { algorithm: None, digest: digest.into(), name: name.into() }
    }

    /// Parses a line, with or without its line ending. Returns `None` for an empty line or a
    /// comment.
    ///
    /// # Errors
    /// The line is not a digest line. The line number in the error is 1.
    pub fn parse(line: &[u8]) -> Result<Option<Self>, ParseError> {
        Self::of(line).map_err(|reason| ParseError { number: 1, reason })
    }

    fn of(line: &[u8]) -> Result<Option<Self>, String> {
        let line = without_end(line);
        if line.is_empty() || comment(line).is_some() {
            return Ok(None);
        }
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let ParsedLine { algorithm, digest, name } =
            parse_plain(line).map_or_else(|| parse_tagged(line), Ok)?;
        let name = if escaped { unescape(name)? } else { name.to_vec() };
        Ok(Some(Self { algorithm, digest: hexadecimal(algorithm, digest)?, name: path(name)? }))
    }

    /// Returns the line as written to a file, with its newline.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.format();
        bytes.push(b'\n');
        bytes
    }

    fn format(&self) -> Vec<u8> {
        let name = self.name.as_os_str().as_encoded_bytes();
        let escaped = escape(name);
        let mut line = Vec::with_capacity(self.digest.len() + escaped.len() + 16);
        if escaped != name {
            line.push(b'\\');
        }
        match self.algorithm {
            None => {
                line.extend_from_slice(self.digest.as_bytes());
                line.extend_from_slice(b"  ");
                line.extend_from_slice(&escaped);
            }
            Some(algorithm) => {
                line.extend_from_slice(algorithm.tag().as_bytes());
                line.extend_from_slice(b" (");
                line.extend_from_slice(&escaped);
                line.extend_from_slice(b") = ");
                line.extend_from_slice(self.digest.as_bytes());
            }
        }
        line
    }
}

/// Replaces bytes of the name that are not UTF-8. For files, use [`Line::to_bytes`].
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.format()))
    }
}

/// Why a line is not a digest line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line number, from 1.
    pub number: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.reason)
    }
}

impl std::error::Error for ParseError {}

/// Parses all lines of a manifest.
///
/// # Errors
/// A line is not a digest line, empty, or a comment.
pub fn parse(manifest: &[u8]) -> Result<Vec<Line>, ParseError> {
    lines(manifest).collect()
}

/// Parses the lines of a manifest one by one, for callers that continue after an invalid line.
pub fn lines(manifest: &[u8]) -> impl Iterator<Item = Result<Line, ParseError>> + '_ {
    without_bom(manifest).split(|&byte| byte == b'\n').enumerate().filter_map(|(at, line)| {
        Line::of(line).map_err(|reason| ParseError { number: at + 1, reason }).transpose()
    })
}

/// Reads the lines of a manifest one by one, in little memory however long it is. An invalid line
/// is an item; the lines after it follow.
#[derive(Debug)]
pub struct Reader<R>(Lines<R>);

impl<R: BufRead> Reader<R> {
    /// Returns a reader of the manifest in `from`.
    pub fn new(from: R) -> Self {
        Self(Lines::new(from))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Result<Line, ParseError>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.0.next() {
                Err(error) => return Some(Err(error)),
                Ok(None) => return None,
                Ok(Some(line)) => match parse_line(&line).transpose() {
                    None => {}
                    Some(line) => return Some(Ok(line)),
                },
            }
        }
    }
}

/// Parses a line of a manifest; returns `None` for an empty line or a comment.
pub(crate) fn parse_line(raw: &RawLine<'_>) -> Result<Option<Line>, ParseError> {
    let failed = |reason| ParseError { number: raw.number, reason };
    let text = if raw.number == 1 { without_bom(raw.text) } else { raw.text };
    if raw.is_too_long && comment(text).is_none() {
        return Err(failed("it is too long for a digest and a path".to_owned()));
    }
    Line::of(text).map_err(failed)
}

/// Some editors on Windows write a byte order mark.
fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Returns the text of a comment, trimmed; `None` for other lines.
pub fn comment(line: &[u8]) -> Option<&[u8]> {
    without_end(line).strip_prefix(b"#").map(<[u8]>::trim_ascii)
}

/// Removes LF or CRLF.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The fields of a line.
struct ParsedLine<'a> {
    algorithm: Option<Algorithm>,
    digest: &'a [u8],
    name: &'a [u8],
}

/// Parses a plain line.
fn parse_plain(line: &[u8]) -> Option<ParsedLine<'_>> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    match &line[digits..] {
        [b' ', b' ' | b'*', name @ ..] if digits > 0 => {
            Some(ParsedLine { algorithm: None, digest: &line[..digits], name })
        }
        _ => None,
    }
}

/// Parses a tagged line.
fn parse_tagged(line: &[u8]) -> Result<ParsedLine<'_>, String> {
    let neither = || "neither 'DIGEST  NAME' nor 'KIND (NAME) = DIGEST'".to_owned();
    let open = memchr::memmem::find(line, b" (").ok_or_else(neither)?;
    // The name may contain brackets; a digest does not.
    let close = memchr::memmem::rfind(line, b") = ").ok_or_else(neither)?;
    let name = line.get(open + 2..close).ok_or_else(neither)?;
    let tag = &line[..open];
    let known = Algorithm::ALL.into_iter().find(|known| known.tag().as_bytes() == tag);
    let algorithm = known.ok_or_else(|| {
        let tags: Vec<_> = Algorithm::ALL.iter().map(|known| known.tag()).collect();
        let tag = String::from_utf8_lossy(tag);
        format!("no digest is called '{}'; there are {}", tag.escape_debug(), tags.join(", "))
    })?;
    Ok(ParsedLine { algorithm: Some(algorithm), digest: &line[close + 4..], name })
}

fn hexadecimal(algorithm: Option<Algorithm>, digest: &[u8]) -> Result<String, String> {
    let fits = match algorithm {
        Some(algorithm) => digest.len() == algorithm.digits(),
        None => Algorithm::ALL.iter().any(|known| known.digits() == digest.len()),
    };
    match std::str::from_utf8(digest) {
        Ok(digits) if fits && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            Ok(digits.to_ascii_lowercase())
        }
        _ => Err("the digest has not the length of one, or is not hexadecimal".to_owned()),
    }
}

fn path(name: Vec<u8>) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Err("there is no name".to_owned());
    }
    if name.contains(&0) {
        return Err("the name has a NUL".to_owned());
    }
    let name = system::name_from_bytes(name)
        .ok_or("the name is not UTF-8, as names must be on this system")?;
    Ok(Path::new(&name).to_owned())
}

fn escape(name: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'\\' => escaped.extend_from_slice(br"\\"),
            b'\n' => escaped.extend_from_slice(br"\n"),
            b'\r' => escaped.extend_from_slice(br"\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn unescape(name: &[u8]) -> Result<Vec<u8>, String> {
    let mut unescaped = Vec::with_capacity(name.len());
    let mut rest = name.iter();
    while let Some(&byte) = rest.next() {
        unescaped.push(match byte {
            b'\\' => match rest.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err(r"after '\' in the name only \, n or r".to_owned()),
            },
            other => other,
        });
    }
    Ok(unescaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

    fn reason(line: &[u8]) -> String {
        Line::parse(line).unwrap_err().reason
    }

    #[test]
    fn manifest_all_line_forms_parsed() {
        let tagged = |algorithm, digest: &str, name| Line {
            algorithm: Some(algorithm),
            ..Line::new(digest, name)
        };
        for (text, expected) in [
            (format!("{ZEROS}  a b"), Line::new(ZEROS, "a b")),
            (format!("{ZEROS} *a"), Line::new(ZEROS, "a")),
            (format!("{ZEROS}  *a"), Line::new(ZEROS, "*a")),
            (format!("{ZEROS}   a"), Line::new(ZEROS, " a")),
            (format!("{ZEROS}  a\r\n"), Line::new(ZEROS, "a")),
            (format!("\\{ZEROS}  a\\nb\\\\c\\r"), Line::new(ZEROS, "a\nb\\c\r")),
            (format!("{ZEROS}  a\\nb"), Line::new(ZEROS, "a\\nb")),
            ("E3069283  a".to_owned(), Line::new("e3069283", "a")),
            (format!("BLAKE3 (a) = {ZEROS}"), tagged(Algorithm::Blake3, ZEROS, "a")),
            (
                format!("SHA256 (a (1) = b) = {ZEROS}"),
                tagged(Algorithm::Sha256, ZEROS, "a (1) = b"),
            ),
            (format!("\\SHA256 (a\\nb) = {ZEROS}"), tagged(Algorithm::Sha256, ZEROS, "a\nb")),
            ("CRC32C (a) = e3069283".to_owned(), tagged(Algorithm::Crc32c, "e3069283", "a")),
            (format!("XXH128 (a) = {}", &ZEROS[..32]), tagged(Algorithm::Xxh3, &ZEROS[..32], "a")),
        ] {
            assert_eq!(Line::parse(text.as_bytes()), Ok(Some(expected)), "{text}");
        }
    }

    #[test]
    fn manifest_invalid_line_rejected_with_reason() {
        let neither = "neither 'DIGEST  NAME' nor 'KIND (NAME) = DIGEST'";
        let digest = "the digest has not the length of one, or is not hexadecimal";
        for (text, expected) in [
            ("text".to_owned(), neither),
            (ZEROS.to_owned(), neither),
            (format!("{ZEROS} a"), neither),
            (format!("{ZEROS}\ta"), neither),
            (format!("x{ZEROS}  a"), neither),
            ("BLAKE3) = (a".to_owned(), neither),
            ("BLAKE3 () = ".to_owned(), digest),
            (format!("{ZEROS}  "), "there is no name"),
            (format!("BLAKE3 () = {ZEROS}"), "there is no name"),
            (format!("{ZEROS}00  a"), digest),
            (format!("{}  a", &ZEROS[..63]), digest),
            (format!("BLAKE3 (a) = {ZEROS} "), digest),
            (format!("CRC32C (a) = {ZEROS}"), digest),
            (format!("{ZEROS}  a\0b"), "the name has a NUL"),
            (format!("\\{ZEROS}  a\\tb"), r"after '\' in the name only \, n or r"),
            (format!("\\{ZEROS}  a\\"), r"after '\' in the name only \, n or r"),
        ] {
            assert_eq!(reason(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(
            reason(b"MD5 (a) = 00"),
            "no digest is called 'MD5'; there are BLAKE3, SHA256, XXH128, CRC32C"
        );
    }

    #[test]
    fn manifest_comments_and_empty_lines_counted() {
        let text = format!("\u{feff}# one\r\n\n{ZEROS}  a\r\n#two\n{ZEROS}  b");
        let names: Vec<_> =
            parse(text.as_bytes()).unwrap().into_iter().map(|line| line.name).collect();
        assert_eq!(names, [Path::new("a"), Path::new("b")]);
        let error = parse(format!("{text}\nnothing\n").as_bytes()).unwrap_err();
        assert_eq!(error.number, 6);
        assert!(error.to_string().starts_with("line 6: neither "), "{error}");
        assert_eq!(parse(b""), Ok(Vec::new()));
        let read = |text: &str| {
            Reader::new(text.as_bytes()).map(Result::unwrap).collect::<Result<Vec<_>, _>>()
        };
        assert_eq!(read(&text), parse(text.as_bytes()));
        assert_eq!(read(&format!("{text}\nnothing\n")).unwrap_err().number, 6);
        assert_eq!(comment(b"#  some words \r\n"), Some(&b"some words"[..]));
        assert_eq!(comment(format!("{ZEROS}  # a").as_bytes()), None);
    }

    #[test]
    fn algorithm_digits_equal_step_result() {
        for algorithm in Algorithm::ALL {
            let outcome = crate::test_support::StepTester::parse(algorithm.step())
                .run(b"text", &[1])
                .unwrap();
            assert_eq!(outcome.finding(algorithm.step()).len(), algorithm.digits());
        }
    }

    #[cfg(unix)]
    #[test]
    fn manifest_name_not_utf8_kept() {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"\xff\n");
        let line = Line::new(ZEROS, name);
        assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line.clone())));
        assert_eq!(line.to_string(), format!("\\{ZEROS}  \u{fffd}\\n"));
    }

    proptest! {
        #[test]
        fn manifest_line_round_trip(
            name in "[^\0]{1,20}|[\\\\\r\n() =*a]{1,9}",
            algorithm in prop::option::of(prop::sample::select(&Algorithm::ALL[..])),
        ) {
            let digits = algorithm.map_or(64, Algorithm::digits);
            let line = Line { algorithm, ..Line::new(&ZEROS[..digits], name) };
            prop_assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line.clone())));
            prop_assert_eq!(Line::parse(line.to_string().as_bytes()), Ok(Some(line.clone())));
            let twice = [line.to_bytes(), line.to_bytes()].concat();
            prop_assert_eq!(parse(&twice), Ok(vec![line.clone(), line]));
        }

        #[test]
        fn manifest_any_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            for line in lines(&text).flatten() {
                prop_assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line)));
            }
        }
    }
}
