//! Directories of mounted volumes, on Linux: from the tables as far as they are right, else as every other
//! reader lists them.
//!
//! A directory in the tables is *doubtful* if it changed since reading began (`ext4/mounted.rs`, `btrfs/mod.rs`), or if
//! something is mounted on it or on one of its entries. A doubtful directory is opened by its path, and
//! what is below it is found in the tables again if it is still at the same place. So the result is that
//! of a walk that began at the same time.
//!
//! A walk shows only what this process may see. So the tables are read only for a process that may list
//! every directory.

#[cfg(test)]
mod btrfs_tests;
mod changes;
mod device;
mod directory;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use transect_sys::linux::{GetdentsReader, ListingHandle, StatCall, mounts};
use transect_sys::{Batch, Fault, FieldMask, FileId, Reader, ReaderKind, ReaderSettings, Want};

use super::index::VolumeIndex;
use super::open_volume::{LiveDirectory, OpenVolume, Place, TableDirectory};
use super::shared::OpenVolumes;
use super::threads::Effort;
use super::{btrfs, ext4};
pub(super) use changes::{changes_below, generation};
use directory::MountedDirectory;

/// The kernel's times of changes lag behind the clock by up to a tick: 10 ms at most.
const CLOCK_LAG: Duration = Duration::from_millis(20);

/// Reads what the tables do not have.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) reader: GetdentsReader,
    volumes: OpenVolumes,
}

/// Checks whether the tables of the volume that a directory is on can be read, without reading them. Returns the
/// reader for them, and whether the directory is the top of the volume.
pub(super) fn probe(directory: &Path) -> io::Result<(ReaderKind, bool)> {
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = directory::open(&mut live, directory, false)?;
    let top = match found.reader {
        ReaderKind::Btrfs => {
            btrfs::check(found.root.as_fd())?;
            btrfs::ROOT
        }
        _ => {
            ext4::mounted::check(&device::open(found.id.device, &found.mount)?)?;
            u64::from(ext4::ROOT)
        }
    };
    Ok((found.reader, found.id.inode == top))
}

/// Marks directories on which something is mounted, and those that contain such an entry: the tables show
/// what is below the mount.
fn doubt_covered(
    root: &ListingHandle,
    index: &VolumeIndex,
    doubtful: &mut [bool],
) -> io::Result<()> {
    let root = path_of_open(root)?;
    for mount in mounts()? {
        let Ok(below) = mount.point.strip_prefix(&root) else { continue };
        let mut at = index.top;
        let mut names = below.iter().peekable();
        while let (Some(directory), Some(name)) = (at, names.next()) {
            at = index.subdirectory(directory, name.as_encoded_bytes());
            if names.peek().is_none() {
                doubtful[directory as usize] = true;
                at.into_iter().for_each(|covered| doubtful[covered as usize] = true);
            }
        }
    }
    Ok(())
}

fn path_of_open(directory: &ListingHandle) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd()))
}

/// Tables, and for each directory whether they may not have what it holds now.
type Tables = (VolumeIndex, Vec<bool>);

/// Reads the tables of the volume that a directory is on.
fn read(directory: MountedDirectory, effort: Effort) -> io::Result<OpenVolume> {
    let MountedDirectory { root, id, mount, reader } = directory;
    let (index, doubtful) = match reader {
        ReaderKind::Btrfs => read_btrfs(&root, id, effort)?,
        _ => read_ext4(&root, id, &device::open(id.device, &mount)?, effort)?,
    };
    Ok(OpenVolume::mounted(index, root, doubtful))
}

fn read_ext4(
    root: &ListingHandle,
    id: FileId,
    device: &File,
    effort: Effort,
) -> io::Result<Tables> {
    let begin = SystemTime::now() - CLOCK_LAG;
    let since = begin.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    let inode = u32::try_from(id.inode).map_err(|_| io::ErrorKind::InvalidData)?;
    let settle = || settle(root);
    let written = || device::sectors_written(id.device);
    let about = ext4::mounted::Mounted {
        since,
        device: id.device,
        root: inode,
        settle: &settle,
        written: &written,
    };
    let (index, mut doubtful) = ext4::mounted::read(device, effort, &about)?;
    doubt_covered(root, &index, &mut doubtful)?;
    Ok((index, doubtful))
}

fn read_btrfs(root: &ListingHandle, id: FileId, effort: Effort) -> io::Result<Tables> {
    let settle = || settle(root);
    let (directory, FileId { device, inode }) = (root.as_fd(), id);
    let about = btrfs::Mounted { directory, device, root: inode, settle: &settle };
    let (index, mut doubtful) = btrfs::read(&about, effort)?;
    doubt_covered(root, &index, &mut doubtful)?;
    Ok((index, doubtful))
}

/// Waits until the file system of a directory is written.
fn settle(directory: &ListingHandle) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| rustix::fs::syncfs(directory.as_fd()))?)
}

/// Returns the names that lead from the root to what is `steps` below a directory of the tables.
pub(super) fn names_to<'a>(
    index: &'a VolumeIndex,
    directory: u32,
    steps: &[&'a OsStr],
) -> Vec<&'a OsStr> {
    let above = index.steps_to(directory).unwrap_or_default();
    let mut names: Vec<&OsStr> = above.into_iter().map(OsStr::from_bytes).collect();
    names.extend(steps.iter().filter(|step| step.as_encoded_bytes() != b"."));
    if names.is_empty() {
        names.push(OsStr::new("."));
    }
    names
}

fn path_of(names: &[&OsStr]) -> PathBuf {
    names.iter().filter(|name| name.as_encoded_bytes() != b".").collect()
}

impl Live {
    pub(super) fn new(volumes: OpenVolumes, settings: ReaderSettings) -> Self {
        Self { reader: GetdentsReader::new(StatCall::Statx, settings), volumes }
    }

    /// Opens a directory of a mounted volume as a root.
    pub(super) fn open_root(&mut self, path: &Path, follow: bool) -> Result<Place, Fault> {
        let Self { reader, volumes } = self;
        let read = |effort| {
            let directory = directory::open(reader, path, follow)?;
            volumes.note_reader(directory.reader);
            read(directory, effort)
        };
        let volume = match volumes.get(path, read) {
            Ok(volume) => volume,
            Err(error) if volumes.fall_back(&error) => {
                let handle = self.reader.open_root(path, follow)?;
                return Ok(live(None, handle, PathBuf::new()));
            }
            Err(error) => return Err(Fault::Failed(error)),
        };
        self.top(&volume, |reader| reader.open_root(path, follow))
    }

    /// Opens what is below an open directory.
    pub(super) fn open(
        &mut self,
        anchor: &LiveDirectory,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<Place, Fault> {
        let handle = self.reader.open(&anchor.handle, steps, follow)?;
        self.place(anchor.volume.as_ref(), handle, anchor.path.join(path_of(steps)))
    }

    /// Opens what is below a directory of the tables, where they may be wrong.
    pub(super) fn open_unsure(
        &mut self,
        volume: &Arc<OpenVolume>,
        from: u32,
        steps: &[&OsStr],
    ) -> Result<Place, Fault> {
        let Some(mounted) = &volume.mounted else { return Err(Fault::Vanished) };
        let names = names_to(&volume.index, from, steps);
        let handle = self.reader.open(&mounted.root, &names, false)?;
        self.place(Some(volume), handle, path_of(&names))
    }

    /// Returns to the tables, if an open directory is in them and at the same place.
    fn place(
        &mut self,
        volume: Option<&Arc<OpenVolume>>,
        mut handle: ListingHandle,
        path: PathBuf,
    ) -> Result<Place, Fault> {
        let Some(volume) = volume else { return Ok(live(None, handle, path)) };
        let found = self.reader.stat_open(&mut handle, FieldMask::FILE_ID)?;
        if found.device() != Some(volume.index.about.device) {
            return self.other_volume(handle, found.file_id());
        }
        let is_same = |directory: &u32| {
            let steps = volume.index.steps_to(*directory);
            !volume.is_doubtful(*directory)
                && steps.is_some_and(|steps| {
                    steps.into_iter().eq(path.iter().map(OsStr::as_encoded_bytes))
                })
        };
        let inode = found.inode();
        match inode.and_then(|inode| volume.index.find_directory(inode)).filter(is_same) {
            Some(directory) => Ok(Place::table(volume, directory)),
            None => Ok(live(Some(Arc::clone(volume)), handle, path)),
        }
    }

    /// Opens a directory on another volume than that of its parent. The top of a subvolume of Btrfs is on the same
    /// mount, and in tables of its own. What is mounted is listed in the usual way, and so is a subvolume that
    /// cannot be read.
    fn other_volume(&mut self, handle: ListingHandle, id: Option<FileId>) -> Result<Place, Fault> {
        let is_subvolume =
            |id: &FileId| id.inode == btrfs::ROOT && !GetdentsReader::may_be_mount_point(&handle);
        let id = id.filter(|id| is_subvolume(id) && !self.volumes.one_file_system());
        let tables = id.and_then(|id| read_btrfs(&handle, id, self.volumes.effort()).ok());
        let Some((index, doubtful)) = tables else {
            return Ok(live(None, handle, PathBuf::new()));
        };
        let volume = Arc::new(OpenVolume::mounted(index, handle, doubtful));
        self.top(&volume, |reader| match &volume.mounted {
            Some(mounted) => reader.open(&mounted.root, &[OsStr::new(".")], false),
            None => Err(Fault::Vanished),
        })
    }

    /// Returns the directory that a volume was read for, which `open` opens if the tables may not have it.
    fn top(
        &mut self,
        volume: &Arc<OpenVolume>,
        open: impl FnOnce(&mut GetdentsReader) -> Result<ListingHandle, Fault>,
    ) -> Result<Place, Fault> {
        match volume.index.top.filter(|&top| !volume.is_doubtful(top)) {
            Some(top) => Ok(Place::table(volume, top)),
            None => {
                let handle = open(&mut self.reader)?;
                self.place(Some(volume), handle, PathBuf::new())
            }
        }
    }

    /// Queries the entries of a directory of the tables that the tables do not have.
    pub(super) fn fill(&mut self, table: &TableDirectory, batch: &mut Batch, want: &Want) {
        let TableDirectory { volume, directory } = table;
        let Some(mounted) = &volume.mounted else { return };
        let wanted = want.entries | want.directories | want.opportunistic;
        let mut parent: Option<Result<ListingHandle, Fault>> = None;
        batch.query_unknown(|name, _| {
            let reader = &mut self.reader;
            let parent = parent.get_or_insert_with(|| {
                reader.open(&mounted.root, &names_to(&volume.index, *directory, &[]), false)
            });
            let found = match parent {
                Ok(parent) => self.reader.stat(parent, &[name], wanted, false),
                Err(_) => Err(Fault::Vanished),
            };
            // Whether it is still listed, the tables do not show.
            found.inspect_err(|_| mounted.doubt(*directory))
        });
    }
}

fn live(volume: Option<Arc<OpenVolume>>, handle: ListingHandle, path: PathBuf) -> Place {
    Place::Live(Box::new(LiveDirectory { volume, handle, path }))
}
