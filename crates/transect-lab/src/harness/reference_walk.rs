//! The walk that defines what is in a tree: slow, simple, and sharing no code with any method.
//!
//! On Linux it opens every directory relative to its parent, so paths may be longer than the system
//! accepts, and keeps a list of directories instead of recursing, so no tree is too deep. Only
//! some directories are open at a time; one that was closed meanwhile is opened again as the parent of one
//! below it.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
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

/// An event of a walk.
#[derive(Debug)]
pub(crate) enum Event<'w> {
    /// An entry. The root is not one.
    Entry {
        /// The prefix of its directory.
        parent: PathPrefix,
        name: &'w [u8],
        file_type: EntryType,
        /// Its attributes, or why they could not be queried.
        attributes: io::Result<EntryAttributes>,
    },
    /// A directory, or the rest of it, cannot be read.
    Unreadable(io::Error),
    /// The type of an entry cannot be queried.
    UnknownType(io::Error),
}

/// Receives the events of a walk.
pub(crate) trait Visitor {
    /// Receives an event. Of a directory, returns the prefix of its entries; other values are ignored.
    ///
    /// `path` returns the path of what the event is about.
    fn event(
        &mut self,
        event: Event<'_>,
        path: &dyn Fn() -> PathBuf,
    ) -> ControlFlow<(), Option<PathPrefix>>;
}

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

#[cfg(target_os = "linux")]
pub(crate) use by_handle::walk;
#[cfg(not(target_os = "linux"))]
pub(crate) use by_path::walk;

#[cfg(target_os = "linux")]
mod by_handle {
    use std::ffi::{CStr, CString};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat};

    use super::*;

    /// The maximum of open directories, the root included. The one being read and its parent must be open:
    /// `..` of a directory without search permission cannot be opened.
    const OPEN_LEVELS: usize = 32;

    /// A directory between the root and the one being read.
    struct Level {
        /// Its name; of the root, its path.
        name: CString,
        prefix: PathPrefix,
        id: (u64, u64),
        /// `None` while it is closed.
        handle: Option<OwnedFd>,
        /// Directories in it that are still to be read.
        waiting: Vec<(CString, PathPrefix)>,
    }

    /// Walks a tree whose root has this prefix, until the visitor breaks. Links are not followed, except as
    /// the root; mount points are crossed.
    pub(crate) fn walk(root: &Path, prefix: PathPrefix, visitor: &mut impl Visitor) {
        let mut walk = Walk { levels: Vec::new(), visitor, buffer: Vec::with_capacity(1 << 16) };
        let Ok(name) = CString::new(root.as_os_str().as_bytes()) else { return };
        let _ = walk.run(name, prefix);
    }

    struct Walk<'v, V> {
        /// The root first.
        levels: Vec<Level>,
        visitor: &'v mut V,
        buffer: Vec<u8>,
    }

    impl<V: Visitor> Walk<'_, V> {
        fn run(&mut self, root: CString, prefix: PathPrefix) -> ControlFlow<()> {
            self.descend(root, prefix)?;
            while let Some(level) = self.levels.last_mut() {
                match level.waiting.pop() {
                    Some((name, prefix)) => self.descend(name, prefix)?,
                    None => self.ascend()?,
                }
            }
            ControlFlow::Continue(())
        }

        /// Reads a directory in the last one, and makes it the last one.
        fn descend(&mut self, name: CString, prefix: PathPrefix) -> ControlFlow<()> {
            let parent = self.levels.last().and_then(|level| level.handle.as_ref());
            // A root may be a link, like those of other walks.
            let (at, follow) = match parent {
                Some(parent) => (parent.as_fd(), OFlags::NOFOLLOW),
                None => (CWD, OFlags::empty()),
            };
            let opened = open(at, &name, follow).and_then(|handle| {
                let id = id(&rustix::fs::fstat(&handle)?);
                Ok((handle, id))
            });
            match opened {
                Ok((handle, id)) => {
                    let handle = Some(handle);
                    self.levels.push(Level { name, prefix, id, handle, waiting: Vec::new() });
                    // The root stays open.
                    if let Some(far) = self.levels.len().checked_sub(OPEN_LEVELS)
                        && far > 0
                    {
                        self.levels[far].handle = None;
                    }
                    self.read()
                }
                Err(error) => {
                    let path = || path_of(&self.levels, &name);
                    self.visitor.event(Event::Unreadable(error), &path).map_continue(drop)
                }
            }
        }

        /// Leaves the last directory, and opens the one above if it was closed.
        fn ascend(&mut self) -> ControlFlow<()> {
            let Some(left) = self.levels.pop() else { return ControlFlow::Continue(()) };
            let Some(level) = self.levels.last().filter(|level| level.handle.is_none()) else {
                return ControlFlow::Continue(());
            };
            let parent =
                left.handle.and_then(|left| open(left.as_fd(), c"..", OFlags::empty()).ok());
            let is_it = |handle: &OwnedFd| {
                rustix::fs::fstat(handle).is_ok_and(|stat| id(&stat) == level.id)
            };
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
                    let path = || path_of(&self.levels, c"");
                    self.visitor.event(Event::Unreadable(error), &path).map_continue(drop)?;
                }
            }
            ControlFlow::Continue(())
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

        /// Reads the last directory.
        fn read(&mut self) -> ControlFlow<()> {
            let Some((level, above)) = self.levels.split_last_mut() else {
                return ControlFlow::Continue(());
            };
            let Some(handle) = &level.handle else { return ControlFlow::Continue(()) };
            let spare: &mut [MaybeUninit<u8>] = self.buffer.spare_capacity_mut();
            let mut entries = RawDir::new(handle, spare);
            let (own_name, own_waiting) = (&level.name, &mut level.waiting);
            while let Some(entry) = entries.next() {
                let path = |name: &CStr| {
                    let above = path_of(above, own_name);
                    if name.is_empty() { above } else { above.join(os_name(name)) }
                };
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        let path = || path(c"");
                        return self
                            .visitor
                            .event(Event::Unreadable(error.into()), &path)
                            .map_continue(drop);
                    }
                };
                let name = entry.file_name();
                if name == c"." || name == c".." {
                    continue;
                }
                let path = || path(name);
                let stat = rustix::fs::statat(handle, name, AtFlags::SYMLINK_NOFOLLOW);
                let file_type = match (entry.file_type(), &stat) {
                    (FileType::Unknown, Ok(stat)) => FileType::from_raw_mode(stat.st_mode),
                    (FileType::Unknown, Err(error)) => {
                        self.visitor.event(Event::UnknownType((*error).into()), &path)?;
                        continue;
                    }
                    (known, _) => known,
                };
                let file_type = match file_type {
                    FileType::RegularFile => EntryType::File,
                    FileType::Directory => EntryType::Directory,
                    FileType::Symlink => EntryType::Symlink,
                    _ => EntryType::Other,
                };
                let attributes = stat.map(|stat| attributes_in(&stat)).map_err(io::Error::from);
                let bytes = name.to_bytes();
                let event =
                    Event::Entry { parent: level.prefix, name: bytes, file_type, attributes };
                let prefix = self.visitor.event(event, &path)?;
                if let (EntryType::Directory, Some(prefix)) = (file_type, prefix) {
                    own_waiting.push((name.to_owned(), prefix));
                }
            }
            ControlFlow::Continue(())
        }
    }

    fn open(at: BorrowedFd<'_>, name: &CStr, follow: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | follow;
        Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)
    }

    fn id(stat: &Stat) -> (u64, u64) {
        (stat.st_dev, stat.st_ino)
    }

    fn attributes_in(stat: &Stat) -> EntryAttributes {
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let is_shared = !is_directory && stat.st_nlink > 1;
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        EntryAttributes { length, shared_id: is_shared.then(|| id(stat)) }
    }

    fn os_name(name: &CStr) -> OsString {
        std::ffi::OsStr::from_bytes(name.to_bytes()).to_owned()
    }

    /// Returns the path of an entry of the last of these directories.
    fn path_of(levels: &[Level], name: &CStr) -> PathBuf {
        let mut path: PathBuf = levels.iter().map(|level| os_name(&level.name)).collect();
        if !name.is_empty() {
            path.push(os_name(name));
        }
        path
    }
}

#[cfg(not(target_os = "linux"))]
mod by_path {
    use std::fs::FileType;

    use super::*;

    /// Walks a tree whose root has this prefix, until the visitor breaks. Links are not followed, except as
    /// the root; mount points are crossed.
    pub(crate) fn walk(root: &Path, prefix: PathPrefix, visitor: &mut impl Visitor) {
        let _ = run(root, prefix, visitor);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "what methods are compared with shares no reader"
    )]
    fn run(root: &Path, prefix: PathPrefix, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let mut waiting = vec![(root.to_owned(), prefix)];
        while let Some((directory, parent)) = waiting.pop() {
            let unreadable = |error, visitor: &mut _| {
                Visitor::event(visitor, Event::Unreadable(error), &|| directory.clone())
            };
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    unreadable(error, visitor)?;
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        unreadable(error, visitor)?;
                        continue;
                    }
                };
                let path = || entry.path();
                let file_type = match entry.file_type() {
                    Ok(file_type) => type_of(file_type),
                    Err(error) => {
                        visitor.event(Event::UnknownType(error), &path)?;
                        continue;
                    }
                };
                let name: OsString = entry.file_name();
                let name = name.as_encoded_bytes();
                let attributes = entry.metadata().map(|metadata| of_metadata(&metadata));
                let event = Event::Entry { parent, name, file_type, attributes };
                let prefix = visitor.event(event, &path)?;
                if let (EntryType::Directory, Some(prefix)) = (file_type, prefix) {
                    waiting.push((entry.path(), prefix));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn type_of(file_type: FileType) -> EntryType {
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
}
