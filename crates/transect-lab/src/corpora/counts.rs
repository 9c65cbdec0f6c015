//! What a tree comes to.

use std::fmt;

use super::corpus::Corpus;

/// What a tree comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeCounts {
    /// Regular files.
    pub files: u64,
    /// Directories below the root.
    pub directories: u64,
    /// Anything else: a corpus has none.
    pub others: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

impl TreeCounts {
    /// What a definition says.
    pub(super) fn of(corpus: &Corpus) -> Self {
        let Corpus { files, directories, bytes, .. } = *corpus;
        Self { files, directories, others: 0, bytes }
    }
}

impl fmt::Display for TreeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, others, bytes } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes")?;
        if *others > 0 { write!(f, " and {others} other entries") } else { Ok(()) }
    }
}
