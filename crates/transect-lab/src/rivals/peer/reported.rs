//! The counts that a peer reports, and their comparison with the expected ones.

use std::fmt;

use serde::Deserialize;

use crate::harness::inventory::Inventory;

/// The counts that a peer reports, by its own definition. `None`: its output does not contain the count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedCounts {
    /// Regular files, each name counted.
    pub files: Option<u64>,
    pub directories: Option<u64>,
    /// Other entries: links, pipes, sockets, devices.
    pub others: Option<u64>,
    /// Sum of lengths; the peer's rule defines of which entries.
    pub bytes: Option<u64>,
}

impl ReportedCounts {
    pub(super) fn all(counts: [u64; 4]) -> Self {
        let [files, directories, others, bytes] = counts.map(Some);
        Self { files, directories, others, bytes }
    }

    pub(super) fn bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }
    }

    pub(super) fn files(files: u64) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// Returns the counts that differ from others.
    fn other_than(self, others: Self) -> Self {
        let differing = |count: Option<u64>, other| count.filter(|_| count != other);
        Self {
            files: differing(self.files, others.files),
            directories: differing(self.directories, others.directories),
            others: differing(self.others, others.others),
            bytes: differing(self.bytes, others.bytes),
        }
    }

    /// Checks that these counts equal one of several expectations.
    ///
    /// # Errors
    /// They equal none; the message contains only the counts that differ.
    pub(super) fn matches_one_of(self, count_rules: &[Self]) -> Result<(), String> {
        if count_rules.contains(&self) {
            return Ok(());
        }
        let against = |&expected: &Self| {
            format!("{} instead of {}", self.other_than(expected), expected.other_than(self))
        };
        let differences: Vec<String> = count_rules.iter().map(against).collect();
        Err(format!("claims {}", differences.join(", or ")))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CountRule {
    /// Files, directories and others, every name, and the lengths of files.
    EveryEntry,
    /// The same, and the lengths of all but directories, each file once, as `transect scan` has them.
    EveryFileOnce,
    /// Regular files; no directories, and no lengths, though the peer queries those of files.
    Files,
    /// The lengths of files, directories and links, every name.
    EveryLength,
    /// The lengths of files and links, every name.
    LengthsWithoutDirectories,
    /// The lengths of files, each once, and of links, every name.
    FilesOnceAndLinks,
    /// The lengths of files and links, each once, and 4096 bytes a directory.
    #[serde(rename = "once_and_4096_per_directory")]
    OnceAnd4096PerDirectory,
}

impl CountRule {
    pub(super) fn of(self, inventory: &Inventory) -> ReportedCounts {
        let Inventory { files, directories, symlinks, others, .. } = inventory;
        let once = files.distinct_bytes + symlinks.distinct_bytes + others.distinct_bytes;
        let all = |bytes: u64| {
            let others = symlinks.names + others.names;
            ReportedCounts::all([files.names, directories.names, others, bytes])
        };
        match self {
            Self::EveryEntry => all(files.bytes),
            Self::EveryFileOnce => all(once),
            Self::Files => ReportedCounts::files(files.names),
            Self::EveryLength => {
                ReportedCounts::bytes(inventory.parts().iter().map(|part| part.bytes).sum())
            }
            Self::LengthsWithoutDirectories => ReportedCounts::bytes(files.bytes + symlinks.bytes),
            Self::FilesOnceAndLinks => ReportedCounts::bytes(files.distinct_bytes + symlinks.bytes),
            Self::OnceAnd4096PerDirectory => ReportedCounts::bytes(once + 4096 * directories.names),
        }
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
    fn mismatch_message_contains_differing_counts_only() {
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
    fn counts_match_any_rule() {
        let [five, six, seven] = [5, 6, 7].map(ReportedCounts::bytes);
        assert_eq!(six.matches_one_of(&[five, six]), Ok(()));
        let wrong = seven.matches_one_of(&[five, six]).unwrap_err();
        assert_eq!(wrong, "claims 7 bytes instead of 5 bytes, or 7 bytes instead of 6 bytes");
        // Missing counts do not match.
        assert!(ReportedCounts::default().matches_one_of(&[five]).unwrap_err().contains("nothing"));
    }
}
