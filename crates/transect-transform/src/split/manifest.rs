//! The manifest of a split file: its parts in order, with their digests.
//!
//! ```text
//! NAME.parts     9d8f3c1a...  NAME.000001
//!                77a0c5e2...  NAME.000002
//! NAME.blake3    af1349b9...  NAME
//! ```
//!
//! `b3sum --check` reads both files and accepts no other lines, so it can check the parts anywhere,
//! and also a file that another program joined. That is why the digest of the whole has a file of
//! its own. It also proves that no line of the manifest is missing.
//!
//! The first form had everything in one file, in lines that `b3sum` does not accept:
//!
//! ```text
//! # transect split 1
//! # size: 10
//! # part: 4
//! # blake3: af1349b9...
//! 9d8f3c1a...  NAME.000001
//! ```

use std::io::{self, BufRead};
use std::num::NonZeroU64;
use std::path::{Component, Path};

use super::MAX_PARTS;
use crate::lines::{Lines, RawLine};
use crate::manifest::{self, Algorithm, Line};

/// The first line of the first form.
const FIRST_FORM: &str = "transect split 1";

/// The parts of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The parts in order.
    pub(super) lines: Vec<Line>,
    /// The whole file, in the first form.
    pub(super) whole: Option<WholeFile>,
}

/// A file that was split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WholeFile {
    /// Length of the file.
    size: u64,
    /// Length of every part but the last.
    part: NonZeroU64,
    /// BLAKE3 digest of the file.
    pub(super) digest: String,
}

impl Manifest {
    /// Reads and parses a manifest. The inner error describes an invalid manifest.
    pub(super) fn read(from: impl BufRead) -> io::Result<Result<Self, String>> {
        let mut lines = Lines::new(from);
        let (mut parts, mut head) = (Vec::new(), None::<FirstFormHeader>);
        while let Some(raw) = lines.next()? {
            let comment = manifest::comment(raw.text);
            match (comment, raw.number) {
                (Some(first), 1) if first == FIRST_FORM.as_bytes() => {
                    head = Some(FirstFormHeader::default())
                }
                (Some(_), 1) => {
                    let reason =
                        format!("it begins neither with a digest nor with '# {FIRST_FORM}'");
                    return Ok(Err(reason));
                }
                (Some(comment), _) => {
                    if let Some(head) = &mut head {
                        head.add(comment);
                    }
                }
                (None, _) => match parse_part(&raw) {
                    Ok(part) => parts.extend(part),
                    Err(reason) => return Ok(Err(reason)),
                },
            }
            if parts.len() as u64 > MAX_PARTS {
                return Ok(Err(format!("it names more than {MAX_PARTS} parts")));
            }
        }
        let whole = head.map(|head| WholeFile::of(head, parts.len())).transpose();
        Ok(whole.map(|whole| Self { lines: parts, whole }))
    }

    /// Checks, before any part is read, that parts of these lengths can form a file.
    pub(super) fn verify(&self, lengths: &[u64]) -> Result<(), (&Line, String)> {
        let wrong_length = |at: usize, length: u64| {
            let reason = format!("it has {} bytes, and should have {length}", lengths[at]);
            Err((&self.lines[at], reason))
        };
        let first = lengths.first().copied().unwrap_or(0);
        let last = lengths.len().saturating_sub(1);
        for (at, &length) in lengths.iter().enumerate() {
            match &self.whole {
                Some(whole) if length != whole.length(at) => {
                    return wrong_length(at, whole.length(at));
                }
                Some(_) => {}
                None if length == 0 || length > first || length < first && at < last => {
                    return wrong_length(at, first.max(1));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// The lines of the first form about the whole file.
#[derive(Default)]
struct FirstFormHeader {
    size: Option<String>,
    part: Option<String>,
    blake3: Option<String>,
}

impl FirstFormHeader {
    /// Reads a comment of the form `KEY: VALUE`. The first line of each key counts.
    fn add(&mut self, comment: &[u8]) {
        let Some((key, value)) = std::str::from_utf8(comment).ok().and_then(|c| c.split_once(": "))
        else {
            return;
        };
        let place = match key {
            "size" => &mut self.size,
            "part" => &mut self.part,
            "blake3" => &mut self.blake3,
            _ => return,
        };
        place.get_or_insert_with(|| value.to_owned());
    }
}

/// Parses the line of a part; returns `None` for other lines.
fn parse_part(raw: &RawLine<'_>) -> Result<Option<Line>, String> {
    let Some(line) = manifest::parse_line(raw).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let name = line.name.display();
    if !is_plain_name(&line.name) {
        return Err(format!("'{name}' is a path, not a file name"));
    }
    if !is_blake3(&line) {
        return Err(format!("the digest of '{name}' is none of BLAKE3"));
    }
    Ok(Some(line))
}

impl WholeFile {
    /// Parses a header, and checks that it fits the number of parts.
    fn of(head: FirstFormHeader, parts: usize) -> Result<Self, String> {
        let missing = |key: &str| format!("there is no '# {key}: '");
        let parsed = |value: Option<String>, key: &str| value.ok_or_else(|| missing(key));
        let whole = Self {
            size: parsed(head.size, "size")?.parse().map_err(|_| "its size is not a number")?,
            part: parsed(head.part, "part")?.parse().map_err(|_| "its parts have no length")?,
            digest: parsed(head.blake3, "blake3")?.to_ascii_lowercase(),
        };
        whole.verify(parts)?;
        Ok(whole)
    }

    /// Checks that a file of this size has this many parts.
    fn verify(&self, there: usize) -> Result<(), String> {
        let count = self.size.div_ceil(self.part.get());
        if u64::try_from(there) != Ok(count) {
            return Err(format!("it names {there} parts, and {count} make {} bytes", self.size));
        }
        Ok(())
    }

    /// Returns the length of a part.
    fn length(&self, at: usize) -> u64 {
        self.part.get().min(self.size - at as u64 * self.part.get())
    }
}

/// Reads and parses the file with the digest of the whole. The inner error describes an invalid
/// file.
pub(super) fn read_whole_digest(from: impl BufRead) -> io::Result<Result<String, String>> {
    let (mut count, mut digest) = (0, Err(String::new()));
    for line in manifest::Reader::new(from) {
        let line = match line? {
            Ok(line) => line,
            Err(error) => return Ok(Err(error.to_string())),
        };
        count += 1;
        digest = match is_blake3(&line) {
            true => Ok(line.digest),
            false => Err("its digest is none of BLAKE3".to_owned()),
        };
    }
    Ok(match count {
        1 => digest,
        count => Err(format!("it has {count} lines of a digest, and should have one")),
    })
}

fn is_blake3(line: &Line) -> bool {
    let fits = line.digest.len() == Algorithm::Blake3.digits();
    fits && matches!(line.algorithm, None | Some(Algorithm::Blake3))
}

/// Returns whether a path is a single name in the same directory.
fn is_plain_name(path: &Path) -> bool {
    let mut components = path.components();
    // A name that the system would normalise, such as one with a trailing slash, is rejected.
    matches!(components.next(), Some(Component::Normal(name)) if name == path.as_os_str())
        && components.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a manifest of the first form.
    fn first_form(size: u64, part: u64, names: &[&str]) -> Vec<u8> {
        let digest = "ab".repeat(32);
        let head = format!("# {FIRST_FORM}\n# size: {size}\n# part: {part}\n# blake3: {digest}\n");
        [head.into_bytes(), lines(names)].concat()
    }

    fn lines(names: &[&str]) -> Vec<u8> {
        let line = |name| Line::new("cd".repeat(32), name).to_bytes();
        names.iter().flat_map(line).collect()
    }

    fn parse(text: &[u8]) -> Result<Manifest, String> {
        Manifest::read(text).unwrap()
    }

    fn digest(text: &[u8]) -> Result<String, String> {
        read_whole_digest(text).unwrap()
    }

    fn reason(text: &[u8]) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn manifest_both_forms_parsed() {
        for (size, part, names) in [
            (0, 1, &[][..]),
            (10, 4, &["a.1", "a.2", "a.3"]),
            (8, 4, &["odd\nname\r", " blanks "]),
            (u64::MAX, u64::MAX, &["a"]),
        ] {
            let now = parse(&lines(names)).unwrap();
            assert!(now.lines.iter().map(|line| line.name.to_str().unwrap()).eq(names.to_vec()));
            assert_eq!(now.whole, None);
            let first = parse(&first_form(size, part, names)).unwrap();
            assert_eq!(first.lines, now.lines);
            assert_eq!(first.whole.unwrap().digest, "ab".repeat(32));
        }
    }

    #[test]
    fn manifest_impossible_part_lengths_rejected() {
        let now = parse(&lines(&["a", "b", "c"])).unwrap();
        let first = parse(&first_form(10, 4, &["a", "b", "c"])).unwrap();
        for (lengths, of_now, of_first) in [
            ([4, 4, 2], None, None),
            ([4, 4, 4], None, Some(("c", 4, 2))),
            ([4, 4, 1], None, Some(("c", 1, 2))),
            ([4, 4, 5], Some(("c", 5, 4)), Some(("c", 5, 2))),
            ([4, 4, 0], Some(("c", 0, 4)), Some(("c", 0, 2))),
            ([4, 3, 2], Some(("b", 3, 4)), Some(("b", 3, 4))),
            ([3, 4, 2], Some(("b", 4, 3)), Some(("a", 3, 4))),
            ([0, 0, 0], Some(("a", 0, 1)), Some(("a", 0, 4))),
        ] {
            for (manifest, expected) in [(&now, of_now), (&first, of_first)] {
                let refused = manifest.verify(&lengths).err();
                let refused = refused.map(|(line, why)| (line.name.display().to_string(), why));
                let expected = expected.map(|(name, has, should)| {
                    (name.to_owned(), format!("it has {has} bytes, and should have {should}"))
                });
                assert_eq!(refused, expected, "{lengths:?}");
            }
        }
    }

    #[test]
    fn whole_digest_file_has_one_line() {
        let whole = lines(&["NAME"]);
        assert_eq!(digest(&whole), Ok("cd".repeat(32)));
        let tagged = format!("BLAKE3 (NAME) = {}\n", "CD".repeat(32));
        assert_eq!(digest(tagged.as_bytes()), Ok("cd".repeat(32)));
        for (text, expected) in [
            (b"".to_vec(), "it has 0 lines of a digest, and should have one"),
            (lines(&["a", "b"]), "it has 2 lines of a digest, and should have one"),
            (b"cdcdcdcd  NAME\n".to_vec(), "its digest is none of BLAKE3"),
        ] {
            assert_eq!(digest(&text).unwrap_err(), expected);
        }
    }

    #[test]
    fn manifest_invalid_rejected_with_reason() {
        let whole = first_form(10, 4, &["a", "b", "c"]);
        let text = std::str::from_utf8(&whole).unwrap();
        let neither = "it begins neither with a digest nor with '# transect split 1'";
        for (old, new, expected) in [
            ("# transect split 1\n", "", neither),
            ("split 1", "split 2", neither),
            ("# size: 10\n", "", "there is no '# size: '"),
            ("size: 10", "size: ten", "its size is not a number"),
            ("size: 10", "size: 18446744073709551616", "its size is not a number"),
            ("size: 10", "size: 13", "it names 3 parts, and 4 make 13 bytes"),
            ("part: 4", "part: 0", "its parts have no length"),
            ("part: 4", "part: -4", "its parts have no length"),
            ("part: 4", "part: 5", "it names 3 parts, and 2 make 10 bytes"),
            ("# blake3: ", "# sha256: ", "there is no '# blake3: '"),
            ("  b\n", "  ../b\n", "'../b' is a path, not a file name"),
            ("  b\n", "  /b\n", "'/b' is a path, not a file name"),
            ("  b\n", "  d/b\n", "'d/b' is a path, not a file name"),
            ("  b\n", "  ..\n", "'..' is a path, not a file name"),
            ("  b\n", "  .\n", "'.' is a path, not a file name"),
            ("  b\n", "  b/\n", "'b/' is a path, not a file name"),
            ("  b\n", "  ./b\n", "'./b' is a path, not a file name"),
            (
                "cdcd  b",
                "cd  b",
                "line 6: the digest has not the length of one, or is not hexadecimal",
            ),
        ] {
            assert_ne!(text.replacen(old, new, 1), text, "{old}");
            assert_eq!(reason(text.replacen(old, new, 1).as_bytes()), expected, "{old} -> {new}");
        }
        let many = "cd".repeat(32) + "  a\n";
        let too_many = many.repeat(MAX_PARTS as usize + 1);
        assert_eq!(reason(too_many.as_bytes()), "it names more than 999999 parts");
        let short = text.replacen(&"cd".repeat(32), "cdcdcdcd", 1);
        assert_eq!(reason(short.as_bytes()), "the digest of 'a' is none of BLAKE3");
        for end in 1..text.len() - 1 {
            // A truncated name goes unnoticed here; the part is then missing.
            let cut = parse(&whole[..end]);
            assert!(cut.is_err(), "cut at {end}");
        }
    }
}
