//! Space that is needed, and space that is free.

use std::fmt;

/// What a corpus takes, estimated rather too high.
///
/// Text files: their lengths in blocks of 4 KiB. All corpora: a block for each directory, 64 bytes
/// for each name, 512 bytes for each inode. Sparse files take no more than that, but on Windows their
/// lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceNeeded {
    /// Bytes of free space.
    pub bytes: u64,
    /// Inodes, that of the root included.
    pub inodes: u64,
}

impl SpaceNeeded {
    pub(super) fn fits(&self, free: FreeSpace) -> bool {
        // What is not known cannot be too little.
        free.bytes.is_none_or(|free| self.bytes <= free)
            && free.inodes.is_none_or(|free| self.inodes <= free)
    }
}

impl fmt::Display for SpaceNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes and {} inodes", self.bytes, self.inodes)
    }
}

/// What is free in a file system for whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FreeSpace {
    /// Bytes; `None` where the system is not asked (Windows).
    pub bytes: Option<u64>,
    /// Inodes; `None` where the file system has no fixed number of them (Btrfs), and on Windows.
    pub inodes: Option<u64>,
}

impl fmt::Display for FreeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.inodes) {
            (Some(bytes), Some(inodes)) => write!(f, "{bytes} bytes and {inodes} inodes are free"),
            (Some(bytes), None) => write!(f, "{bytes} bytes are free"),
            (None, Some(inodes)) => write!(f, "{inodes} inodes are free"),
            (None, None) => write!(f, "it is not known what is free"),
        }
    }
}
