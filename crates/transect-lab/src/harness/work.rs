//! The work of a method: the same for every language and system.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The counts of a walk.
///
/// Hard links count once for each name. Symbolic links are neither followed nor counted; other types
/// are not counted. Every language can do this with the queries of the seed article.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories, the root included.
    pub directories: u64,
    /// Lengths of regular files, in bytes.
    pub bytes: u64,
    /// Entries and directories that could not be read.
    pub errors: u64,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, bytes, errors } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes, {errors} errors")
    }
}
