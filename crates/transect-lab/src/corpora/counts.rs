//! What a tree comes to.

use std::fmt;

use super::definition::Definition;

/// What a tree comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Regular files.
    pub files: u64,
    /// Directories below the root.
    pub directories: u64,
    /// Anything else: a corpus has none.
    pub others: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

impl Found {
    /// What a definition says.
    pub(super) fn of(definition: &Definition) -> Self {
        let Definition { files, directories, bytes, .. } = *definition;
        Self { files, directories, others: 0, bytes }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, others, bytes } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes")?;
        if *others > 0 { write!(f, " and {others} other entries") } else { Ok(()) }
    }
}
