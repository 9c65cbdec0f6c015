//! Parsers for the output of peers, in bounded memory.
//!
//! A listing of two million entries is a hundred megabytes, and names may be any bytes. Every parser
//! reads to the end, even after an error: a closed pipe would kill the peer, and the lab would report a
//! wrong cause.

use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;

use super::reported::ReportedCounts;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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

const NO_PROOF: &str = "nothing that proves its work: the object of `transect scan --json`, a sum of lengths, entries as \
     `find -printf '%y %s\\n'` prints them, or names that end with NUL";

/// Bytes of an output that show its format: a path and its end.
const HEAD: u64 = 8192;

impl OutputFormat {
    /// Finds the format of an output by its first bytes, and parses it, reading to its end. Returns whether a list of
    /// names has that of `root`, too.
    ///
    /// # Errors
    /// It has no known format, or another one than it begins with, or is truncated.
    pub(super) fn find_and_parse(
        mut output: impl Read,
        root: &[u8],
    ) -> Result<(Self, ReportedCounts, bool), String> {
        let mut head = Vec::new();
        let read_head = output.by_ref().take(HEAD).read_to_end(&mut head);
        read_head.map_err(unreadable)?;
        let format = Self::of_head(&head);
        let Some(format) = format else {
            // Nothing depends on the rest, but a closed pipe would kill the program.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
            return Err(NO_PROOF.to_owned());
        };
        let output = head.as_slice().chain(output);
        let mut has_root = false;
        let counts = match format {
            Self::NulNames => nul_names(output, |name| has_root |= name == root)?,
            _ => format.parse(output)?,
        };
        Ok((format, counts, has_root))
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
            Self::Sum => sum(output),
            Self::Records => records(output),
            Self::NulNames => nul_names(output, |_| {}),
            Self::NcduExport => ncdu_export(output),
            Self::Totals => totals(output),
        }
    }
}

fn unreadable(error: std::io::Error) -> String {
    format!("its output cannot be read: {error}")
}

/// Reads an output to its end, and returns its first bytes, `most` of them.
fn beginning(mut output: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    output.by_ref().take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    std::io::copy(&mut output, &mut std::io::sink()).map_err(unreadable)?;
    Ok(bytes)
}

/// The bytes of a piece of an output at most: far more than a path has.
const LONGEST_PIECE: u64 = 1 << 20;

/// Reads an output to its end, and calls `add` with each piece that ends with `end`, without it, until that fails. A
/// piece that is cut off or too long is passed as `None`.
fn each_piece(
    output: impl Read,
    end: u8,
    mut add: impl FnMut(Option<&[u8]>) -> Result<(), String>,
) -> Result<(), String> {
    let mut output = BufReader::with_capacity(64 << 10, output);
    let (mut piece, mut result) = (Vec::new(), Ok(()));
    loop {
        piece.clear();
        let length = output.by_ref().take(LONGEST_PIECE).read_until(end, &mut piece);
        if length.map_err(unreadable)? == 0 {
            return result;
        }
        if result.is_ok() {
            result = add(piece.strip_suffix(&[end]));
        }
    }
}

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

fn totals(output: impl Read) -> Result<ReportedCounts, String> {
    let text = beginning(output, LONGEST_OBJECT as u64 + 1)?;
    if text.len() > LONGEST_OBJECT {
        return Err("prints an object that is too long".to_owned());
    }
    let object: TotalsObject = serde_json::from_slice(&text)
        .map_err(|error| format!("prints an object without counts: {error}"))?;
    let TotalsObject { files, directories, symlinks, others, apparent_size } = object;
    Ok(ReportedCounts::all([files, directories, symlinks + others, apparent_size]))
}

fn sum(output: impl Read) -> Result<ReportedCounts, String> {
    let text = beginning(output, HEAD)?;
    // Leading spaces align numbers in a column.
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    match std::str::from_utf8(&text[..end]) {
        Ok("") | Err(_) => Err("prints no sum".to_owned()),
        Ok(digits) => {
            let bytes = digits.parse().map_err(|_| "prints a number beyond all lengths")?;
            Ok(ReportedCounts::bytes(bytes))
        }
    }
}

fn records(output: impl Read) -> Result<ReportedCounts, String> {
    let [mut files, mut directories, mut others, mut bytes] = [0, 0, 0, 0];
    each_piece(output, b'\n', |line| {
        let line = line.ok_or("its last entry is cut off")?;
        let (file_type, length) = parse_record(line)
            .ok_or_else(|| format!("prints '{}' instead of an entry", line.escape_ascii()))?;
        match file_type {
            b'f' => (files, bytes) = (files + 1, bytes + length),
            b'd' => directories += 1,
            _ => others += 1,
        }
        Ok(())
    })?;
    Ok(ReportedCounts::all([files, directories, others, bytes]))
}

/// Parses `f 1234`, the type of an entry and its length.
fn parse_record(line: &[u8]) -> Option<(u8, u64)> {
    let (&file_type, length) = line.split_first()?;
    let length = std::str::from_utf8(length.strip_prefix(b" ")?).ok()?;
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
    let is_type = file_type.is_ascii_alphabetic() || file_type == b'?';
    Some((file_type, length.parse().ok()?)).filter(|_| is_type && is_number)
}

fn nul_names(output: impl Read, mut each: impl FnMut(&[u8])) -> Result<ReportedCounts, String> {
    let mut files = 0;
    each_piece(output, 0, |name| {
        files += 1;
        name.map(&mut each).ok_or_else(|| "its last name is cut off".to_owned())
    })?;
    Ok(ReportedCounts::files(files))
}

#[derive(Deserialize)]
struct NcduObject {
    /// Left out if it is zero.
    #[serde(default)]
    asize: u64,
    #[serde(default)]
    notreg: bool,
}

/// Parses `[1,2,{…},[{"name":"/root","asize":4096},{"name":"file","asize":3},…]]`, in which every object has a line
/// of its own. The first one describes the export itself.
fn ncdu_export(output: impl Read) -> Result<ReportedCounts, String> {
    let cut_off = || "its export is cut off".to_owned();
    let [mut files, mut directories, mut others, mut bytes] = [0, 0, 0, 0];
    let (mut depth, mut is_begun) = (0_u64, false);
    // The last line has no end.
    let lines = output.chain(&b"\n"[..]);
    each_piece(lines, b'\n', |line| {
        let line = line.ok_or_else(cut_off)?;
        let begin = line.iter().position(|&byte| byte == b'{').unwrap_or(line.len());
        let (before, object) = line.split_at(begin);
        if let Some(byte) = before.iter().find(|byte| !b"[0123456789, ".contains(byte)) {
            return Err(format!("prints '{}' between two entries", byte.escape_ascii()));
        }
        let opened = before.iter().filter(|&&byte| byte == b'[').count() as u64;
        depth += opened;
        let Some(end) = object.iter().rposition(|&byte| byte == b'}') else {
            return if line.is_empty() { Ok(()) } else { Err(cut_off()) };
        };
        // Names are any bytes, which JSON does not allow.
        let text = String::from_utf8_lossy(&object[..=end]);
        let object_of = serde_json::from_str(&text).map_err(|_| cut_off());
        let NcduObject { asize, notreg } = object_of?;
        match (depth >= 2, opened > 0, notreg) {
            (false, ..) => {}
            (true, true, _) => directories += 1,
            (true, false, true) => others += 1,
            (true, false, false) => (files, bytes) = (files + 1, bytes + asize),
        }
        let closed = object[end..].iter().filter(|&&byte| byte == b']').count() as u64;
        depth = depth.checked_sub(closed).ok_or("closes more arrays than it opens")?;
        is_begun = true;
        Ok(())
    })?;
    match is_begun && depth == 0 {
        true => Ok(ReportedCounts::all([files, directories, others, bytes])),
        false => Err(cut_off()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(files: u64, directories: u64, others: u64, bytes: u64) -> ReportedCounts {
        ReportedCounts::all([files, directories, others, bytes])
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
            ("f\n", "prints 'f' instead of an entry"),
            ("f \n", "prints 'f ' instead of an entry"),
            ("f 1x\n", "prints 'f 1x' instead of an entry"),
            ("ff 1\n", "prints 'ff 1' instead of an entry"),
            ("/tmp/rich\n", "prints '/tmp/rich' instead of an entry"),
            ("f -1\n", "prints 'f -1' instead of an entry"),
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
