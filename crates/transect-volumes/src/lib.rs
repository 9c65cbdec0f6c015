//! Reads whole volumes: the tables of a file system, instead of one directory after the other.
//!
//! ```text
//! image or device ─► tables of attributes and names, in any order ─► VolumeIndex ─► Reader
//! ```
//!
//! A volume is read when its root is opened. From then on the reader answers from memory, and
//! the walk above it is the same as for every other reader.
//!
//! If the root is a directory of a mounted volume, on Linux some directories are read as every other reader does it:
//! those that changed meanwhile, and where something else is mounted. See `mounted/mod.rs`. On Windows, all are read from
//! the tables: see `mounted_ntfs.rs`.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(clippy::infallible_destructuring_match, reason = "on Linux there are other places")
)]

#[cfg(any(windows, test))]
mod aligned;
#[cfg(target_os = "linux")]
mod btrfs;
mod changes;
mod contents;
mod disk;
mod error;
mod ext4;
mod index;
mod inode_table;
#[cfg(target_os = "linux")]
mod mounted;
#[cfg(windows)]
mod mounted_ntfs;
mod ntfs;
mod open_volume;
mod partitions;
mod shared;
mod source;
mod subdirectories;
mod threads;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect_sys::{
    Attributes, Batch, Fault, FieldMask, ListStatus, Reader, ReaderKind, ReaderSettings, Volume,
    Want,
};
#[cfg(target_os = "linux")]
use transect_sys::{FileType, linux::GetdentsReader};

pub use changes::VolumeChanges;
pub use disk::{partitions_in, read_journal, reader_of};
use error::{invalid, same_error, unsupported};
use index::{Position, VolumeIndex};
#[cfg(target_os = "linux")]
use mounted::Live;
pub use ntfs::change_journal::{JournalChange, JournalCounts, reasons};
use open_volume::{OpenVolume, Place, TableDirectory};
pub use shared::OpenVolumes;
use threads::Effort;

/// What reading the tables of a volume would show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// The reader for the volume.
    pub reader: ReaderKind,
    /// The path stands for all of the volume, not for a directory in it.
    pub is_whole: bool,
    /// Why the volume is walked nevertheless, unless its reader is selected.
    pub why_walked: Option<&'static str>,
}

/// The reader for directories of mounted volumes. That of ext4 also reads Btrfs.
pub const MOUNTED: ReaderKind = if cfg!(windows) { ReaderKind::Ntfs } else { ReaderKind::Ext4 };

/// Checks whether the tables of a volume can be read, without reading them: of the image, device or
/// partition at a path, or of the mounted volume that a directory is on.
///
/// # Errors
/// Why not: there is no volume with ext4, ext3, ext2, NTFS or (mounted) Btrfs; its device cannot be read; this process
/// may not list every directory of it; or the path is that of a directory on another system than Linux and Windows.
pub fn probe(path: &Path) -> io::Result<Probe> {
    #[cfg(target_os = "linux")]
    if path.is_dir() {
        let (reader, is_whole) = mounted::probe(path)?;
        return Ok(Probe { reader, is_whole, why_walked: None });
    }
    #[cfg(windows)]
    if path.is_dir() {
        let is_whole = mounted_ntfs::probe(path)?;
        let why_walked = Some("reading the tables of a mounted volume was not verified on Windows");
        return Ok(Probe { reader: ReaderKind::Ntfs, is_whole, why_walked });
    }
    match reader_of(path) {
        Some(reader) => Ok(Probe { reader, is_whole: true, why_walked: None }),
        None => {
            let text = "it is not an image or a device with ext4, ext3, ext2 or NTFS";
            Err(unsupported(text))
        }
    }
}

/// Returns the generation of the volume that a directory is the top of: changes from now on can be found later with
/// [`changes_below`]. Waits until the volume is written. `None` if changes cannot be found: see there.
pub fn generation(top: &Path) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return mounted::generation(top).ok();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = top;
        None
    }
}

/// Returns what changed below the top directory of a volume since [`generation`] returned `since`. Some changes of the time
/// before that may be among them.
///
/// The caller must know that it is the same volume
/// ([`file_system_identity`](transect_sys::host::file_system_identity) differs otherwise).
///
/// # Errors
/// The directory is not the top of a subvolume of Btrfs, or something is mounted below it; this process may not list every
/// directory of it, or lacks `CAP_SYS_ADMIN`; `since` is in the future, as the file system was replaced by an
/// earlier state; the system's error.
pub fn changes_below(top: &Path, since: u64) -> io::Result<VolumeChanges> {
    #[cfg(target_os = "linux")]
    return mounted::changes_below(top, since);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (top, since);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A directory of a volume.
#[derive(Debug)]
pub struct VolumeHandle(Place);

/// Reads volumes with one kind of file system: images and devices, on Linux directories of mounted volumes with
/// ext4, ext3, ext2 or Btrfs, on Windows those with NTFS.
#[derive(Debug)]
pub struct VolumeReader {
    kind: ReaderKind,
    volumes: OpenVolumes,
    /// The volume read last, so that it is read once for its attributes and its entries.
    last: Option<(PathBuf, Arc<OpenVolume>)>,
    /// The directory that is being listed, and how far.
    at: Position,
    /// The inodes of the entries listed last.
    listed: Vec<u32>,
    /// Reads what the tables do not have.
    #[cfg(target_os = "linux")]
    live: Live,
}

impl VolumeReader {
    /// Returns a reader of this kind that shares volumes with others of the same walk.
    pub fn new(kind: ReaderKind, volumes: OpenVolumes, settings: ReaderSettings) -> Self {
        #[cfg(not(target_os = "linux"))]
        let _ = settings;
        Self {
            #[cfg(target_os = "linux")]
            live: Live::new(volumes.clone(), settings),
            kind,
            volumes,
            last: None,
            at: Position::default(),
            listed: Vec::new(),
        }
    }

    fn open_image(&mut self, path: &Path) -> Result<Arc<OpenVolume>, Fault> {
        if let Some((last, volume)) = &self.last
            && last == path
        {
            return Ok(Arc::clone(volume));
        }
        let kind = self.kind;
        let read = |effort| Ok(OpenVolume::image(disk::read(path, kind, effort)?));
        let volume = self.volumes.get(path, read).map_err(Fault::Failed)?;
        self.last = Some((path.to_owned(), Arc::clone(&volume)));
        Ok(volume)
    }

    /// Returns whether it reads directories of mounted volumes, too.
    #[cfg(target_os = "linux")]
    fn reads_mounted(&self) -> bool {
        self.kind != ReaderKind::Ntfs
    }

    /// Begins to list a directory.
    fn begin(&mut self, place: Place) -> VolumeHandle {
        match &place {
            Place::Table(TableDirectory { volume, directory }) => {
                self.at = volume.index.begin(*directory);
            }
            #[cfg(target_os = "linux")]
            Place::Live(_) => {}
        }
        VolumeHandle(place)
    }
}

/// Reads a volume in memory and lists all of it; returns the number of entries. For fuzzing.
///
/// # Errors
/// The volume cannot be read.
pub fn count_entries(bytes: &[u8]) -> io::Result<usize> {
    count_in(&disk::read_volume(&bytes, None, Effort { threads: 1, all_times: true })?)
}

/// Reads items as a tree search of Btrfs returns them, and lists the tree; returns the number of entries. For
/// fuzzing.
///
/// # Errors
/// There is no top directory.
#[cfg(target_os = "linux")]
pub fn count_btrfs_entries(items: &[u8]) -> io::Result<usize> {
    count_in(&btrfs::read_items(items)?)
}

/// Reads the change journal in memory, of a volume or the copy of one; returns the number of records, read or damaged. For
/// fuzzing.
///
/// # Errors
/// There is no journal.
pub fn count_changes(bytes: &[u8]) -> io::Result<u64> {
    let counts = disk::read_journal_in(&bytes, |_| std::ops::ControlFlow::Continue(()))?;
    Ok(counts.changes + counts.nameless + counts.damaged)
}

fn count_in(index: &VolumeIndex) -> io::Result<usize> {
    let root = index.top.ok_or(io::ErrorKind::InvalidData)?;
    let (mut left, mut count) = (vec![root], 0);
    while let Some(directory) = left.pop() {
        let mut at = index.begin(directory);
        while let Some((name, inode)) = index.next(&mut at) {
            count += 1;
            drop(index.attributes(inode));
            left.extend(index.subdirectory(directory, name));
        }
    }
    Ok(count)
}

impl Reader for VolumeReader {
    type Handle = VolumeHandle;

    fn prepare(&mut self, want: &Want) {
        self.volumes.prepare(want);
    }

    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        #[cfg(target_os = "linux")]
        if self.reads_mounted() && path.is_dir() {
            return self.live.reader.stat_root(path, want, follow);
        }
        let _ = (want, follow);
        let volume = self.open_image(path)?;
        let attributes = volume.index.attributes(volume.index.about.root).map_err(Fault::Failed)?;
        // What the volume claims to be its top may be a file.
        volume.index.top.ok_or_else(no_top)?;
        Ok(attributes)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<VolumeHandle, Fault> {
        #[cfg(target_os = "linux")]
        if self.reads_mounted() && path.is_dir() {
            let place = self.live.open_root(path, follow)?;
            self.last = place.volume().map(|volume| (path.to_owned(), Arc::clone(volume)));
            return Ok(self.begin(place));
        }
        let _ = follow;
        let volume = self.open_image(path)?;
        let directory = volume.index.top.ok_or_else(no_top)?;
        Ok(self.begin(Place::table(&volume, directory)))
    }

    fn open(
        &mut self,
        anchor: &VolumeHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<VolumeHandle, Fault> {
        let from = match &anchor.0 {
            Place::Table(from) => from,
            #[cfg(target_os = "linux")]
            Place::Live(anchor) => {
                let place = self.live.open(anchor, steps, follow)?;
                return Ok(self.begin(place));
            }
        };
        let _ = follow;
        let place = match from.volume.step(from.directory, steps) {
            Ok(directory) => Place::table(&from.volume, directory),
            #[cfg(target_os = "linux")]
            Err((at, done)) if from.volume.mounted.is_some() => {
                self.live.open_unsure(&from.volume, at, &steps[done..])?
            }
            Err(_) => return Err(no_directory()),
        };
        Ok(self.begin(place))
    }

    fn stat_open(
        &mut self,
        handle: &mut VolumeHandle,
        want: FieldMask,
    ) -> Result<Attributes, Fault> {
        let _ = want;
        match &mut handle.0 {
            Place::Table(TableDirectory { volume, directory }) => {
                let inode = volume.index.inode_of(*directory);
                volume.index.attributes(inode).map_err(Fault::Failed)
            }
            #[cfg(target_os = "linux")]
            Place::Live(live) => self.live.reader.stat_open(&mut live.handle, want),
        }
    }

    fn stat(
        &mut self,
        anchor: &VolumeHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        let _ = (want, follow);
        let TableDirectory { volume, directory } = match &anchor.0 {
            Place::Table(from) => from,
            #[cfg(target_os = "linux")]
            Place::Live(live) => {
                return self.live.reader.stat(&live.handle, steps, want, follow);
            }
        };
        let index = &volume.index;
        let Some((last, above)) =
            steps.split_last().filter(|(last, _)| last.as_encoded_bytes() != b".")
        else {
            return index.attributes(index.inode_of(*directory)).map_err(Fault::Failed);
        };
        if let Ok(at) = volume.step(*directory, above)
            && !volume.is_doubtful(at)
        {
            let mut position = index.begin(at);
            while let Some((name, inode)) = index.next(&mut position) {
                if name == last.as_encoded_bytes() {
                    #[cfg(target_os = "linux")]
                    if volume.mounted.is_some()
                        && volume.attributes_or_unknown(inode).file_type() == FileType::Unknown
                    {
                        break;
                    }
                    return index.attributes(inode).map_err(Fault::Failed);
                }
            }
        }
        #[cfg(target_os = "linux")]
        if let Some(mounted) = &volume.mounted {
            let names = mounted::names_to(index, *directory, steps);
            return self.live.reader.stat(&mounted.root, &names, want, follow);
        }
        Err(Fault::Vanished)
    }

    fn list(
        &mut self,
        handle: &VolumeHandle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        let _ = want;
        let TableDirectory { volume, directory } = match &handle.0 {
            Place::Table(from) => from,
            #[cfg(target_os = "linux")]
            Place::Live(live) => return self.live.reader.list(&live.handle, batch, want),
        };
        batch.clear();
        self.listed.clear();
        let mut status = ListStatus::More;
        while batch.has_room() && status == ListStatus::More {
            match volume.index.next(&mut self.at) {
                Some((name, inode)) => {
                    volume.index.prefetch(inode);
                    self.listed.push(inode);
                    batch.push_checked(&name_of(name), Attributes::default());
                }
                None => status = ListStatus::End,
            }
        }
        // Records of consecutive names can be far apart: by now, all of them are on their way.
        for (attributes, &inode) in batch.attributes_mut().zip(&self.listed) {
            *attributes = volume.attributes_or_unknown(inode);
        }
        // The entries before the error are a batch of their own: an error stands for a batch.
        match volume.index.error(*directory) {
            Some(_) if status == ListStatus::End && !batch.is_empty() => Ok(ListStatus::More),
            Some(error) if status == ListStatus::End => Err(Fault::Failed(same_error(error))),
            _ => Ok(status),
        }
    }

    fn fill(&mut self, handle: &VolumeHandle, batch: &mut Batch, want: &Want) {
        let _ = want;
        let table = match &handle.0 {
            Place::Table(from) => from,
            #[cfg(target_os = "linux")]
            Place::Live(live) => return self.live.reader.fill(&live.handle, batch, want),
        };
        #[cfg(target_os = "linux")]
        if table.volume.mounted.is_some() {
            return self.live.fill(table, batch, want);
        }
        batch.query_unknown(|_, known| {
            let inode = known.inode().map_or(0, |inode| inode as u32);
            table.volume.index.attributes(inode).map_err(Fault::Failed)
        });
    }

    fn shares_queries(handle: &VolumeHandle) -> bool {
        match &handle.0 {
            Place::Table(_) => false,
            #[cfg(target_os = "linux")]
            Place::Live(live) => GetdentsReader::shares_queries(&live.handle),
        }
    }

    fn volume(handle: &VolumeHandle) -> Volume {
        match &handle.0 {
            Place::Table(TableDirectory { volume, .. }) => {
                let mut found = Volume::default();
                found.device = Some(volume.index.about.device);
                found
            }
            #[cfg(target_os = "linux")]
            Place::Live(live) => GetdentsReader::volume(&live.handle),
        }
    }

    fn may_be_mount_point(handle: &VolumeHandle) -> bool {
        match &handle.0 {
            Place::Table(_) => false,
            #[cfg(target_os = "linux")]
            Place::Live(live) => GetdentsReader::may_be_mount_point(&live.handle),
        }
    }
}

/// Returns a name of a volume. What cannot be a name on this system is replaced.
fn name_of(bytes: &[u8]) -> Cow<'_, OsStr> {
    #[cfg(unix)]
    return Cow::Borrowed(std::os::unix::ffi::OsStrExt::from_bytes(bytes));
    #[cfg(not(unix))]
    match std::str::from_utf8(bytes) {
        Ok(name) => Cow::Borrowed(OsStr::new(name)),
        Err(_) => Cow::Owned(transect_sys::name_from_bytes(bytes.to_vec())),
    }
}

/// The error for a volume without a top directory.
fn no_top() -> Fault {
    Fault::Failed(invalid("its top is damaged: it is not a directory"))
}

/// The error for a directory that cannot be entered.
fn no_directory() -> Fault {
    let text = "another name leads to the same directory, or its inode is damaged";
    Fault::Failed(invalid(text))
}

#[cfg(test)]
mod fault_tests;
