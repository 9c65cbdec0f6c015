//! Entry counts of a tree, the space that it needs, and space that is free.

use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCounts {
    pub files: u64,
    /// Number of directories below the root.
    pub directories: u64,
    /// Number of other entries: 0 in a corpus.
    pub others: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

impl fmt::Display for TreeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, others, bytes } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes")?;
        if *others > 0 { write!(f, " and {others} other entries") } else { Ok(()) }
    }
}

/// Space that a corpus needs: an estimate, rather too high.
///
/// Text files take their lengths in blocks of 4 KiB. All corpora take a block for each directory, 64
/// bytes for each name and 512 bytes for each inode. Sparse files take nothing more, except their full
/// lengths on Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceNeeded {
    pub bytes: u64,
    pub inodes: u64,
}

impl SpaceNeeded {
    pub(super) fn fits(&self, free: FreeSpace) -> bool {
        // Unknown counts as enough.
        free.bytes.is_none_or(|free| self.bytes <= free)
            && free.inodes.is_none_or(|free| self.inodes <= free)
    }
}

impl fmt::Display for SpaceNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes and {} inodes", self.bytes, self.inodes)
    }
}

/// Free space of a file system, for the current user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes; `None` on Windows, where it is not queried.
    pub bytes: Option<u64>,
    /// Inodes; `None` if the file system has no fixed number (Btrfs), and on Windows.
    pub inodes: Option<u64>,
}

impl fmt::Display for FreeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.inodes) {
            (Some(bytes), Some(inodes)) => write!(f, "{bytes} bytes and {inodes} inodes are free"),
            (Some(bytes), None) => write!(f, "{bytes} bytes are free"),
            (None, _) => write!(f, "it is not known what is free"),
        }
    }
}
