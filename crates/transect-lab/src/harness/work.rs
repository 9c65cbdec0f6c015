//! The work that all methods do: the same for every language and system.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a walk found.
///
/// Regular files; directories, the root included; the lengths of regular files, every name counted;
/// what could not be read. Symbolic links are neither followed nor counted, other types not counted:
/// what every language can do without asking more than the article did.
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
