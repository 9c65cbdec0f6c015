//! What belongs together: the parts of a file, in order, with their digests.
//!
//! ```text
//! # transect split 1
//! # size: 10
//! # part: 4
//! # blake3: af1349b9...
//! 9d8f3c1a...  NAME.000001
//! ```
//!
//! Without the lines that begin with `#`, it is what `b3sum --check` reads.

use std::num::NonZeroU64;
use std::path::{Component, Path};

use crate::manifest::{self, Algorithm, Line};

/// What the first line says.
const FIRST: &str = "transect split 1";

/// A file and its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The length of the file.
    pub(super) size: u64,
    /// The length of every part but the last.
    pub(super) part: NonZeroU64,
    /// The BLAKE3 digest of the file.
    pub(super) digest: String,
    /// The parts in order.
    pub(super) lines: Vec<Line>,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { size, part, digest, lines } = self;
        let mut bytes =
            format!("# {FIRST}\n# size: {size}\n# part: {part}\n# blake3: {digest}\n").into_bytes();
        bytes.extend(lines.iter().flat_map(Line::to_bytes));
        bytes
    }

    /// Returns what a manifest says, or what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        if text.split(|&byte| byte == b'\n').next().and_then(manifest::comment)
            != Some(FIRST.as_bytes())
        {
            return Err(format!("it does not begin with '# {FIRST}'"));
        }
        let size = header(text, "size")?.parse().map_err(|_| "its size is no number")?;
        let part = header(text, "part")?.parse().map_err(|_| "its parts have no length")?;
        let digest = header(text, "blake3")?.to_ascii_lowercase();
        let lines = manifest::parse(text).map_err(|error| error.to_string())?;
        let whole = Self { size, part, digest, lines };
        whole.verify()?;
        Ok(whole)
    }

    /// Makes sure that the parts can be those of the file, and that all are beside the manifest.
    fn verify(&self) -> Result<(), String> {
        let count = self.size.div_ceil(self.part.get());
        let there = self.lines.len();
        if u64::try_from(there) != Ok(count) {
            return Err(format!("it names {there} parts, and {count} make {} bytes", self.size));
        }
        for line in &self.lines {
            let name = line.name.display();
            if !is_name(&line.name) {
                return Err(format!("'{name}' is not beside it"));
            }
            let fits = line.digest.len() == Algorithm::Blake3.digits();
            if !fits || !matches!(line.algorithm, None | Some(Algorithm::Blake3)) {
                return Err(format!("the digest of '{name}' is none of BLAKE3"));
            }
        }
        Ok(())
    }

    /// Returns the parts with their lengths.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Line, u64)> {
        let mut left = self.size;
        self.lines.iter().map(move |line| {
            let length = left.min(self.part.get());
            left -= length;
            (line, length)
        })
    }
}

/// Returns what a line of the form `# KEY: VALUE` says.
fn header<'a>(text: &'a [u8], key: &str) -> Result<&'a str, String> {
    text.split(|&byte| byte == b'\n')
        .filter_map(manifest::comment)
        .filter_map(|comment| std::str::from_utf8(comment).ok())
        .find_map(|comment| comment.strip_prefix(key)?.strip_prefix(": "))
        .ok_or_else(|| format!("there is no '# {key}: '"))
}

/// Returns whether a path is one name, and leads nowhere else.
fn is_name(path: &Path) -> bool {
    let mut components = path.components();
    // A name that the system writes otherwise, such as one with a slash behind it, is none here.
    matches!(components.next(), Some(Component::Normal(name)) if name == path.as_os_str())
        && components.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(size: u64, part: u64, names: &[&str]) -> Manifest {
        Manifest {
            size,
            part: part.try_into().unwrap(),
            digest: "ab".repeat(32),
            lines: names.iter().map(|name| Line::new("cd".repeat(32), name)).collect(),
        }
    }

    fn reason(text: &[u8]) -> String {
        Manifest::parse(text).unwrap_err()
    }

    #[test]
    fn what_is_written_is_read() {
        for manifest in [
            manifest(0, 1, &[]),
            manifest(10, 4, &["a.1", "a.2", "a.3"]),
            manifest(8, 4, &["odd\nname\r", " blanks "]),
            manifest(u64::MAX, u64::MAX, &["a"]),
        ] {
            assert_eq!(Manifest::parse(&manifest.to_bytes()), Ok(manifest));
        }
    }

    #[test]
    fn lengths_are_those_of_the_file() {
        let manifest = manifest(10, 4, &["a", "b", "c"]);
        assert_eq!(manifest.parts().map(|(_, length)| length).collect::<Vec<_>>(), [4, 4, 2]);
    }

    #[test]
    fn what_is_no_manifest_is_told_with_its_reason() {
        let whole = manifest(10, 4, &["a", "b", "c"]).to_bytes();
        let text = std::str::from_utf8(&whole).unwrap();
        for (old, new, expected) in [
            ("# transect split 1\n", "", "it does not begin with '# transect split 1'"),
            ("split 1", "split 2", "it does not begin with '# transect split 1'"),
            ("# size: 10\n", "", "there is no '# size: '"),
            ("size: 10", "size: ten", "its size is no number"),
            ("size: 10", "size: 18446744073709551616", "its size is no number"),
            ("size: 10", "size: 13", "it names 3 parts, and 4 make 13 bytes"),
            ("part: 4", "part: 0", "its parts have no length"),
            ("part: 4", "part: -4", "its parts have no length"),
            ("part: 4", "part: 5", "it names 3 parts, and 2 make 10 bytes"),
            ("# blake3: ", "# sha256: ", "there is no '# blake3: '"),
            ("  b\n", "  ../b\n", "'../b' is not beside it"),
            ("  b\n", "  /b\n", "'/b' is not beside it"),
            ("  b\n", "  d/b\n", "'d/b' is not beside it"),
            ("  b\n", "  ..\n", "'..' is not beside it"),
            ("  b\n", "  .\n", "'.' is not beside it"),
            ("  b\n", "  b/\n", "'b/' is not beside it"),
            ("  b\n", "  ./b\n", "'./b' is not beside it"),
            (
                "cdcd  b",
                "cd  b",
                "line 6: the digest has not the length of one, or is not hexadecimal",
            ),
        ] {
            assert_ne!(text.replacen(old, new, 1), text, "{old}");
            assert_eq!(reason(text.replacen(old, new, 1).as_bytes()), expected, "{old} -> {new}");
        }
        let short = text.replacen(&"cd".repeat(32), "cdcdcdcd", 1);
        assert_eq!(reason(short.as_bytes()), "the digest of 'a' is none of BLAKE3");
        assert_eq!(reason(b""), "it does not begin with '# transect split 1'");
        for end in 0..text.len() - 1 {
            // A name may be cut short without being noticed here: then the part is missing.
            let cut = Manifest::parse(&whole[..end]);
            assert!(cut.is_err(), "cut at {end}");
        }
    }
}
