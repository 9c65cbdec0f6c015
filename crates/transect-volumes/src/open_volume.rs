//! A volume that was read, and where in it a directory is.

use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use transect_sys::Attributes;
#[cfg(target_os = "linux")]
use transect_sys::linux::ListingHandle;

use super::index::{Found, VolumeIndex};
use super::inode_table::Role;

#[derive(Debug)]
pub(super) struct OpenVolume {
    pub(super) index: VolumeIndex,
    /// Set if the kernel has it mounted.
    #[cfg(target_os = "linux")]
    pub(super) mounted: Option<MountedVolume>,
}

/// What the tables of a mounted volume do not have.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct MountedVolume {
    /// The directory that the walk begins at.
    pub(super) root: ListingHandle,
    /// For each directory in the tables, whether they may not have what it holds now.
    pub(super) doubtful: Vec<AtomicBool>,
}

/// A directory of a volume.
#[derive(Debug)]
pub(super) enum Place {
    Table(TableDirectory),
    #[cfg(target_os = "linux")]
    Live(Box<LiveDirectory>),
}

/// A directory in the tables.
#[derive(Debug)]
pub(super) struct TableDirectory {
    pub(super) volume: Arc<OpenVolume>,
    pub(super) directory: u32,
}

/// An open directory that is listed in the usual way.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct LiveDirectory {
    /// The volume whose tables may have directories below this one; `None` on other volumes.
    pub(super) volume: Option<Arc<OpenVolume>>,
    pub(super) handle: ListingHandle,
    /// The path from the root.
    pub(super) path: PathBuf,
}

impl Place {
    pub(super) fn table(volume: &Arc<OpenVolume>, directory: u32) -> Self {
        Self::Table(TableDirectory { volume: Arc::clone(volume), directory })
    }

    /// Returns the volume whose tables have this directory, or may have some below it.
    #[cfg(target_os = "linux")]
    pub(super) fn volume(&self) -> Option<&Arc<OpenVolume>> {
        match self {
            Self::Table(table) => Some(&table.volume),
            Self::Live(live) => live.volume.as_ref(),
        }
    }
}

#[cfg(target_os = "linux")]
impl MountedVolume {
    /// Marks a directory: it is opened by its path from now on.
    pub(super) fn doubt(&self, directory: u32) {
        self.doubtful[directory as usize].store(true, Ordering::Relaxed);
    }
}

impl OpenVolume {
    /// Returns a volume that does not change.
    pub(super) fn image(index: VolumeIndex) -> Self {
        Self {
            index,
            #[cfg(target_os = "linux")]
            mounted: None,
        }
    }

    /// Returns a volume that the kernel has mounted. `root` is the directory that the walk begins at; for each directory in
    /// the tables, `doubtful` says whether they may not have what it holds now.
    #[cfg(target_os = "linux")]
    pub(super) fn mounted(index: VolumeIndex, root: ListingHandle, doubtful: Vec<bool>) -> Self {
        let doubtful = doubtful.into_iter().map(AtomicBool::new).collect();
        Self { index, mounted: Some(MountedVolume { root, doubtful }) }
    }

    /// Returns whether the tables may not have what a directory holds now.
    pub(super) fn is_doubtful(&self, directory: u32) -> bool {
        #[cfg(target_os = "linux")]
        return self
            .mounted
            .as_ref()
            .is_some_and(|mounted| mounted.doubtful[directory as usize].load(Ordering::Relaxed));
        #[cfg(not(target_os = "linux"))]
        {
            let _ = directory;
            false
        }
    }

    /// Returns the attributes of a file; unknown ones, except for its number, if the tables may not have them.
    ///
    /// Always inline: otherwise, they are copied once more.
    #[inline(always)]
    pub(super) fn attributes_or_unknown(&self, inode: u32) -> Attributes {
        let is_certain = |found: &Found<'_>| match found.record.role() {
            Role::Directory(number) => {
                // A walk opens it soon.
                self.index.prefetch_directory(number);
                !self.is_doubtful(number)
            }
            _ => true,
        };
        match self.index.trusted(inode).filter(is_certain) {
            Some(found) => self.index.attributes_of(inode, &found),
            None => {
                let mut unknown = Attributes::default();
                unknown.set_inode(self.index.inode_number(inode));
                unknown
            }
        }
    }

    /// Goes from a directory through names. If the tables may be wrong about one, returns the directory
    /// before it, and the number of names that lead there.
    pub(super) fn step(&self, from: u32, steps: &[&OsStr]) -> Result<u32, (u32, usize)> {
        let mut at = from;
        for (done, step) in
            steps.iter().enumerate().filter(|(_, step)| step.as_encoded_bytes() != b".")
        {
            let next = self.index.subdirectory(at, step.as_encoded_bytes());
            let next = next.filter(|&next| !self.is_doubtful(at) && !self.is_doubtful(next));
            at = next.ok_or((at, done))?;
        }
        Ok(at)
    }
}
