//! What changed on a subvolume of Btrfs since an earlier time, without reading the rest.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::io::Errno;

use crate::linux::{GetdentsReader, StatCall, btrfs_info};
use crate::settings::ReaderSettings;

use super::super::btrfs;
use super::{directory, settle};

/// The inodes of a subvolume that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BtrfsChanges {
    /// The device number of the subvolume. It may differ when it is mounted again.
    pub device: u64,
    /// The inode numbers of files and directories, in ascending order. A directory changes when an entry is added to it,
    /// removed from it or renamed in it; a file also when another name leads to it. Deleted ones are missing.
    pub inodes: Vec<u64>,
    /// The generation to find later changes from.
    pub generation: u64,
}

/// Returns the current generation of the Btrfs that a directory is on. Changes from now on are in this generation
/// or a later one.
///
/// # Errors
/// It is not on a Btrfs; the kernel is older than Linux 5.10; the system's error.
pub fn btrfs_generation(directory: &Path) -> io::Result<u64> {
    let info = btrfs_info(File::open(directory)?.as_fd());
    let info = info.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOTTY) => io::Error::new(io::ErrorKind::Unsupported, "it is not on a Btrfs"),
        _ => error,
    })?;
    Ok(info.generation)
}

/// Returns what changed on the subvolume that a directory is on since [`btrfs_generation`] returned `since`. Some changes
/// of the time before that may be among them. Takes as long as reading the parts of the tree that are new.
///
/// A generation belongs to one file system: the caller must know that it is the same one, and the same subvolume
/// ([`file_system_identity`](crate::linux::file_system_identity) differs otherwise).
///
/// # Errors
/// The directory is not on a Btrfs; this process may not list every directory of it, or lacks `CAP_SYS_ADMIN`;
/// `since` is in the future, as the file system was replaced by an earlier state; the system's error.
pub fn btrfs_changes(directory: &Path, since: u64) -> io::Result<BtrfsChanges> {
    // Changes that are found now may be found again, but none is missed.
    let generation = btrfs_generation(directory)?;
    if since > generation {
        let text = format!("it is at generation {generation}, before {since}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = directory::open(&mut live, directory, true)?;
    settle(&found.root)?;
    let inodes = btrfs::changed_after(found.root.as_fd(), since.saturating_sub(1))?;
    Ok(BtrfsChanges { device: found.id.device, inodes, generation })
}
