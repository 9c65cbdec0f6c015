//! Checks that a corpus fits into the free space of a file system.

use std::path::Path;

use super::corpus::{Content, Corpus};
use super::counts::{FreeSpace, SpaceNeeded};
use super::plan::Step;
use super::target::TargetPaths;
use crate::harness::error::cannot;

/// Smallest allocation of a directory or small file, in bytes: the block size of most file systems.
const BLOCK: u64 = 4096;

/// Bytes of a directory per name: the longest name of a corpus and its record, in half-empty blocks.
const ENTRY: u64 = 64;

/// Bytes of an inode on file systems that take inodes from free space, such as XFS. Ext4 reserves them in
/// advance.
const INODE: u64 = 512;

impl Corpus {
    pub fn space_needed(&self) -> SpaceNeeded {
        let inodes = self.files + self.directories + 1;
        let texts = match self.content {
            Content::Text => {
                let length = |step| if let Step::File { length, .. } = step { length } else { 0 };
                self.plan().map(|step| length(step).next_multiple_of(BLOCK)).sum()
            }
            // Windows makes files sparse only on request, which the standard library does not make.
            Content::Sparse if cfg!(windows) => self.bytes + self.files * BLOCK,
            Content::Sparse => 0,
        };
        SpaceNeeded {
            bytes: texts + (self.directories + 1) * BLOCK + inodes * (ENTRY + INODE),
            inodes,
        }
    }
}

/// Checks that a corpus fits at `dir`, which need not exist.
pub fn check_free_space(corpus: &Corpus, dir: &Path) -> Result<(), String> {
    let parent = TargetPaths::of(dir)?.parent;
    let free = free_space(&parent).map_err(cannot("ask for the free space of", &parent))?;
    let needed = corpus.space_needed();
    if needed.fits(free) {
        return Ok(());
    }
    let (name, dir) = (&corpus.name, dir.display());
    Err(format!("cannot create corpus '{name}' in '{dir}': it needs {needed}; {free}"))
}

#[cfg(unix)]
pub fn free_space(folder: &Path) -> std::io::Result<FreeSpace> {
    let stat = rustix::fs::statvfs(folder)?;
    // File systems that create inodes on demand report a total of 0.
    let inodes = (stat.f_files > 0).then_some(stat.f_favail);
    Ok(FreeSpace { bytes: Some(stat.f_bavail.saturating_mul(stat.f_frsize)), inodes })
}

/// Returns unknown free space: it is not queried on this system.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> std::io::Result<FreeSpace> {
    Ok(FreeSpace { bytes: None, inodes: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora::find;

    #[test]
    fn fits_is_exact_to_the_byte_and_inode() {
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
    fn space_needed_text_counts_length_sparse_does_not() {
        let (flat, users) = (find("flat-1000").unwrap(), find("users").unwrap());
        assert!(flat.space_needed().bytes > flat.bytes);
        assert_eq!(flat.space_needed().inodes, 1001);
        assert_eq!(cfg!(windows), users.space_needed().bytes > users.bytes);
        assert!(cfg!(windows) || users.space_needed().bytes < users.bytes / 50);
        assert_eq!(users.space_needed().inodes, 2_200_001);
    }
}
