//! Manifests: lines with a digest and a file name, as printed and checked by `b3sum`, `sha256sum`
//! and similar programs.
//!
//! ```text
//! af1349b9...  name            plain: does not say which digest it is
//! af1349b9... *name            the same; the asterisk once meant binary mode
//! af1349b9... name             the same, of BSD's programs (-r): one blank in all lines
//! BLAKE3 (name) = af1349b9...  tagged
//! SHA2-256(name)= af1349b9...  tagged by openssl
//! \af1349b9...  na\nme         a leading backslash: \\, \n and \r in the name are escapes
//! # anything                   a comment
//! ```
//!
//! Blanks before a line are ignored. In a list of `sha256sum -z`, lines end with a NUL byte, and names
//! are not escaped: a list with a NUL byte near its start is read as one.

use std::fmt;
use std::io::{self, BufRead, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::lines::{Lines, RawLine};
use crate::system;

transect_sys::words! {
    /// A digest algorithm, with the name of the step that computes it ([`STEPS`](crate::steps::STEPS)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Algorithm {
        /// BLAKE3, 256 bits.
        Blake3 = "blake3",
        /// SHA-256.
        Sha256 = "sha256",
        /// XXH3, 128 bits.
        Xxh3 = "xxh3",
        /// CRC-32C.
        Crc32c = "crc32c",
    }
}

impl Algorithm {
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
    /// What is wrong: the line is not a digest line.
    pub fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        Form::default().parse(without_end(line))
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

/// Reads the lines of a manifest one by one, in little memory however long it is. An invalid line
/// is an item; the lines after it follow.
#[derive(Debug)]
pub struct Reader<R> {
    /// The start of the manifest, which shows how its lines end, and the rest.
    lines: Lines<io::Chain<Cursor<Vec<u8>>, R>>,
    /// `None` before the start was read.
    form: Option<Form>,
}

impl<R: BufRead> Reader<R> {
    /// Returns a reader of the manifest in `from`.
    pub fn new(from: R) -> Self {
        Self { lines: Lines::new(Cursor::new(Vec::new()).chain(from)), form: None }
    }

    fn read_start(&mut self) -> io::Result<Form> {
        let (start, rest) = self.lines.from.get_mut();
        rest.by_ref().take(MAX_START as u64).read_to_end(start.get_mut())?;
        let is_nul_separated = start.get_ref().contains(&0);
        self.lines.end = if is_nul_separated { 0 } else { b'\n' };
        Ok(Form { is_nul_separated, has_one_blank: None })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Result<Line, ParseError>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut form = match self.form.take().map_or_else(|| self.read_start(), Ok) {
            Ok(form) => form,
            Err(error) => return Some(Err(error)),
        };
        let parsed = loop {
            match self.lines.next() {
                Err(error) => break Some(Err(error)),
                Ok(None) => break None,
                Ok(Some(line)) => match parse_raw(&line, |text| form.parse_in_list(text)) {
                    Ok(None) => {}
                    Ok(Some(line)) => break Some(Ok(Ok(line))),
                    Err(error) => break Some(Ok(Err(error))),
                },
            }
        };
        self.form = Some(form);
        parsed
    }
}

/// Parses a line of a manifest; returns `None` for an empty line or a comment.
pub(crate) fn parse_line(raw: &RawLine<'_>) -> Result<Option<Line>, ParseError> {
    parse_raw(raw, Line::parse)
}

fn parse_raw(
    raw: &RawLine<'_>,
    parse: impl FnOnce(&[u8]) -> Result<Option<Line>, String>,
) -> Result<Option<Line>, ParseError> {
    let failed = |reason| ParseError { number: raw.number, reason };
    let text = if raw.number == 1 { without_bom(raw.text) } else { raw.text };
    if raw.is_too_long && comment(text).is_none() {
        return Err(failed("it is too long for a digest and a path".to_owned()));
    }
    parse(text).map_err(failed)
}

/// The bytes of a list that are searched for NUL: more than the first line, if it ends with one.
const MAX_START: usize = 8 << 10;

/// What the lines of a list have in common.
#[derive(Debug, Default)]
struct Form {
    /// Lines end with NUL, and names are not escaped.
    is_nul_separated: bool,
    /// Whether one blank precedes the name in plain lines. The first one decides, so that a name that
    /// begins with a blank or an asterisk has one meaning.
    has_one_blank: Option<bool>,
}

impl Form {
    /// Parses a line of a list of another program, which must make clear which digest it contains.
    fn parse_in_list(&mut self, line: &[u8]) -> Result<Option<Line>, String> {
        let line = match self.is_nul_separated {
            true => line.strip_suffix(b"\0").unwrap_or(line),
            false => without_end(line),
        };
        match self.parse(line)? {
            Some(Line { algorithm: None, digest, .. }) if digest.len() < MIN_PLAIN_DIGITS => {
                let known =
                    Algorithm::ALL.iter().copied().find(|known| known.digits() == digest.len());
                let tag = known.map_or("KIND", Algorithm::tag);
                let digits = digest.len();
                Err(format!(
                    "a digest of {digits} digits may be of several kinds; name it: \
                     '{tag} (NAME) = DIGEST'; MD5 and CRC-32 cannot be checked"
                ))
            }
            line => Ok(line),
        }
    }

    /// Parses a line without its end. Returns `None` for an empty line or a comment.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Line>, String> {
        if comment(line).is_some() {
            return Ok(None);
        }
        let blanks = line.iter().take_while(|byte| b" \t".contains(byte)).count();
        let line = &line[blanks..];
        if line.is_empty() {
            return Ok(None);
        }
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(rest) if !self.is_nul_separated => (true, rest),
            _ => (false, line),
        };
        let ParsedLine { algorithm, digest, name } =
            self.parse_plain(line).map_or_else(|| parse_tagged(line), Ok)?;
        let name = if escaped { unescape(name)? } else { name.to_vec() };
        Ok(Some(Line { algorithm, digest: hexadecimal(algorithm, digest)?, name: path(name)? }))
    }

    fn parse_plain<'l>(&mut self, line: &'l [u8]) -> Option<ParsedLine<'l>> {
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (digest, rest) = line.split_at(digits);
        let (name, has_one_blank) = match (rest, self.has_one_blank) {
            ([b' ', b' ' | b'*', name @ ..], None | Some(false)) => (name, false),
            ([b' ', name @ ..], None | Some(true)) => (name, true),
            _ => return None,
        };
        if digest.is_empty() || name.is_empty() && has_one_blank {
            return None;
        }
        self.has_one_blank = Some(has_one_blank);
        Some(ParsedLine { algorithm: None, digest, name })
    }
}

/// The digits of the shortest digest that a line of a list need not name. Shorter ones are those of
/// MD5, CRC-32 and others, too, and would seem to differ.
const MIN_PLAIN_DIGITS: usize = 64;

/// Some editors on Windows write a byte order mark.
fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Returns the text of a comment, trimmed; `None` for other lines.
fn comment(line: &[u8]) -> Option<&[u8]> {
    without_end(line).strip_prefix(b"#").map(<[u8]>::trim_ascii)
}

/// Removes LF or CRLF.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

struct ParsedLine<'a> {
    algorithm: Option<Algorithm>,
    digest: &'a [u8],
    name: &'a [u8],
}

/// Parses a tagged line: `KIND (NAME) = DIGEST`, or `KIND(NAME)= DIGEST` of openssl.
fn parse_tagged(line: &[u8]) -> Result<ParsedLine<'_>, String> {
    let neither = || "neither 'DIGEST  NAME' nor 'KIND (NAME) = DIGEST'".to_owned();
    let tag_end = line.iter().position(|byte| b" (".contains(byte)).ok_or_else(neither)?;
    let (tag, rest) = line.split_at(tag_end);
    let (rest, end): (_, &[u8]) = match rest {
        [b' ', b'(', rest @ ..] => (rest, b") = "),
        [b'(', rest @ ..] => (rest, b")= "),
        _ => return Err(neither()),
    };
    // The name may contain brackets; a digest does not.
    let close = memchr::memmem::rfind(rest, end).ok_or_else(neither)?;
    // The name that openssl 3 uses.
    let known_tag = if tag == b"SHA2-256" { b"SHA256" } else { tag };
    let known = Algorithm::ALL.iter().copied().find(|known| known.tag().as_bytes() == known_tag);
    let algorithm = known.ok_or_else(|| {
        let tags: Vec<_> = Algorithm::ALL.iter().map(|known| known.tag()).collect();
        let tag = String::from_utf8_lossy(tag);
        format!("no digest is called '{}'; there are {}", tag.escape_debug(), tags.join(", "))
    })?;
    let (name, digest) = (&rest[..close], &rest[close + end.len()..]);
    Ok(ParsedLine { algorithm: Some(algorithm), digest, name })
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
        _ => Err("the digest has the wrong length or is not hexadecimal".to_owned()),
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
        Line::parse(line).unwrap_err()
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
            (format!("{ZEROS} a b"), Line::new(ZEROS, "a b")),
            (format!(" \t{ZEROS}  a"), Line::new(ZEROS, "a")),
            (format!(" \\{ZEROS} a\\nb"), Line::new(ZEROS, "a\nb")),
            (format!("SHA256(a)= {ZEROS}"), tagged(Algorithm::Sha256, ZEROS, "a")),
            (format!("SHA2-256(a)= b)= {ZEROS}"), tagged(Algorithm::Sha256, ZEROS, "a)= b")),
            (format!("SHA2-256 (a) = {ZEROS}"), tagged(Algorithm::Sha256, ZEROS, "a")),
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
        let digest = "the digest has the wrong length or is not hexadecimal";
        for (text, expected) in [
            ("text".to_owned(), neither),
            (ZEROS.to_owned(), neither),
            (format!("{ZEROS} "), neither),
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

    fn parse(list: &[u8]) -> Result<Vec<Line>, ParseError> {
        Reader::new(list).map(Result::unwrap).collect()
    }

    fn names(list: &str) -> Result<Vec<PathBuf>, ParseError> {
        parse(list.as_bytes()).map(|lines| lines.into_iter().map(|line| line.name).collect())
    }

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn manifest_one_blank_in_all_lines_or_none() {
        let list = format!("{ZEROS} a\n{ZEROS}  b\n{ZEROS} *c\n");
        assert_eq!(names(&list), Ok(paths(&["a", " b", "*c"])));
        let error = names(&format!("{ZEROS}  a\n{ZEROS} b\n")).unwrap_err();
        assert_eq!(error.number, 2);
    }

    #[test]
    fn manifest_nul_separated_names_not_escaped() {
        let list = format!("{ZEROS}  a\nb\r\n\0{ZEROS}  c\\n\0SHA256 (d\n) = {ZEROS}\0");
        assert_eq!(names(&list), Ok(paths(&["a\nb\r\n", "c\\n", "d\n"])));
        assert_eq!(names(&format!("\\{ZEROS}  a\0")).unwrap_err().number, 1);
        let far = format!("{ZEROS}  a\n").repeat(200) + "\0";
        assert_eq!(names(&far).unwrap_err().number, 201);
    }

    /// Regression: the lines of `md5sum` were read as XXH128, and all files differed.
    #[test]
    fn manifest_short_digest_without_name_refused() {
        for (digits, tag) in [(32, "XXH128"), (8, "CRC32C")] {
            let digest = &ZEROS[..digits];
            let error = names(&format!("{ZEROS}  a\n{digest}  b\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: a digest of {digits} digits")), "{error}");
            assert!(error.contains(&format!("'{tag} (NAME) = DIGEST'")), "{error}");
            assert_eq!(names(&format!("{tag} (b) = {digest}\n")), Ok(paths(&["b"])));
        }
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
        assert_eq!(comment(b"#  some words \r\n"), Some(&b"some words"[..]));
        assert_eq!(comment(format!("{ZEROS}  # a").as_bytes()), None);
    }

    #[test]
    fn algorithm_digits_equal_step_result() {
        for algorithm in Algorithm::ALL {
            let outcome = crate::test_support::StepTester::parse(algorithm.as_str())
                .run(b"text", &[1])
                .unwrap();
            assert_eq!(outcome.finding(algorithm.as_str()).len(), algorithm.digits());
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
            algorithm in prop::option::of(prop::sample::select(Algorithm::ALL)),
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
            for line in Reader::new(text.as_slice()).flat_map(Result::unwrap) {
                prop_assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line)));
            }
        }
    }
}
