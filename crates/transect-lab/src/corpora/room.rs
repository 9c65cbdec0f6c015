//! What a corpus takes, and what a file system has.

use std::fmt;
use std::path::Path;

use super::create::Place;
use super::definition::{Content, Definition};
use super::error::{CorpusError, Operation};
use super::plan::Step;

/// Bytes that a directory or a small file occupies at least: the block of nearly every file system.
const BLOCK: u64 = 4096;

/// Bytes of a directory for one name: the longest name here, and what stands beside it, in blocks
/// that are half empty.
const ENTRY: u64 = 64;

/// Bytes of an inode where inodes are taken from the free space. XFS makes them so large; ext4 has
/// set them apart before.
const INODE: u64 = 512;

/// What a corpus takes, estimated rather too high.
///
/// Text files: their lengths in blocks of 4 KiB. All corpora: a block for each directory, 64 bytes
/// for each name, 512 bytes for each inode. Sparse files take no more than that, but on Windows their
/// lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// Bytes of free space.
    pub bytes: u64,
    /// Inodes, that of the root included.
    pub inodes: u64,
}

impl Needs {
    fn are_met(&self, room: Room) -> bool {
        // What is not known cannot be too little.
        room.bytes.is_none_or(|free| self.bytes <= free)
            && room.inodes.is_none_or(|free| self.inodes <= free)
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes and {} inodes", self.bytes, self.inodes)
    }
}

/// What is free in a file system for whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Room {
    /// Bytes; `None` where the system is not asked (Windows).
    pub bytes: Option<u64>,
    /// Inodes; `None` where the file system has no fixed number of them (Btrfs), and on Windows.
    pub inodes: Option<u64>,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.inodes) {
            (Some(bytes), Some(inodes)) => write!(f, "{bytes} bytes and {inodes} inodes are free"),
            (Some(bytes), None) => write!(f, "{bytes} bytes are free"),
            (None, Some(inodes)) => write!(f, "{inodes} inodes are free"),
            (None, None) => write!(f, "it is not known what is free"),
        }
    }
}

impl Definition {
    /// Returns what the corpus takes.
    pub fn needs(&self) -> Needs {
        let inodes = self.files + self.directories + 1;
        let texts = match self.content {
            Content::Text => self.plan().map(|step| blocks_of(&step)).sum(),
            // Windows makes a file sparse only for those who ask, which the standard library does not.
            Content::Sparse if cfg!(windows) => self.bytes + self.files * BLOCK,
            Content::Sparse => 0,
        };
        Needs { bytes: texts + (self.directories + 1) * BLOCK + inodes * (ENTRY + INODE), inodes }
    }
}

fn blocks_of(step: &Step) -> u64 {
    match step {
        Step::File { length, .. } => length.next_multiple_of(BLOCK),
        Step::Directory { .. } => 0,
    }
}

/// Returns what is free where `dir` is or would be.
///
/// # Errors
/// If `dir` cannot be the folder of a corpus (see [`create`](super::create())), or the system does
/// not tell.
pub fn room(dir: &Path) -> Result<Room, CorpusError> {
    room_in(&Place::of(dir)?.parent)
}

/// Checks that a corpus has room where `dir` is or would be.
///
/// # Errors
/// [`CorpusError::NoRoom`] if it has not; otherwise as [`room`].
pub fn check_room(definition: &Definition, dir: &Path) -> Result<(), CorpusError> {
    let (needs, room) = (definition.needs(), room(dir)?);
    if needs.are_met(room) {
        return Ok(());
    }
    Err(CorpusError::NoRoom { name: definition.name, path: dir.to_owned(), needs, room })
}

fn room_in(parent: &Path) -> Result<Room, CorpusError> {
    free(parent).map_err(CorpusError::failed(Operation::AskRoom, parent))
}

/// Returns what is free where a folder is.
///
/// # Errors
/// Whatever the system says.
#[cfg(unix)]
pub fn free(folder: &Path) -> std::io::Result<Room> {
    let told = rustix::fs::statvfs(folder)?;
    // Who makes inodes when they are needed tells that there are none.
    let inodes = (told.f_files > 0).then_some(told.f_favail);
    Ok(Room { bytes: Some(told.f_bavail.saturating_mul(told.f_frsize)), inodes })
}

/// Returns what is free where a folder is: the system is not asked.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn free(_: &Path) -> std::io::Result<Room> {
    Ok(Room { bytes: None, inodes: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora::find;

    #[test]
    fn room_is_enough_or_too_little_to_the_last_byte_and_inode() {
        let needs = Needs { bytes: 100, inodes: 10 };
        for (bytes, inodes, enough) in [
            (Some(100), Some(10), true),
            (Some(99), Some(10), false),
            (Some(100), Some(9), false),
            (Some(100), None, true),
            (Some(99), None, false),
            (None, None, true),
        ] {
            assert_eq!(needs.are_met(Room { bytes, inodes }), enough, "{bytes:?} {inodes:?}");
        }
    }

    #[test]
    fn text_takes_its_length_and_sparse_files_do_not() {
        let (flat, users) = (find("flat-1000").unwrap(), find("users").unwrap());
        assert!(flat.needs().bytes > flat.bytes);
        assert_eq!(flat.needs().inodes, 1001);
        assert_eq!(cfg!(windows), users.needs().bytes > users.bytes);
        assert!(cfg!(windows) || users.needs().bytes < users.bytes / 50);
        assert_eq!(users.needs().inodes, 2_200_001);
    }
}
