//! Residency: how much of a file is in memory, and dropping its pages.
//!
//! Only regular files have pages. The result is a snapshot: other processes read, write and need
//! memory at the same time.
//!
//! This file and `linux/residency.rs`, `windows/residency.rs` are contract pairs: the public
//! functions call those of the system, which return the types of this file. They name each other on
//! purpose.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::attributes::{Attributes, FileType};
use crate::file::{attributes_at, attributes_of};
#[cfg(target_os = "linux")]
use crate::linux::residency as system;
#[cfg(windows)]
use crate::windows::residency as system;
#[cfg(not(any(target_os = "linux", windows)))]
use portable as system;

/// Whether this system reports how much of a file is in memory.
pub const IS_REPORTED: bool = cfg!(target_os = "linux");

/// How much of a file, or of a part of it, is in memory. All numbers are in bytes and count whole
/// pages; the last page counts up to the end of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Size of the file or of the part.
    pub bytes: u64,
    /// Bytes of its pages in memory, at most `bytes`.
    pub resident: u64,
    /// Bytes in memory that were changed and not yet written, if the system reports it.
    pub dirty: Option<u64>,
    /// Bytes in memory that are being written, if the system reports it.
    pub writeback: Option<u64>,
}

/// Opens a regular file for the other functions of this module without reading it. On Windows this
/// already drops its pages, and a handle that was opened otherwise would keep them.
///
/// # Errors
/// Not a regular file, or any error that the system reports.
pub fn open(path: &Path) -> io::Result<File> {
    // Checked before opening: opening a device may have side effects.
    regular_size(&attributes_at(path)?)?;
    system::open(path)
}

/// Returns how much of a file is in memory.
///
/// Since 6.5 Linux counts the pages itself (`cachestat`), including pages that hold no data yet.
/// Older kernels report page by page (`mincore`), which takes time for holes, too.
///
/// # Errors
/// Not a regular file. [`io::ErrorKind::PermissionDenied`]: Linux reports residency only to the
/// owner and to users who may write the file. [`io::ErrorKind::Unsupported`]: the system does not
/// report it.
pub fn residency(file: &File) -> io::Result<Residency> {
    system::residency(file, 0..regular_size(&attributes_of(file)?)?)
}

/// Drops the pages of a file from memory, after writing changed ones. Pages stay that a process has
/// mapped, or that exist only in memory (`tmpfs`): check [`residency`] afterwards.
///
/// # Errors
/// Not a regular file, or changed pages could not be written. [`io::ErrorKind::Unsupported`]: the
/// system has no such call.
pub fn drop_pages(file: &File) -> io::Result<()> {
    system::drop_pages(file, regular_size(&attributes_of(file)?)?)
}

/// Returns whether the file system of this file is only in memory, so that its pages cannot be
/// dropped. False if the system does not report it.
pub fn is_memory_only(file: &File) -> bool {
    system::is_memory_only(file)
}

fn regular_size(attributes: &Attributes) -> io::Result<u64> {
    match attributes.file_type() {
        FileType::File => Ok(attributes.size().unwrap_or(0)),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// What systems lack that do not report residency.
#[cfg(not(target_os = "linux"))]
pub(crate) mod unreported {
    use std::fs::File;
    use std::io;
    use std::ops::Range;

    use super::Residency;

    pub(crate) fn residency(_: &File, _: Range<u64>) -> io::Result<Residency> {
        let reason = "this system does not report which parts of a file are in memory";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    pub(crate) fn is_memory_only(_: &File) -> bool {
        false
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod portable {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) use super::unreported::{is_memory_only, residency};

    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(super) fn drop_pages(_: &File, _: u64) -> io::Result<()> {
        let reason = "this system has no call that drops a file's pages";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }
}
