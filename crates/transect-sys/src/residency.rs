//! How much of a file is in memory, and how to get it out of there.
//!
//! Only a regular file has pages to ask about. The answer is of the moment: others read, write and
//! need memory all the while.

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

/// How much of a file, or of a part of it, is in memory. All in bytes: whole pages, of which the
/// last is cut at the end of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// The size of the file or of the part.
    pub bytes: u64,
    /// What of it is in memory.
    pub resident: u64,
    /// What of that has been changed and is still to be written, if the system tells.
    pub dirty: Option<u64>,
    /// What of that is being written just now, if the system tells.
    pub writeback: Option<u64>,
}

/// Opens a regular file for the other functions here, without reading any of it. On Windows this drops
/// its pages already; a handle that was opened otherwise would keep them.
///
/// # Errors
/// It is no regular file, or whatever the system says.
pub fn open(path: &Path) -> io::Result<File> {
    // Before it is opened: to open a device may do something.
    regular_size(&attributes_at(path)?)?;
    system::open(path)
}

/// Returns how much of a file is in memory.
///
/// Linux counts the pages itself since 6.5 (`cachestat`), also those that are there but hold nothing
/// yet. Where it does not, they are looked at one by one (`mincore`): holes take their time, too.
///
/// # Errors
/// The file is no regular file. [`io::ErrorKind::PermissionDenied`]: Linux tells it only to the
/// owner and to who may write the file. [`io::ErrorKind::Unsupported`]: the system does not tell.
pub fn residency(file: &File) -> io::Result<Residency> {
    system::residency(file, 0..regular_size(&attributes_of(file)?)?)
}

/// Returns how much is in memory of each of `parts` parts of a file, in their order: as many whole
/// pages to each, as far as they go. A small file has fewer parts, an empty one has none.
///
/// # Errors
/// As [`residency`].
pub fn residency_of_parts(file: &File, parts: usize) -> io::Result<Vec<Residency>> {
    let size = regular_size(&attributes_of(file)?)?;
    let pages = size.div_ceil(system::page_size());
    let parts = (parts as u64).min(pages);
    let border = |part: u64| {
        // Both factors may be large.
        let page = u128::from(pages) * u128::from(part) / u128::from(parts);
        (page as u64 * system::page_size()).min(size)
    };
    (0..parts).map(|part| system::residency(file, border(part)..border(part + 1))).collect()
}

/// Lets a file's pages go: what was changed is written first. Pages stay in memory that somebody has
/// mapped, or that have no other place, as those of `tmpfs`: ask for the [`residency`] afterwards.
///
/// # Errors
/// The file is no regular file, or what was changed could not be written.
/// [`io::ErrorKind::Unsupported`]: the system has no call for it.
pub fn drop_pages(file: &File) -> io::Result<()> {
    system::drop_pages(file, regular_size(&attributes_of(file)?)?)
}

/// Returns whether the files beside this one lie in memory and nowhere else, so that no page of them
/// can be dropped; false if the system does not tell.
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

/// What a system says that does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn not_told() -> io::Error {
    let reason = "this system does not tell what is in memory of a file";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

#[cfg(not(any(target_os = "linux", windows)))]
mod portable {
    use std::fs::File;
    use std::io;
    use std::ops::Range;
    use std::path::Path;

    use super::Residency;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Only what is told in pages depends on it.
    pub(super) fn page_size() -> u64 {
        4096
    }

    pub(super) fn residency(_: &File, _: Range<u64>) -> io::Result<Residency> {
        Err(super::not_told())
    }

    pub(super) fn is_memory_only(_: &File) -> bool {
        false
    }

    pub(super) fn drop_pages(_: &File, _: u64) -> io::Result<()> {
        let reason = "this system has no call that drops a file's pages";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }
}
