//! The reader for every system: `std::fs`, by path.
//!
//! It is the baseline for the faster readers, and the default on systems without a reader of their
//! own. Its limits: a path longer than the system allows is an error (`name_too_long`), and if a
//! parent is renamed its children vanish.

use std::ffi::OsStr;
use std::fs::{DirEntry, Metadata, ReadDir};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::Batch;
use crate::fault::{Fault, FaultKind, Result};
use crate::reader::{ListStatus, Reader, Want};
use crate::volume::Volume;

/// A directory, identified by its path. `std` keeps it open only while it is listed.
#[derive(Debug)]
pub struct PathHandle {
    path: PathBuf,
    volume: Volume,
    /// The remaining entries, from opening the directory to its end.
    listing: Mutex<Option<Box<ReadDir>>>,
}

/// Reads with the standard library only.
#[derive(Debug, Default)]
pub struct PortableReader(());

impl PortableReader {
    /// Returns a reader, which needs no preparation.
    pub fn new() -> Self {
        Self::default()
    }
}

fn open(path: PathBuf, volume: Volume) -> std::io::Result<PathHandle> {
    let listing = loop {
        match std::fs::read_dir(&path) {
            // The standard library does not retry this call.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            opened => break opened?,
        }
    };
    Ok(PathHandle { path, volume, listing: Mutex::new(Some(Box::new(listing))) })
}

fn fault_of_entry(error: std::io::Error) -> Fault {
    match FaultKind::of(&error) {
        FaultKind::NotFound | FaultKind::NotADirectory | FaultKind::Loop => Fault::Vanished,
        _ => Fault::Failed(error),
    }
}

fn join(anchor: &PathHandle, steps: &[&OsStr]) -> PathBuf {
    let mut path = anchor.path.clone();
    path.extend(steps);
    path
}

/// Queries a path, or the target of a link if `follow` is set and it exists. Returns whether it was
/// followed.
fn query(path: &Path, want: FieldMask, follow: bool) -> std::io::Result<(Attributes, bool)> {
    let target = if follow { std::fs::metadata(path).ok() } else { None };
    let followed = target.is_some();
    let metadata = target.map_or_else(|| std::fs::symlink_metadata(path), Ok)?;
    let mut attributes = attributes_of(&metadata);
    fill_missing(path, want, followed, &mut attributes)?;
    Ok((attributes, followed))
}

impl Reader for PortableReader {
    type Handle = PathHandle;

    fn stat_root(&mut self, path: &Path, want: FieldMask, follow: bool) -> Result<Attributes> {
        let answer = verbatim(path).and_then(|path| query(&path, want, follow));
        answer.map(|(attributes, _)| attributes).map_err(Fault::Failed)
    }

    fn open_root(&mut self, path: &Path, _follow: bool) -> Result<PathHandle> {
        let handle = verbatim(path).and_then(|path| open(path, Volume::default()));
        handle.map_err(Fault::Failed)
    }

    fn open(&mut self, anchor: &PathHandle, steps: &[&OsStr], follow: bool) -> Result<PathHandle> {
        let path = join(anchor, steps);
        // `read_dir` follows links, but a directory that was replaced by a link must not be
        // entered.
        if !follow && !std::fs::symlink_metadata(&path).map_err(fault_of_entry)?.is_dir() {
            return Err(Fault::Vanished);
        }
        open(path, anchor.volume).map_err(fault_of_entry)
    }

    fn stat_open(&mut self, handle: &mut PathHandle, want: FieldMask) -> Result<Attributes> {
        // Opening already followed the link at the end of this path.
        let (attributes, _) = query(&handle.path, want, true).map_err(fault_of_entry)?;
        if attributes.device() != handle.volume.device {
            handle.volume = volume_of(&handle.path, attributes.device());
        }
        Ok(attributes)
    }

    fn stat(
        &mut self,
        anchor: &PathHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes> {
        let answer = query(&join(anchor, steps), want, follow);
        answer.map(|(attributes, _)| attributes).map_err(fault_of_entry)
    }

    fn list(&mut self, handle: &PathHandle, batch: &mut Batch, _: &Want) -> Result<ListStatus> {
        batch.clear();
        let mut listing = handle.listing.lock().unwrap_or_else(PoisonError::into_inner);
        while batch.has_room() {
            match listing.as_mut().and_then(Iterator::next) {
                None => {
                    *listing = None;
                    return Ok(ListStatus::End);
                }
                Some(Ok(entry)) => {
                    batch.push(&entry.file_name(), Attributes::of_type(type_of(&entry)));
                }
                Some(Err(error)) => {
                    *listing = None;
                    return Err(Fault::Failed(error));
                }
            }
        }
        Ok(ListStatus::More)
    }

    fn fill(&mut self, handle: &PathHandle, batch: &mut Batch, want: &Want) {
        for index in 0..batch.entries.len() {
            let entry = &batch.entries[index];
            let file_type = entry.attributes.file_type();
            let unknown = file_type == FileType::Unknown;
            let follow = want.follow && (unknown || file_type == FileType::Symlink);
            let wanted =
                if file_type == FileType::Directory { want.directories } else { want.entries };
            if !unknown && !follow && entry.attributes.known().contains(wanted) {
                continue;
            }
            // The target may be a directory, which needs its identity to detect loops.
            let wanted = if follow { wanted | FieldMask::FILE_ID } else { wanted };
            match query(&handle.path.join(batch.name(entry)), wanted, follow) {
                Err(error) => batch.set_fault(index, fault_of_entry(error)),
                Ok((attributes, followed)) => {
                    let entry = &mut batch.entries[index];
                    entry.attributes = attributes;
                    entry.followed = file_type == FileType::Symlink && followed;
                    if file_type == FileType::Symlink && !followed {
                        // Wine distinguishes links only in listings.
                        entry.attributes.set_file_type(file_type);
                    }
                    entry.drop_unless_directory();
                }
            }
        }
    }

    fn shares_queries(_: &PathHandle) -> bool {
        true
    }

    fn volume(handle: &PathHandle) -> Volume {
        handle.volume
    }
}

/// Returns the volume of a path. On Linux as the native reader does, so both skip the same file
/// systems.
#[cfg(target_os = "linux")]
fn volume_of(path: &Path, device: Option<u64>) -> Volume {
    let volume = crate::linux::file_system_of(path).map(|(_, volume)| volume);
    Volume { device, ..volume.unwrap_or_default() }
}

#[cfg(not(target_os = "linux"))]
fn volume_of(_: &Path, device: Option<u64>) -> Volume {
    Volume { device, ..Volume::default() }
}

/// Returns the path by which a root is found, whatever characters its names contain.
#[cfg(windows)]
fn verbatim(path: &Path) -> std::io::Result<PathBuf> {
    crate::windows::verbatim(path)
}

#[cfg(not(windows))]
fn verbatim(path: &Path) -> std::io::Result<PathBuf> {
    Ok(path.to_owned())
}

/// Adds the wanted fields that `std` lacks: on Windows the allocated size and the file id.
#[cfg(windows)]
use crate::windows::fill_missing;

#[cfg(not(windows))]
fn fill_missing(_: &Path, _: FieldMask, _: bool, _: &mut Attributes) -> std::io::Result<()> {
    Ok(())
}

/// Returns the type of an entry from its directory record.
fn type_of(entry: &DirEntry) -> FileType {
    let file_type = entry.file_type().map_or(FileType::Unknown, file_type_of);
    // `std` does not report the kind of a reparse point.
    #[cfg(windows)]
    if file_type == FileType::Directory
        && entry.metadata().is_ok_and(|metadata| {
            use std::os::windows::fs::MetadataExt;
            metadata.file_attributes() & 0x400 != 0
        })
    {
        return crate::windows::listed_type(&entry.path()).unwrap_or(file_type);
    }
    file_type
}

fn file_type_of(file_type: std::fs::FileType) -> FileType {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file_type.is_block_device() {
            return FileType::Block;
        }
        if file_type.is_char_device() {
            return FileType::Char;
        }
        if file_type.is_fifo() {
            return FileType::Fifo;
        }
        if file_type.is_socket() {
            return FileType::Socket;
        }
    }
    if file_type.is_symlink() {
        FileType::Symlink
    } else if file_type.is_dir() {
        FileType::Directory
    } else if file_type.is_file() {
        FileType::File
    } else {
        FileType::Unknown
    }
}

#[cfg(unix)]
pub(crate) fn attributes_of(metadata: &Metadata) -> Attributes {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds: i64, nanoseconds: i64| {
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    };
    let mut attributes = Attributes::of_type(file_type_of(metadata.file_type()));
    attributes.set_size(metadata.size());
    attributes.set_allocated(metadata.blocks().saturating_mul(512));
    attributes.set_inode(metadata.ino());
    attributes.set_device(metadata.dev());
    attributes.set_nlink(u32::try_from(metadata.nlink()).unwrap_or(u32::MAX));
    attributes.set_mode(metadata.mode() as u16);
    attributes.set_uid(metadata.uid());
    attributes.set_gid(metadata.gid());
    attributes.set_mtime(time(metadata.mtime(), metadata.mtime_nsec()));
    attributes.set_ctime(time(metadata.ctime(), metadata.ctime_nsec()));
    attributes.set_atime(time(metadata.atime(), metadata.atime_nsec()));
    attributes.set_known(Attributes::set_btime, metadata.created().ok().and_then(nanoseconds));
    attributes
}

/// `std` reports neither file id nor allocated size here: they stay absent.
#[cfg(not(unix))]
pub(crate) fn attributes_of(metadata: &Metadata) -> Attributes {
    let mut attributes = Attributes::of_type(file_type_of(metadata.file_type()));
    attributes.set_size(metadata.len());
    attributes.set_known(Attributes::set_mtime, metadata.modified().ok().and_then(nanoseconds));
    attributes.set_known(Attributes::set_atime, metadata.accessed().ok().and_then(nanoseconds));
    attributes.set_known(Attributes::set_btime, metadata.created().ok().and_then(nanoseconds));
    attributes
}

fn nanoseconds(time: std::time::SystemTime) -> Option<i64> {
    match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|nanos| -nanos),
    }
}
