//! What a peer says it found, and how it differs from what is there.

use std::fmt;

/// What a peer says it found. A peer says some of it, by its own definition: what is `None`, its
/// output does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedCounts {
    /// Regular files, names and not file ids.
    pub files: Option<u64>,
    /// Directories, the root included.
    pub directories: Option<u64>,
    /// What is neither: links, pipes, sockets, devices.
    pub others: Option<u64>,
    /// Lengths; of what, the peer's definition says.
    pub bytes: Option<u64>,
}

impl ReportedCounts {
    /// Returns a claim of nothing but lengths.
    pub(super) fn bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }
    }

    /// Returns a claim of nothing but regular files.
    pub(super) fn files(files: u64) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// Returns the figures of both that differ, if any do.
    fn differences(self, expected: Self) -> Option<(Self, Self)> {
        let differing = |a: Option<u64>, b: Option<u64>| if a == b { (None, None) } else { (a, b) };
        let files = differing(self.files, expected.files);
        let directories = differing(self.directories, expected.directories);
        let others = differing(self.others, expected.others);
        let bytes = differing(self.bytes, expected.bytes);
        (self != expected).then_some((
            Self { files: files.0, directories: directories.0, others: others.0, bytes: bytes.0 },
            Self { files: files.1, directories: directories.1, others: others.1, bytes: bytes.1 },
        ))
    }

    /// Compares with what it should be: one of some count_rules.
    ///
    /// # Errors
    /// It is none of them: the figures that differ, and no others.
    pub(super) fn matches_one_of(self, count_rules: &[Self]) -> Result<(), String> {
        let mut said = String::new();
        for &expected in count_rules {
            let Some((claimed, expected)) = self.differences(expected) else { return Ok(()) };
            said += &if said.is_empty() {
                format!("claims {claimed} instead of {expected}")
            } else {
                format!(", or {claimed} instead of {expected}")
            };
        }
        Err(said)
    }
}

impl fmt::Display for ReportedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, others, bytes } = *self;
        let figures =
            [(files, "files"), (directories, "directories"), (others, "others"), (bytes, "bytes")];
        let known: Vec<String> = figures
            .into_iter()
            .filter_map(|(number, noun)| Some(format!("{} {noun}", number?)))
            .collect();
        match known.split_last() {
            None => f.write_str("nothing"),
            Some((last, [])) => f.write_str(last),
            Some((last, before)) => write!(f, "{} and {last}", before.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_claim_is_told_by_what_is_wrong_with_it() {
        let claimed = ReportedCounts {
            files: Some(48_431),
            directories: Some(3),
            others: Some(0),
            bytes: Some(12),
        };
        assert_eq!(claimed.to_string(), "48431 files, 3 directories, 0 others and 12 bytes");
        assert_eq!(claimed.matches_one_of(&[claimed]), Ok(()));
        let expected = ReportedCounts { files: Some(48_432), bytes: Some(13), ..claimed };
        let wrong = claimed.matches_one_of(&[expected]).unwrap_err();
        assert_eq!(wrong, "claims 48431 files and 12 bytes instead of 48432 files and 13 bytes");
    }

    #[test]
    fn one_of_several_definitions_is_enough() {
        let [five, six, seven] = [5, 6, 7].map(ReportedCounts::bytes);
        assert_eq!(six.matches_one_of(&[five, six]), Ok(()));
        let wrong = seven.matches_one_of(&[five, six]).unwrap_err();
        assert_eq!(wrong, "claims 7 bytes instead of 5 bytes, or 7 bytes instead of 6 bytes");
        // What is not told is no agreement.
        assert!(ReportedCounts::default().matches_one_of(&[five]).unwrap_err().contains("nothing"));
    }
}
