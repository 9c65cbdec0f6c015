//! Entry counts of a tree.

use std::fmt;

use super::corpus::Corpus;

/// Entry counts and total length of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeCounts {
    /// Number of regular files.
    pub files: u64,
    /// Number of directories below the root.
    pub directories: u64,
    /// Number of other entries: 0 in a corpus other than `odd`.
    pub others: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

/// Entries created so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateProgress {
    /// Number of regular files.
    pub files: u64,
    /// Number of directories below the root.
    pub directories: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

impl TreeCounts {
    /// Returns the counts that a definition states.
    pub(super) fn of(corpus: &Corpus) -> Self {
        let Corpus { files, directories, bytes, .. } = *corpus;
        Self { files, directories, others: corpus.others(), bytes }
    }
}

impl fmt::Display for TreeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, others, bytes } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes")?;
        if *others > 0 { write!(f, " and {others} other entries") } else { Ok(()) }
    }
}
