//! What a corpus takes, and what a file system has.

use std::path::Path;

use super::corpus::{Content, Corpus};
use super::error::{CorpusError, Operation};
use super::plan::Step;
use super::space::{FreeSpace, SpaceNeeded};
use super::target::TargetPaths;

/// Bytes that a directory or a small file occupies at least: the block of nearly every file system.
const BLOCK: u64 = 4096;

/// Bytes of a directory for one name: the longest name here, and what stands beside it, in blocks
/// that are half empty.
const ENTRY: u64 = 64;

/// Bytes of an inode where inodes are taken from the free space. XFS makes them so large; ext4 has
/// set them apart before.
const INODE: u64 = 512;

impl Corpus {
    /// Returns what the corpus takes.
    pub fn space_needed(&self) -> SpaceNeeded {
        let inodes = self.files + self.directories + 1;
        let texts = match self.content {
            Content::Text => self.plan().map(|step| blocks_of(&step)).sum(),
            // Windows makes a file sparse only for those who ask, which the standard library does not.
            Content::Sparse if cfg!(windows) => self.bytes + self.files * BLOCK,
            Content::Sparse => 0,
        };
        SpaceNeeded {
            bytes: texts + (self.directories + 1) * BLOCK + inodes * (ENTRY + INODE),
            inodes,
        }
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
pub fn free_space_at(dir: &Path) -> Result<FreeSpace, CorpusError> {
    free_space_in(&TargetPaths::of(dir)?.parent)
}

/// Checks that a corpus has room where `dir` is or would be.
///
/// # Errors
/// [`CorpusError::NotEnoughSpace`] if it has not; otherwise as [`free_space_at`].
pub fn check_free_space(corpus: &Corpus, dir: &Path) -> Result<(), CorpusError> {
    let (needed, free) = (corpus.space_needed(), free_space_at(dir)?);
    if needed.fits(free) {
        return Ok(());
    }
    Err(CorpusError::NotEnoughSpace { name: corpus.name, path: dir.to_owned(), needed, free })
}

fn free_space_in(parent: &Path) -> Result<FreeSpace, CorpusError> {
    free_space(parent).map_err(CorpusError::failed(Operation::QueryFreeSpace, parent))
}

/// Returns what is free where a folder is.
///
/// # Errors
/// Whatever the system says.
#[cfg(unix)]
pub fn free_space(folder: &Path) -> std::io::Result<FreeSpace> {
    let told = rustix::fs::statvfs(folder)?;
    // Who makes inodes when they are needed tells that there are none.
    let inodes = (told.f_files > 0).then_some(told.f_favail);
    Ok(FreeSpace { bytes: Some(told.f_bavail.saturating_mul(told.f_frsize)), inodes })
}

/// Returns what is free where a folder is: the system is not asked.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> std::io::Result<FreeSpace> {
    Ok(FreeSpace { bytes: None, inodes: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora::find;

    #[test]
    fn room_is_enough_or_too_little_to_the_last_byte_and_inode() {
        let needed = SpaceNeeded { bytes: 100, inodes: 10 };
        for (bytes, inodes, enough) in [
            (Some(100), Some(10), true),
            (Some(99), Some(10), false),
            (Some(100), Some(9), false),
            (Some(100), None, true),
            (Some(99), None, false),
            (None, None, true),
        ] {
            assert_eq!(needed.fits(FreeSpace { bytes, inodes }), enough, "{bytes:?} {inodes:?}");
        }
    }

    #[test]
    fn text_takes_its_length_and_sparse_files_do_not() {
        let (flat, users) = (find("flat-1000").unwrap(), find("users").unwrap());
        assert!(flat.space_needed().bytes > flat.bytes);
        assert_eq!(flat.space_needed().inodes, 1001);
        assert_eq!(cfg!(windows), users.space_needed().bytes > users.bytes);
        assert!(cfg!(windows) || users.space_needed().bytes < users.bytes / 50);
        assert_eq!(users.space_needed().inodes, 2_200_001);
    }
}
