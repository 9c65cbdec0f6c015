//! Implementations with the standard library for every system, and stubs for features of Linux.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use transect_sys::Attributes;

use crate::publish::LostMetadata;

pub(crate) fn read_at(file: &File, block: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, block, offset);
    // Moves the offset of the handle, which is not used otherwise.
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, block, offset);
}

pub(crate) fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

pub(crate) fn read_past_cache(_: &File, _: &mut [u8], _: u64) -> io::Result<Option<usize>> {
    Ok(None)
}

pub(crate) fn write_past_cache(_: &File, _: &[u8]) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn has_io_uring() -> bool {
    false
}

pub(crate) enum Transfer {
    Read,
    Write,
}

/// Several reads and writes in flight: not supported.
#[derive(Debug)]
pub(crate) enum Ring {}

impl Ring {
    pub(crate) fn new(_: usize, _: usize) -> io::Result<(Self, Vec<Buffer>)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn in_flight(&self) -> usize {
        match *self {}
    }

    pub(crate) fn submit(
        &mut self,
        _: Transfer,
        _: &File,
        _: Buffer,
        _: Range<usize>,
        _: u64,
    ) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn wait(&mut self) -> io::Result<(Buffer, io::Result<usize>)> {
        match *self {}
    }
}

/// A buffer of a ring, which cannot exist here. Opaque, so that callers' code for it is not
/// reported as unreachable.
#[derive(Debug)]
pub(crate) struct Buffer(Infallible);

impl Buffer {
    pub(crate) fn index(&self) -> usize {
        match self.0 {}
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self.0 {}
    }
}

pub(crate) fn is_pseudo_file(_: &Path) -> bool {
    false
}

pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

pub(crate) fn create_unnamed(_: &Path, _: u32) -> Option<File> {
    None
}

pub(crate) fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("BUG: there are no files without a name here")
}

/// The scope of a process ID: not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessSpace {
    pub(crate) boot: u32,
    pub(crate) namespace: u32,
}

pub(crate) fn process_space() -> Option<&'static ProcessSpace> {
    None
}

pub(crate) fn is_running(_: u32) -> bool {
    true
}

pub(crate) fn is_local(_: &Path) -> bool {
    false
}

pub(crate) fn is_own_file(_: &Path) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    super::link_and_unlink(from, to)
}

#[cfg(unix)]
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Does nothing: directories cannot be synced here, and NTFS journals names in order.
#[cfg(not(unix))]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file system that can be synced as a whole: not supported.
#[derive(Debug)]
pub(crate) enum FileSystem {}

impl FileSystem {
    pub(crate) fn of_directory(_: &Path) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match *self {}
    }
}

pub(crate) fn clone_file(_: &File, _: &File) -> bool {
    false
}

pub(crate) fn copy_range(_: &File, _: &File, _: u64, _: usize) -> io::Result<Option<usize>> {
    Ok(None)
}

/// Does nothing: on Windows, a new file gets the permissions of its directory.
#[cfg(not(unix))]
pub(crate) fn copy_metadata(_: &Path, _: &Attributes, _: &File) -> Vec<LostMetadata> {
    Vec::new()
}

#[cfg(unix)]
pub(crate) fn copy_metadata(_: &Path, attributes: &Attributes, to: &File) -> Vec<LostMetadata> {
    use std::os::unix::fs::{PermissionsExt, fchown};
    let owner = fchown(to, attributes.uid(), attributes.gid());
    let mask = if owner.is_ok() { 0o7777 } else { 0o1777 };
    let mode = attributes.mode().map_or(0o600, u32::from) & mask;
    let permissions = to.set_permissions(std::fs::Permissions::from_mode(mode));
    [("owner", owner), ("permissions", permissions)]
        .into_iter()
        .filter_map(|(what, kept)| {
            Some(LostMetadata { what: what.to_owned(), reason: kept.err()? })
        })
        .collect()
}
