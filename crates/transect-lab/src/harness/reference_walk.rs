//! The walk that defines what is in a tree: slow, simple, and sharing no code with any method.
//!
//! On Linux it opens every directory relative to its parent, so paths may be longer than the system
//! accepts, and keeps a list of directories instead of recursing, so no tree is too deep. Only
//! some directories are open at a time; one that was closed meanwhile is opened again as the parent of one
//! below it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::harness::tree_digest::PathPrefix;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryType {
    File,
    Directory,
    Symlink,
    /// A pipe, a socket, or a device.
    Other,
}

/// The attributes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryAttributes {
    /// Its length, in bytes.
    pub(crate) length: u64,
    /// Device and inode of a file with several names, on Unix; the link count of a directory counts its
    /// subdirectories, which are not names.
    pub(crate) shared_id: Option<(u64, u64)>,
}

/// An entry of a walk. The root is not one.
#[derive(Debug)]
pub(crate) struct Entry<'w> {
    /// The prefix of its directory.
    pub(crate) parent: PathPrefix,
    pub(crate) name: &'w [u8],
    pub(crate) file_type: EntryType,
    /// `None` if they could not be queried, which of a file is an error.
    pub(crate) attributes: Option<EntryAttributes>,
}

/// Receives the entries and the errors of a walk.
pub(crate) struct Visitor<'v> {
    /// Of a directory, returns the prefix of its entries; other values are ignored.
    pub(crate) entry: &'v mut dyn FnMut(Entry<'_>) -> Option<PathPrefix>,
    pub(crate) failed: &'v mut Failed<'v>,
}

/// Receives an operation that failed, the path and the error.
pub(crate) type Failed<'f> = dyn FnMut(&'static str, &Path, io::Error) + 'f;

/// The operation of a directory that cannot be read, or whose rest cannot be read.
pub(crate) const READ: &str = "read directory";

/// The operation of an entry that cannot be queried.
const ACCESS: &str = "access";

/// Returns the attributes of a root, without following a link.
#[expect(clippy::disallowed_methods, reason = "what methods are compared with shares no reader")]
pub(crate) fn attributes(root: &Path) -> io::Result<EntryAttributes> {
    std::fs::symlink_metadata(root).map(|metadata| of_metadata(&metadata))
}

#[cfg(unix)]
fn of_metadata(metadata: &std::fs::Metadata) -> EntryAttributes {
    use std::os::unix::fs::MetadataExt;
    let is_shared = !metadata.is_dir() && metadata.nlink() > 1;
    let shared_id = is_shared.then(|| (metadata.dev(), metadata.ino()));
    EntryAttributes { length: metadata.len(), shared_id }
}

/// The standard library reports no link count.
#[cfg(not(unix))]
fn of_metadata(metadata: &std::fs::Metadata) -> EntryAttributes {
    EntryAttributes { length: metadata.len(), shared_id: None }
}

/// Reads a directory: reports its entries, and returns the directories in it. `path_of` returns the path of an
/// entry, or of the directory itself for an empty name.
#[expect(clippy::disallowed_methods, reason = "what methods are compared with shares no reader")]
fn read(
    directory: &Path,
    parent: PathPrefix,
    path_of: &dyn Fn(&OsStr) -> PathBuf,
    visitor: &mut Visitor<'_>,
) -> Vec<(OsString, PathPrefix)> {
    let here = || path_of(OsStr::new(""));
    let mut directories = Vec::new();
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            (visitor.failed)(READ, &here(), error);
            return directories;
        }
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                (visitor.failed)(READ, &here(), error);
                break;
            }
        };
        let name = entry.file_name();
        let file_type = match entry.file_type() {
            Ok(file_type) => type_of(file_type),
            Err(error) => {
                (visitor.failed)(ACCESS, &path_of(&name), error);
                continue;
            }
        };
        let attributes = match entry.metadata() {
            Ok(metadata) => Some(of_metadata(&metadata)),
            Err(error) => {
                if file_type == EntryType::File {
                    (visitor.failed)(ACCESS, &path_of(&name), error);
                }
                None
            }
        };
        let bytes = name.as_encoded_bytes();
        let prefix = (visitor.entry)(Entry { parent, name: bytes, file_type, attributes });
        if let (EntryType::Directory, Some(prefix)) = (file_type, prefix) {
            directories.push((name, prefix));
        }
    }
    directories
}

fn type_of(file_type: std::fs::FileType) -> EntryType {
    if file_type.is_dir() {
        EntryType::Directory
    } else if file_type.is_file() {
        EntryType::File
    } else if file_type.is_symlink() {
        EntryType::Symlink
    } else {
        EntryType::Other
    }
}

#[cfg(target_os = "linux")]
pub(crate) use by_handle::walk;

#[cfg(target_os = "linux")]
mod by_handle {
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

    use rustix::fs::{CWD, Mode, OFlags};

    use super::*;

    /// The maximum of open directories, the root included. The one being read and its parent must be open:
    /// `..` of a directory without search permission cannot be opened.
    const OPEN_LEVELS: usize = 32;

    /// A directory between the root and the one being read.
    struct Level {
        /// Its name; of the root, its path.
        name: OsString,
        id: (u64, u64),
        /// `None` while it is closed.
        handle: Option<OwnedFd>,
        /// Directories in it that are still to be read.
        waiting: Vec<(OsString, PathPrefix)>,
    }

    /// Walks a tree whose root has this prefix. Links are not followed, except as the root; mount points are
    /// crossed.
    pub(crate) fn walk(root: &Path, prefix: PathPrefix, visitor: Visitor<'_>) {
        let mut walk = Walk { levels: Vec::new(), visitor };
        walk.descend(root.as_os_str().to_owned(), prefix);
        while let Some(level) = walk.levels.last_mut() {
            match level.waiting.pop() {
                Some((name, prefix)) => walk.descend(name, prefix),
                None => walk.ascend(),
            }
        }
    }

    struct Walk<'v> {
        /// The root first.
        levels: Vec<Level>,
        visitor: Visitor<'v>,
    }

    impl Walk<'_> {
        /// Reads a directory in the last one, and makes it the last one.
        fn descend(&mut self, name: OsString, prefix: PathPrefix) {
            let parent = self.levels.last().and_then(|level| level.handle.as_ref());
            // A root may be a link, like those of other walks.
            let (at, follow) = match parent {
                Some(parent) => (parent.as_fd(), OFlags::NOFOLLOW),
                None => (CWD, OFlags::empty()),
            };
            let opened = open(at, &name, follow).and_then(|handle| Ok((id(&handle)?, handle)));
            let (id, handle) = match opened {
                Ok(opened) => opened,
                Err(error) => return self.unreadable(error, &name),
            };
            // By its handle: its path may be longer than the system accepts.
            let opened = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
            self.levels.push(Level { name, id, handle: Some(handle), waiting: Vec::new() });
            // The root stays open.
            if let Some(far) = self.levels.len().checked_sub(OPEN_LEVELS)
                && far > 0
            {
                self.levels[far].handle = None;
            }
            let path_of = |name: &OsStr| path_of(&self.levels, name);
            let waiting = read(&opened, prefix, &path_of, &mut self.visitor);
            self.levels.last_mut().expect("BUG: it was added").waiting = waiting;
        }

        /// Leaves the last directory, and opens the one above if it was closed.
        fn ascend(&mut self) {
            let Some(left) = self.levels.pop() else { return };
            let Some(level) = self.levels.last().filter(|level| level.handle.is_none()) else {
                return;
            };
            let parent = left
                .handle
                .and_then(|left| open(left.as_fd(), OsStr::new(".."), OFlags::empty()).ok());
            let is_it = |handle: &OwnedFd| id(handle).is_ok_and(|id| id == level.id);
            // It was moved, or is not searchable any more.
            let reopened = match parent.filter(is_it) {
                Some(handle) => Ok(handle),
                None => self.open_from_root(),
            };
            let level = self.levels.last_mut().expect("BUG: it was there");
            match reopened {
                Ok(handle) => level.handle = Some(handle),
                Err(error) => {
                    level.waiting.clear();
                    self.unreadable(error, OsStr::new(""));
                }
            }
        }

        fn unreadable(&mut self, error: io::Error, name: &OsStr) {
            (self.visitor.failed)(READ, &path_of(&self.levels, name), error);
        }

        /// Opens the last directory by the names of all those above it.
        fn open_from_root(&self) -> io::Result<OwnedFd> {
            let closed = || io::Error::from(io::ErrorKind::NotFound);
            let (root, below) = self.levels.split_first().ok_or_else(closed)?;
            let mut here = root.handle.as_ref().ok_or_else(closed)?.try_clone()?;
            for level in below {
                here = open(here.as_fd(), &level.name, OFlags::NOFOLLOW)?;
            }
            Ok(here)
        }
    }

    fn open(at: BorrowedFd<'_>, name: &OsStr, follow: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | follow;
        Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)
    }

    fn id(handle: &OwnedFd) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(handle)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Returns the path of an entry of the last of these directories.
    fn path_of(levels: &[Level], name: &OsStr) -> PathBuf {
        let mut path: PathBuf = levels.iter().map(|level| &level.name).collect();
        if !name.is_empty() {
            path.push(name);
        }
        path
    }
}

/// Walks a tree whose root has this prefix. Links are not followed, except as the root; mount points are
/// crossed.
#[cfg(not(target_os = "linux"))]
pub(crate) fn walk(root: &Path, prefix: PathPrefix, mut visitor: Visitor<'_>) {
    let mut waiting = vec![(root.to_owned(), prefix)];
    while let Some((directory, parent)) = waiting.pop() {
        let path_of = |name: &OsStr| match name.is_empty() {
            true => directory.clone(),
            false => directory.join(name),
        };
        let found = read(&directory, parent, &path_of, &mut visitor);
        waiting.extend(found.into_iter().map(|(name, prefix)| (directory.join(name), prefix)));
    }
}
