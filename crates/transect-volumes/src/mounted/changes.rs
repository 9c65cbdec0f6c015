//! What changed on a subvolume of Btrfs since an earlier time, without reading the rest.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use transect_sys::linux::{GetdentsReader, ListingHandle, StatCall, btrfs_info, mounts};
use transect_sys::{ReaderKind, ReaderSettings};

use super::super::btrfs;
use super::super::changes::VolumeChanges;
use super::super::error::unsupported;
use super::directory::MountedDirectory;
use super::{directory, path_of_open, settle};

/// Returns the generation from which on changes can be found: all later ones are in it or in later ones.
pub(in super::super) fn generation(top: &Path) -> io::Result<u64> {
    next_generation(&open_top(top)?.root)
}

/// Returns what changed on the subvolume that a directory is the top of since [`generation`] returned `since`. Takes as long as
/// reading the parts of the tree that are new.
pub(in super::super) fn changes_below(top: &Path, since: u64) -> io::Result<VolumeChanges> {
    let found = open_top(top)?;
    // Changes that are made before the search are found now, and again later.
    let generation = next_generation(&found.root)?;
    if since > generation {
        let text = format!("it is at generation {generation}, before {since}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let inodes = btrfs::changed_after(found.root.as_fd(), since.saturating_sub(1))?;
    Ok(VolumeChanges { device: found.id.device, inodes, since, generation })
}

/// Writes everything that changed until now, and returns the first generation that later changes are in.
fn next_generation(directory: &ListingHandle) -> io::Result<u64> {
    let last_begun = btrfs_info(directory.as_fd())?.generation;
    // It is committed now, if it was not before.
    settle(directory)?;
    Ok(last_begun.saturating_add(1))
}

/// Opens the top directory of a subvolume.
fn open_top(path: &Path) -> io::Result<MountedDirectory> {
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = directory::open(&mut live, path, true)?;
    if found.reader != ReaderKind::Btrfs || found.id.inode != btrfs::ROOT {
        return Err(unsupported("it is not the top of a subvolume of Btrfs"));
    }
    if let Some(covering) = mounted_below(&found.root)? {
        return Err(unsupported(format!("'{}' is mounted below it", covering.display())));
    }
    Ok(found)
}

/// Returns where another file system is mounted below a directory.
fn mounted_below(directory: &ListingHandle) -> io::Result<Option<PathBuf>> {
    let path = path_of_open(directory)?;
    let mut points = mounts()?.into_iter().map(|mount| mount.point);
    Ok(points.find(|point| *point != path && point.starts_with(&path)))
}
