//! Reads whole volumes: the tables of a file system, instead of one directory after the other.
//!
//! ```text
//! image or device ─► tables of attributes and names, in any order ─► VolumeIndex ─► Reader
//! ```
//!
//! A volume is read when its root is opened. From then on the reader answers from memory, and
//! the walk above it is the same as for every other reader.

mod error;
mod ext4;
mod index;
mod source;
mod threads;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::{Batch, Entry, Verdict};
use crate::fault::Fault;
use crate::reader::{ListStatus, Reader, Want};
use crate::registry::ReaderKind;
use crate::volume::Volume;

use error::{invalid, same_error};
use index::{Position, VolumeIndex};

/// A directory of a volume.
#[derive(Debug)]
pub struct VolumeHandle {
    index: Arc<VolumeIndex>,
    directory: u32,
}

/// Reads volumes with ext4, ext3 or ext2: images and devices.
#[derive(Debug, Default)]
pub struct VolumeReader {
    /// The volume read last, so that it is read once for its attributes and its entries.
    last: Option<(PathBuf, Arc<VolumeIndex>)>,
    /// The directory that is being listed, and how far.
    at: Position,
}

impl VolumeReader {
    /// Returns a reader.
    pub fn new() -> Self {
        Self::default()
    }

    fn open_volume(&mut self, path: &Path) -> Result<Arc<VolumeIndex>, Fault> {
        if let Some((last, index)) = &self.last
            && last == path
        {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(read_volume(path).map_err(Fault::Failed)?);
        self.last = Some((path.to_owned(), Arc::clone(&index)));
        Ok(index)
    }

    fn handle(&mut self, index: Arc<VolumeIndex>, directory: u32) -> VolumeHandle {
        self.at = index.begin(directory);
        VolumeHandle { index, directory }
    }
}

/// Returns the reader for the volume in a regular file or a device; `None` if there is none, or it cannot
/// be read.
pub fn reader_of(path: &Path) -> Option<ReaderKind> {
    let found = path.metadata().ok()?.file_type();
    #[cfg(unix)]
    let is_device = std::os::unix::fs::FileTypeExt::is_block_device(&found);
    #[cfg(not(unix))]
    let is_device = false;
    // Nothing else is opened: a pipe would wait for its writer.
    (found.is_file() || is_device)
        .then(|| File::open(path).ok())
        .flatten()
        .filter(ext4::is_likely)
        .map(|_| ReaderKind::Ext4)
}

/// Reads the tables of the volume in a file.
fn read_volume(path: &Path) -> io::Result<VolumeIndex> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        let text = "it is a directory; this reader reads images and devices";
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    ext4::read(&file, std::thread::available_parallelism().map_or(1, usize::from).min(16))
}

/// Reads a volume in memory and lists all of it; returns the number of entries. For fuzzing.
///
/// # Errors
/// The volume cannot be read.
pub fn count_entries(bytes: &[u8]) -> io::Result<usize> {
    let index = ext4::read(bytes, 1)?;
    let root = index.directory(ext4::ROOT).ok_or(io::ErrorKind::InvalidData)?;
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

    fn stat_root(&mut self, path: &Path, _: FieldMask, _: bool) -> Result<Attributes, Fault> {
        self.open_volume(path)?.attributes(ext4::ROOT).map_err(Fault::Failed)
    }

    fn open_root(&mut self, path: &Path, _: bool) -> Result<VolumeHandle, Fault> {
        let index = self.open_volume(path)?;
        let root = index.directory(ext4::ROOT).ok_or_else(no_directory)?;
        Ok(self.handle(index, root))
    }

    fn open(
        &mut self,
        anchor: &VolumeHandle,
        steps: &[&OsStr],
        _: bool,
    ) -> Result<VolumeHandle, Fault> {
        let step = |at: u32, name: &&OsStr| {
            anchor.index.subdirectory(at, name.as_encoded_bytes()).ok_or_else(no_directory)
        };
        let directory = steps.iter().try_fold(anchor.directory, step)?;
        Ok(self.handle(Arc::clone(&anchor.index), directory))
    }

    fn stat_open(&mut self, handle: &mut VolumeHandle, _: FieldMask) -> Result<Attributes, Fault> {
        let inode = handle.index.inode_of(handle.directory);
        handle.index.attributes(inode).map_err(Fault::Failed)
    }

    fn stat(
        &mut self,
        anchor: &VolumeHandle,
        steps: &[&OsStr],
        _: FieldMask,
        _: bool,
    ) -> Result<Attributes, Fault> {
        let index = &anchor.index;
        let Some((last, above)) = steps.split_last() else {
            return index.attributes(index.inode_of(anchor.directory)).map_err(Fault::Failed);
        };
        let step = |at: u32, name: &&OsStr| {
            index.subdirectory(at, name.as_encoded_bytes()).ok_or(Fault::Vanished)
        };
        let mut at = index.begin(above.iter().try_fold(anchor.directory, step)?);
        while let Some((name, inode)) = index.next(&mut at) {
            if name == last.as_encoded_bytes() {
                return index.attributes(inode).map_err(Fault::Failed);
            }
        }
        Err(Fault::Vanished)
    }

    fn list(
        &mut self,
        handle: &VolumeHandle,
        batch: &mut Batch,
        _: &Want,
    ) -> Result<ListStatus, Fault> {
        batch.clear();
        let index = &handle.index;
        while batch.has_room() {
            let Some((name, inode)) = index.next(&mut self.at) else {
                return match index.error(handle.directory) {
                    None => Ok(ListStatus::End),
                    Some(error) => Err(Fault::Failed(same_error(error))),
                };
            };
            let attributes = index.attributes(inode).unwrap_or_else(|_| {
                let mut unknown = Attributes::default();
                unknown.set_inode(inode.into());
                unknown
            });
            batch.push(&name_of(name), attributes);
        }
        Ok(ListStatus::More)
    }

    fn fill(&mut self, handle: &VolumeHandle, batch: &mut Batch, _: &Want) {
        for at in 0..batch.entries.len() {
            let Entry { verdict, attributes, .. } = &mut batch.entries[at];
            if attributes.file_type() != FileType::Unknown {
                continue;
            }
            if *verdict == Verdict::DescendOnly {
                *verdict = Verdict::Drop;
            }
            let inode = attributes.inode().map_or(0, |inode| inode as u32);
            if let Err(error) = handle.index.attributes(inode) {
                batch.set_fault(at, Fault::Failed(error));
            }
        }
    }

    fn volume(handle: &VolumeHandle) -> Volume {
        Volume { device: Some(handle.index.device()), ..Volume::default() }
    }

    fn may_be_mount_point(_: &VolumeHandle) -> bool {
        false
    }
}

/// Returns a name of a volume. Where names are not bytes (Windows), invalid UTF-8 is replaced.
fn name_of(bytes: &[u8]) -> Cow<'_, OsStr> {
    #[cfg(unix)]
    return Cow::Borrowed(crate::name::from_bytes(bytes));
    #[cfg(not(unix))]
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(name) => Cow::Borrowed(OsStr::new(name)),
        Cow::Owned(name) => Cow::Owned(name.into()),
    }
}

/// The error for a directory that cannot be entered.
fn no_directory() -> Fault {
    let text = "another name leads to the same directory, or its inode is damaged";
    Fault::Failed(invalid(text.to_owned()))
}
