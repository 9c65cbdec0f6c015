//! Directories of mounted volumes, on Linux: from the tables as far as they are right, else as every other
//! reader lists them.
//!
//! A directory in the tables is *doubtful* if it changed since reading began (`ext4/mounted.rs`), or if
//! something is mounted on it or on one of its entries. A doubtful directory is opened by its path, and
//! what is below it is found in the tables again if it is still at the same place. So the result is that
//! of a walk that began at the same time.
//!
//! A walk shows only what this process may see. So the tables are read only for a process that may list
//! every directory.

mod device;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::attributes::{FieldMask, FileType};
use crate::batch::{Batch, Entry, Verdict};
use crate::fault::Fault;
use crate::linux::{GetdentsReader, ListingHandle, StatCall, mounts};
use crate::name::from_bytes;
use crate::reader::{Reader, Want};
use crate::settings::ReaderSettings;

use super::ext4;
use super::index::VolumeIndex;
use super::open_volume::{LiveDirectory, MountedVolume, OpenVolume, Place, TableDirectory};
use super::shared::OpenVolumes;
use super::threads::Effort;
use device::MountedDevice;

/// The kernel's times of changes lag behind the clock by up to a tick: 10 ms at most.
const CLOCK_LAG: Duration = Duration::from_millis(20);

/// Reads what the tables do not have.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) reader: GetdentsReader,
}

/// Checks whether the tables of the volume that a directory is on can be read, without reading them. Returns
/// whether the directory is the top of the volume.
///
/// # Errors
/// Why not.
pub(super) fn probe(directory: &Path) -> io::Result<bool> {
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = device::find(&mut live, directory, false)?;
    ext4::mounted::check(&found.file)?;
    Ok(found.inode == ext4::ROOT)
}

/// Marks directories on which something is mounted, and those that contain such an entry: the tables show
/// what is below the mount.
fn doubt_covered(mounted: &MountedVolume, index: &VolumeIndex) -> io::Result<()> {
    let root = std::fs::read_link(format!("/proc/self/fd/{}", mounted.root.as_fd().as_raw_fd()))?;
    for mount in mounts()? {
        let Ok(below) = mount.point.strip_prefix(&root) else { continue };
        let mut at = index.top();
        let mut names = below.iter().peekable();
        while let (Some(directory), Some(name)) = (at, names.next()) {
            at = index.subdirectory(directory, name.as_encoded_bytes());
            if names.peek().is_none() {
                mounted.doubt(directory);
                at.into_iter().for_each(|covered| mounted.doubt(covered));
            }
        }
    }
    Ok(())
}

/// Reads the tables of the volume that a directory is on.
fn read(
    live: &mut GetdentsReader,
    directory: &Path,
    follow: bool,
    effort: Effort,
) -> io::Result<OpenVolume> {
    let MountedDevice { root, file, number, inode } = device::find(live, directory, follow)?;
    let begin = SystemTime::now() - CLOCK_LAG;
    let since = begin.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    let settle = || Ok(rustix::io::retry_on_intr(|| rustix::fs::syncfs(root.as_fd()))?);
    let about = ext4::mounted::Mounted { since, device: number, root: inode, settle: &settle };
    let (index, changed) = ext4::mounted::read(&file, effort, &about)?;
    let doubtful = changed.into_iter().map(AtomicBool::new).collect();
    let mounted = MountedVolume { root, doubtful };
    doubt_covered(&mounted, &index)?;
    Ok(OpenVolume { index, mounted: Some(mounted) })
}

/// Returns the names that lead from the root to what is `steps` below a directory of the tables.
pub(super) fn names_to<'a>(
    index: &'a VolumeIndex,
    directory: u32,
    steps: &[&'a OsStr],
) -> Vec<&'a OsStr> {
    let above = index.steps_to(directory).unwrap_or_default();
    let mut names: Vec<&OsStr> = above.into_iter().map(from_bytes).collect();
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
    pub(super) fn new(settings: ReaderSettings) -> Self {
        Self { reader: GetdentsReader::new(StatCall::Statx, settings) }
    }

    /// Opens a directory of a mounted volume as a root.
    pub(super) fn open_root(
        &mut self,
        volumes: &OpenVolumes,
        path: &Path,
        follow: bool,
    ) -> Result<Place, Fault> {
        let reader = &mut self.reader;
        let volume = match volumes.get(path, |effort| read(reader, path, follow, effort)) {
            Ok(volume) => volume,
            Err(error) if volumes.fall_back(&error) => {
                let handle = self.reader.open_root(path, follow)?;
                return Ok(live(None, handle, PathBuf::new()));
            }
            Err(error) => return Err(Fault::Failed(error)),
        };
        match volume.index.top().filter(|&top| !volume.is_doubtful(top)) {
            Some(top) => Ok(Place::table(&volume, top)),
            None => {
                let handle = self.reader.open_root(path, follow)?;
                self.place(Some(&volume), handle, PathBuf::new())
            }
        }
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
        if found.device() != Some(volume.index.device()) {
            return Ok(live(None, handle, path));
        }
        let inode = found.inode().and_then(|inode| u32::try_from(inode).ok());
        let is_same = |directory: &u32| {
            let steps = volume.index.steps_to(*directory);
            !volume.is_doubtful(*directory)
                && steps.is_some_and(|steps| {
                    steps.into_iter().eq(path.iter().map(OsStr::as_encoded_bytes))
                })
        };
        match inode.and_then(|inode| volume.index.directory(inode)).filter(is_same) {
            Some(directory) => Ok(Place::table(volume, directory)),
            None => Ok(live(Some(Arc::clone(volume)), handle, path)),
        }
    }

    /// Queries the entries of a directory of the tables that the tables do not have.
    pub(super) fn fill(&mut self, table: &TableDirectory, batch: &mut Batch, want: &Want) {
        let TableDirectory { volume, directory } = table;
        let Some(mounted) = &volume.mounted else { return };
        let wanted = want.entries | want.directories | want.opportunistic;
        let mut parent: Option<Result<ListingHandle, Fault>> = None;
        for at in 0..batch.entries.len() {
            if batch.entries[at].attributes.file_type() != FileType::Unknown {
                continue;
            }
            let reader = &mut self.reader;
            let parent = parent.get_or_insert_with(|| {
                reader.open(&mounted.root, &names_to(&volume.index, *directory, &[]), false)
            });
            let name = batch.name(&batch.entries[at]);
            let found = match parent {
                Ok(parent) => self.reader.stat(parent, &[name], wanted, false),
                Err(_) => Err(Fault::Vanished),
            };
            match found {
                Ok(found) => {
                    let Entry { verdict, attributes, .. } = &mut batch.entries[at];
                    *attributes = found;
                    if *verdict == Verdict::DescendOnly && found.file_type() != FileType::Directory
                    {
                        *verdict = Verdict::Drop;
                    }
                }
                Err(fault) => {
                    // Whether it is still listed, the tables do not show.
                    mounted.doubt(*directory);
                    batch.set_fault(at, fault);
                }
            }
        }
    }
}

fn live(volume: Option<Arc<OpenVolume>>, handle: ListingHandle, path: PathBuf) -> Place {
    Place::Live(Box::new(LiveDirectory { volume, handle, path }))
}
