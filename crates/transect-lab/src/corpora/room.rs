//! What a corpus takes, and what a file system has.

use std::path::Path;

use super::definition::{Content, Definition};
use super::error::{CorpusError, Operation};
use super::plan::Step;
use super::space::{Needs, Room};
use super::target::Place;

/// Bytes that a directory or a small file occupies at least: the block of nearly every file system.
const BLOCK: u64 = 4096;

/// Bytes of a directory for one name: the longest name here, and what stands beside it, in blocks
/// that are half empty.
const ENTRY: u64 = 64;

/// Bytes of an inode where inodes are taken from the free space. XFS makes them so large; ext4 has
/// set them apart before.
const INODE: u64 = 512;

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
