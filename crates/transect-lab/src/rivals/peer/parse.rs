//! Parsers for the output of peers: byte by byte, in bounded memory.
//!
//! A listing of two million entries is a hundred megabytes, and names may be any bytes. Every parser
//! reads to the end, even after an error: a closed pipe would kill the peer, and the lab would report a
//! wrong cause.

use std::io::{ErrorKind, Read};

use serde::Deserialize;

use super::reported::ReportedCounts;

/// Format of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// The first number: bytes.
    Sum,
    /// A line for every entry with type and length: `f 1234`, as from `find -printf '%y %s\n'`. Bytes are
    /// those of regular files.
    Records,
    /// The name of every regular file, terminated by NUL.
    NulNames,
    /// The export of `ncdu`: a directory is an array, an entry an object. Bytes are those of regular files.
    NcduExport,
    /// The object that `transect scan --json` and `transect usage --json` print. Bytes are those of all but
    /// directories, each file once.
    Totals,
}

/// The error message for an output of an unknown format.
const NO_PROOF: &str = "nothing that proves its work: the object of `transect scan --json`, a sum of lengths, entries as \
     `find -printf '%y %s\\n'` prints them, or names that end with NUL";

/// Bytes of an output that show its format: a path and its end.
const HEAD: u64 = 8192;

impl OutputFormat {
    /// Finds the format of an output by its first bytes, and parses it, reading to its end. Returns these
    /// bytes, too.
    ///
    /// # Errors
    /// It has no known format, or another one than it begins with, or is truncated.
    pub(super) fn find_and_parse(
        mut output: impl Read,
    ) -> Result<(Self, ReportedCounts, Vec<u8>), String> {
        let mut head = Vec::new();
        let read_head = output.by_ref().take(HEAD).read_to_end(&mut head);
        read_head.map_err(|error| format!("its output cannot be read: {error}"))?;
        let format = Self::of_head(&head);
        let Some(format) = format else {
            // Nothing depends on the rest, but a closed pipe would kill the program.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
            return Err(NO_PROOF.to_owned());
        };
        let counts = format.parse(head.as_slice().chain(output))?;
        Ok((format, counts, head))
    }

    fn of_head(head: &[u8]) -> Option<Self> {
        match head.trim_ascii_start() {
            [b'{', ..] => Some(Self::Totals),
            [b'[', ..] => Some(Self::NcduExport),
            head if head.contains(&0) => Some(Self::NulNames),
            [b'0'..=b'9', ..] => Some(Self::Sum),
            [b'a'..=b'z' | b'A'..=b'Z' | b'?', b' ', b'0'..=b'9', ..] => Some(Self::Records),
            _ => None,
        }
    }

    /// Parses an output, reading to its end.
    ///
    /// # Errors
    /// It has another format or is truncated.
    pub fn parse(self, output: impl Read) -> Result<ReportedCounts, String> {
        match self {
            Self::Sum => read::<Sum>(output),
            Self::Records => read::<Records>(output),
            Self::NulNames => read::<NulNames>(output),
            Self::NcduExport => read::<NcduExport>(output),
            Self::Totals => read::<Totals>(output),
        }
    }
}

/// An incremental parser.
trait Parser: Default {
    /// Parses a byte.
    fn parse_byte(&mut self, byte: u8) -> Result<(), String>;

    /// Returns the counts at the end of the output.
    fn finish(self) -> Result<ReportedCounts, String>;
}

fn read<P: Parser>(mut output: impl Read) -> Result<ReportedCounts, String> {
    let mut parser = P::default();
    let mut buffer = vec![0; 64 << 10];
    let mut result = Ok(());
    loop {
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) if result.is_ok() => {
                result = buffer[..length].iter().try_for_each(|&byte| parser.parse_byte(byte));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("its output cannot be read: {error}")),
        }
    }
    result.and_then(|()| parser.finish())
}

/// [`OutputFormat::Totals`]
#[derive(Default)]
struct Totals(Vec<u8>);

/// Bytes of an object at most: `--errors` lists every error.
const LONGEST_OBJECT: usize = 16 << 20;

#[derive(Deserialize)]
struct TotalsObject {
    files: u64,
    directories: u64,
    /// `usage` counts links among the others.
    #[serde(default)]
    symlinks: u64,
    others: u64,
    apparent_size: u64,
}

impl Parser for Totals {
    fn parse_byte(&mut self, byte: u8) -> Result<(), String> {
        if self.0.len() == LONGEST_OBJECT {
            return Err("prints an object that is too long".to_owned());
        }
        self.0.push(byte);
        Ok(())
    }

    fn finish(self) -> Result<ReportedCounts, String> {
        let object: TotalsObject = serde_json::from_slice(&self.0)
            .map_err(|error| format!("prints an object without counts: {error}"))?;
        Ok(ReportedCounts {
            files: Some(object.files),
            directories: Some(object.directories),
            others: Some(object.symlinks + object.others),
            bytes: Some(object.apparent_size),
        })
    }
}

/// A number, parsed digit by digit.
#[derive(Default)]
struct Number(Option<u64>);

impl Number {
    /// Parses a byte and returns whether it was a digit.
    fn parse_byte(&mut self, byte: u8) -> Result<bool, String> {
        if byte.is_ascii_digit() {
            let grown = self.0.unwrap_or(0).checked_mul(10);
            let grown = grown.and_then(|number| number.checked_add(u64::from(byte - b'0')));
            self.0 = Some(grown.ok_or("prints a number beyond all lengths")?);
        }
        Ok(byte.is_ascii_digit())
    }
}

/// [`OutputFormat::Sum`]
#[derive(Default)]
struct Sum {
    number: Number,
    complete: bool,
}

impl Parser for Sum {
    fn parse_byte(&mut self, byte: u8) -> Result<(), String> {
        if self.complete {
            return Ok(());
        }
        // Leading spaces align numbers in a column.
        let before = self.number.0.is_none() && byte.is_ascii_whitespace();
        if !self.number.parse_byte(byte)? && !before {
            self.complete = true;
        }
        Ok(())
    }

    fn finish(self) -> Result<ReportedCounts, String> {
        self.number.0.map(ReportedCounts::bytes).ok_or_else(|| "prints no sum".to_owned())
    }
}

/// [`OutputFormat::Records`]
#[derive(Default)]
struct Records {
    files: u64,
    directories: u64,
    others: u64,
    bytes: u64,
    /// Type of the entry on the current line.
    file_type: Option<u8>,
    space: bool,
    length: Number,
}

impl Parser for Records {
    fn parse_byte(&mut self, byte: u8) -> Result<(), String> {
        match (self.file_type, byte) {
            (None, b'a'..=b'z' | b'A'..=b'Z' | b'?') => self.file_type = Some(byte),
            (Some(_), b' ') if !self.space => self.space = true,
            (Some(_), b'0'..=b'9') if self.space => {
                self.length.parse_byte(byte)?;
            }
            (Some(file_type), b'\n') => {
                let Self { length: Number(Some(length)), .. } = *self else {
                    return Err("prints an entry without a length".to_owned());
                };
                match file_type {
                    b'f' => {
                        self.files += 1;
                        self.bytes += length;
                    }
                    b'd' => self.directories += 1,
                    _ => self.others += 1,
                }
                (self.file_type, self.space, self.length) = (None, false, Number::default());
            }
            _ => return Err(format!("prints '{}' inside an entry", byte.escape_ascii())),
        }
        Ok(())
    }

    fn finish(self) -> Result<ReportedCounts, String> {
        let Self { files, directories, others, bytes, file_type, .. } = self;
        if file_type.is_some() {
            return Err("its last entry is cut off".to_owned());
        }
        Ok(ReportedCounts {
            files: Some(files),
            directories: Some(directories),
            others: Some(others),
            bytes: Some(bytes),
        })
    }
}

/// [`OutputFormat::NulNames`]
#[derive(Default)]
struct NulNames {
    files: u64,
    inside: bool,
}

impl Parser for NulNames {
    fn parse_byte(&mut self, byte: u8) -> Result<(), String> {
        self.files += u64::from(byte == 0);
        self.inside = byte != 0;
        Ok(())
    }

    fn finish(self) -> Result<ReportedCounts, String> {
        if self.inside {
            return Err("its last name is cut off".to_owned());
        }
        Ok(ReportedCounts::files(self.files))
    }
}

/// [`OutputFormat::NcduExport`]: `[1,2,{…},[{"name":"/root","asize":4096},{"name":"file","asize":3},…]]`.
///
/// A JSON parser does not work here, as `ncdu` writes names unescaped and they need not be UTF-8. An entry
/// is complete when its object ends, so only the depth is kept.
#[derive(Default)]
struct NcduExport {
    claimed: [u64; 4],
    /// Number of open arrays.
    depth: u64,
    /// An array was just opened: the next object is a directory.
    opened: bool,
    complete: bool,
    /// The current object, if inside one.
    object: Option<Object>,
}

/// An entry that is being parsed.
#[derive(Default)]
struct Object {
    directory: bool,
    /// Inside a string.
    string: bool,
    escaped: bool,
    /// The last key, up to [`KEY`] bytes, and whether its colon was parsed.
    key: Vec<u8>,
    value: bool,
    length: Number,
    /// The object has `"notreg":true`.
    not_regular: bool,
}

/// Bytes of a key that are kept: enough to distinguish all keys.
const KEY: usize = 16;

impl NcduExport {
    const FILES: usize = 0;
    const DIRECTORIES: usize = 1;
    const OTHERS: usize = 2;
    const BYTES: usize = 3;

    fn add(&mut self, object: &Object) {
        // The object on the first level describes the export itself.
        if self.depth < 2 {
            return;
        }
        let kind = match (object.directory, object.not_regular) {
            (true, _) => Self::DIRECTORIES,
            (false, true) => Self::OTHERS,
            (false, false) => Self::FILES,
        };
        self.claimed[kind] += 1;
        if kind == Self::FILES {
            // Zero lengths are left out.
            self.claimed[Self::BYTES] += object.length.0.unwrap_or(0);
        }
    }
}

impl Parser for NcduExport {
    fn parse_byte(&mut self, byte: u8) -> Result<(), String> {
        if let Some(object) = &mut self.object {
            if object.parse_byte(byte)? {
                return Ok(());
            }
            if let Some(object) = self.object.take() {
                self.add(&object);
            }
            return Ok(());
        }
        match byte {
            b'[' if !self.complete => (self.depth, self.opened) = (self.depth + 1, true),
            b'{' if self.depth > 0 => {
                let directory = std::mem::take(&mut self.opened);
                self.object = Some(Object { directory, ..Object::default() });
            }
            b']' if self.depth > 0 => {
                self.depth -= 1;
                self.complete = self.depth == 0;
            }
            // The version, before the first object.
            b'0'..=b'9' if self.depth == 1 => self.opened = false,
            b',' | b'\n' | b' ' => {}
            _ => return Err(format!("prints '{}' between two entries", byte.escape_ascii())),
        }
        Ok(())
    }

    fn finish(self) -> Result<ReportedCounts, String> {
        if !self.complete {
            return Err("its export is cut off".to_owned());
        }
        let [files, directories, others, bytes] = self.claimed.map(Some);
        Ok(ReportedCounts { files, directories, others, bytes })
    }
}

impl Object {
    /// Parses a byte and returns whether the object continues.
    fn parse_byte(&mut self, byte: u8) -> Result<bool, String> {
        if self.string {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' => self.escaped = true,
                b'"' => self.string = false,
                _ if !self.value && self.key.len() < KEY => self.key.push(byte),
                _ => {}
            }
            return Ok(true);
        }
        match byte {
            b'"' => {
                self.string = true;
                if !self.value {
                    self.key.clear();
                }
            }
            b':' => self.value = true,
            b',' => self.value = false,
            b'}' => return Ok(false),
            _ if self.value && self.key == b"asize" => {
                self.length.parse_byte(byte)?;
            }
            b't' if self.value && self.key == b"notreg" => self.not_regular = true,
            _ => {}
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(files: u64, directories: u64, others: u64, bytes: u64) -> ReportedCounts {
        ReportedCounts {
            files: Some(files),
            directories: Some(directories),
            others: Some(others),
            bytes: Some(bytes),
        }
    }

    /// A reader that returns one byte at a time: results must not depend on how output is split.
    struct ByteByByte<'a>(&'a [u8]);

    impl Read for ByteByByte<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[track_caller]
    fn parses(output: OutputFormat, text: &[u8]) -> ReportedCounts {
        let claimed = output.parse(text).unwrap();
        assert_eq!(output.parse(ByteByByte(text)), Ok(claimed));
        claimed
    }

    /// Real output of the named versions for a tree of 8,593,015,300 bytes.
    #[test]
    fn sum_is_the_first_number() {
        for (program, text, bytes) in [
            ("du 9.1", "8593015300\t/tmp/2024/rich\n", 8_593_015_300),
            ("gdu 5.22.0", " 11764752 /\n", 11_764_752),
            ("diskus 0.9.0", "8590090155\n", 8_590_090_155),
            ("dua 3.0.0", "8593015300 b rich\n         0 b /dev/null\n", 8_593_015_300),
            ("dua 3.0.0", "      8192 b 77\n         0 b /dev/null\n", 8192),
            ("pdu 0.24.0", "8593015300 ┌──rich│██████████│100%\n", 8_593_015_300),
            ("dust 1.2.7", "8593015300B ─── rich\n", 8_593_015_300),
            ("nothing", "0\tempty\n", 0),
        ] {
            assert_eq!(
                parses(OutputFormat::Sum, text.as_bytes()),
                ReportedCounts::bytes(bytes),
                "{program}"
            );
        }
        for none in ["", "\n", "total 12", "-12", "┌──rich 8593015300"] {
            assert_eq!(OutputFormat::Sum.parse(none.as_bytes()), Err("prints no sum".to_owned()));
        }
        let beyond = OutputFormat::Sum.parse(&b"99999999999999999999"[..]).unwrap_err();
        assert_eq!(beyond, "prints a number beyond all lengths");
    }

    #[test]
    fn records_are_counted_by_type() {
        let text = b"d 4096\nf 1000\nf 0\nl 3\np 0\ns 0\nd 4096\nf 8589934592\n";
        assert_eq!(parses(OutputFormat::Records, text), claimed(3, 2, 3, 8_589_935_592));
        assert_eq!(parses(OutputFormat::Records, b""), claimed(0, 0, 0, 0));
        for (text, reason) in [
            ("f 10\nf 1", "its last entry is cut off"),
            ("f\n", "prints an entry without a length"),
            ("f \n", "prints an entry without a length"),
            ("f 1x\n", "prints 'x' inside an entry"),
            ("ff 1\n", "prints 'f' inside an entry"),
            ("/tmp/rich\n", "prints '/' inside an entry"),
            ("f -1\n", "prints '-' inside an entry"),
        ] {
            assert_eq!(
                OutputFormat::Records.parse(text.as_bytes()),
                Err(reason.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn nul_names_may_contain_any_other_byte() {
        assert_eq!(parses(OutputFormat::NulNames, b"./a\0./b\n\xff\0"), ReportedCounts::files(2));
        assert_eq!(parses(OutputFormat::NulNames, b""), ReportedCounts::files(0));
        let cut = OutputFormat::NulNames.parse(&b"./a\0./b"[..]).unwrap_err();
        assert_eq!(cut, "its last name is cut off");
    }

    /// `ncdu` 1.18, shortened.
    #[test]
    fn ncdu_export_with_any_names() {
        let text = b"[1,2,{\"progname\":\"ncdu\",\"progver\":\"1.18\",\"timestamp\":1795252127},\n\
            [{\"name\":\"/tmp/[rich\",\"asize\":4096,\"dsize\":4096,\"dev\":65024},\n\
            {\"name\":\"x\",\"asize\":1000,\"dsize\":4096,\"ino\":7,\"hlnkc\":true,\"nlink\":4},\n\
            {\"name\":\"fifo\",\"ino\":8,\"hlnkc\":true,\"nlink\":2,\"notreg\":true},\n\
            [{\"name\":\"d\xff\\n1\",\"asize\":4096,\"dsize\":4096},\n\
            {\"name\":\"\\\"}],{\\\"asize\\\":77\\\\\",\"asize\":14}],\n\
            {\"name\":\"asize\"},\n\
            {\"name\":\"dangling\",\"asize\":15,\"notreg\":true},\n\
            [{\"name\":\"empty\",\"asize\":4096,\"dsize\":4096}]]]";
        assert_eq!(parses(OutputFormat::NcduExport, text), claimed(3, 3, 2, 1014));
        for length in 0..text.len() {
            let cut = OutputFormat::NcduExport.parse(&text[..length]).unwrap_err();
            assert_eq!(cut, "its export is cut off", "after {length} bytes");
        }
        let garbage = OutputFormat::NcduExport.parse(&b"Error opening\n"[..]).unwrap_err();
        assert_eq!(garbage, "prints 'E' between two entries");
    }

    /// A closed pipe would kill the peer, and the lab would report a wrong cause.
    #[test]
    fn invalid_output_is_read_to_the_end() {
        let mut rest = &[b'!'; 200_000][..];
        assert!(OutputFormat::Records.parse(&mut rest).is_err());
        assert!(rest.is_empty());
    }
}
