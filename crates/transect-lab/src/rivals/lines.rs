//! The lines that a command prints, in any order: what proves that programs which answer a question, such as
//! where a name is, give the same answer.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Read};

use transect_text::units::counted;

/// A number of lines, and the sum of their digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    number: u64,
    digests: u64,
}

impl Lines {
    /// Reads the output of a program to its end. Lines end with a NUL byte if there is one, otherwise with a line feed.
    /// Empty lines, which separate groups, do not count.
    pub fn read(mut output: impl Read) -> io::Result<Self> {
        let mut text = Vec::new();
        output.read_to_end(&mut text)?;
        let end = if text.contains(&0) { 0 } else { b'\n' };
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut lines = Self::default();
        for line in text.split(|&byte| byte == end).filter(|line| !line.is_empty()) {
            lines.number += 1;
            lines.digests = lines.digests.wrapping_add(hasher.hash_one(line));
        }
        Ok(lines)
    }

    /// Compares them with those of the base.
    ///
    /// # Errors
    /// They differ. The message follows "found something else".
    pub fn check(self, base: Self) -> Result<(), String> {
        match self == base {
            true => Ok(()),
            false if self.number == base.number => Err(format!("{self}, but other ones")),
            false => Err(format!("{self} instead of {}", base.number)),
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.number, "line", "lines"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(output: &[u8]) -> Lines {
        Lines::read(output).unwrap()
    }

    #[test]
    fn lines_compared_in_any_order() {
        let base = lines(b"a\nb b\n\nc\n");
        for same in [&b"c\0a\0b b\0"[..], b"\nc\nb b\na"] {
            assert_eq!(lines(same).check(base), Ok(()));
        }
        for (other, why) in [
            (&b"a\nb b\n"[..], "2 lines instead of 3"),
            (b"", "0 lines instead of 3"),
            (b"a\nb b\nd", "3 lines, but other ones"),
            (b"a\na\nb b\nc", "4 lines instead of 3"),
        ] {
            assert_eq!(lines(other).check(base).unwrap_err(), why);
        }
    }
}
