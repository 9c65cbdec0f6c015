//! Directory handles as paths, for systems without calls relative to handles, or where those calls
//! are not used yet.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{MountPolicy, single_component};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::file;
use crate::watch::{WatchId, Watcher};

/// A directory, identified by its path.
#[derive(Debug)]
pub struct DirHandle {
    path: PathBuf,
}

impl DirHandle {
    /// Returns a handle of the directory at a path.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Absolute, so changing the current directory has no effect. On Windows, only in a verbatim path every name means itself.
        #[cfg(windows)]
        let path = crate::windows::verbatim(path)?;
        #[cfg(not(windows))]
        let path = std::path::absolute(path)?;
        match file::query_attributes(&path, FieldMask::empty(), false)?.file_type() {
            FileType::Directory => Ok(Self { path }),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Duplicates the handle.
    ///
    /// # Errors
    /// Never fails here; on Linux there may be too many open files.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone() })
    }

    /// Returns a handle of a subdirectory. Mount points are links here, so they are not
    /// directories.
    pub fn open_dir(&self, name: &OsStr, _: MountPolicy) -> io::Result<Self> {
        Self::open(&self.path.join(single_component(name)?))
    }

    /// Returns a handle of the directory that names lead to, each in the one before.
    pub fn open_below(&self, names: &[&OsStr]) -> io::Result<Self> {
        let mut path = self.path.clone();
        for name in names {
            path.push(single_component(name)?);
        }
        Self::open(&path)
    }

    /// Watches the directory that the path leads to.
    pub fn watch(&self, watcher: &Watcher) -> io::Result<WatchId> {
        watcher.watch(&self.path)
    }

    /// Returns a handle of the parent directory.
    pub fn open_parent(&self) -> io::Result<Self> {
        Self::open(self.path.parent().ok_or(io::ErrorKind::CrossesDevices)?)
    }

    /// Returns all attributes of the directory itself.
    pub fn attributes(&self) -> io::Result<Attributes> {
        file::query_attributes(&self.path, FieldMask::all(), false)
    }

    /// Returns all attributes of an entry; for a link, those of the link itself.
    pub fn entry_attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        file::query_attributes(&self.path.join(single_component(name)?), FieldMask::all(), false)
    }

    /// Returns the name under which the directory stores an entry if it is another one: file systems of Windows ignore case,
    /// and have short names.
    pub fn other_spelling(&self, name: &OsStr) -> Option<OsString> {
        crate::host::stored_name(&self.path.join(name)).filter(|stored| stored != name)
    }

    /// Opens an entry for reading. Follows a link only if `follow` is set.
    ///
    /// # Errors
    /// Any error that the system reports; for a link that is not followed,
    /// [`io::ErrorKind::InvalidInput`].
    pub fn open_file(&self, name: &OsStr, follow: bool) -> io::Result<File> {
        let path = self.path.join(single_component(name)?);
        if !follow && self.entry_attributes(name)?.file_type() == FileType::Symlink {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        File::open(path)
    }

    /// Calls `each` with the name of every entry.
    #[expect(clippy::disallowed_methods, reason = "names only, and errors are passed on")]
    pub fn for_each_name(&self, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.path)? {
            each(&entry?.file_name());
        }
        Ok(())
    }

    /// Checks that the directory can be listed.
    #[expect(clippy::disallowed_methods, reason = "nothing is read")]
    pub fn check_list(&self) -> io::Result<()> {
        std::fs::read_dir(&self.path).map(drop)
    }

    /// Returns whether the permissions forbid to read the directory.
    pub fn is_unreadable(&self) -> bool {
        self.check_list().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Removes an entry that is not a directory.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        let path = self.path.join(single_component(name)?);
        let refused = match std::fs::remove_file(&path) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        // Windows has links that must be removed as directories. `remove_dir` removes only the
        // link, never its target.
        match file::query_attributes(&path, FieldMask::empty(), false)?.file_type() {
            FileType::Symlink => std::fs::remove_dir(&path),
            _ => Err(refused),
        }
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_dir(self.path.join(single_component(name)?))
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// Any error that the system reports, also if the name exists.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::create_dir(self.path.join(single_component(name)?))
    }

    /// Creates a file with this content. Leaves nothing behind on failure.
    ///
    /// # Errors
    /// Any error that the system reports, also if the name exists.
    pub fn create_file(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(single_component(name)?);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        let written = io::Write::write_all(&mut file, content).and_then(|()| file::close(file));
        if written.is_err() {
            self.unlink(name)?;
        }
        written
    }

    /// Gives a file another name (hard link) in `to`.
    ///
    /// # Errors
    /// Any error that the system reports, also if the new name exists.
    pub fn hard_link(&self, name: &OsStr, to: &Self, to_name: &OsStr) -> io::Result<()> {
        let (name, to_name) = (single_component(name)?, single_component(to_name)?);
        std::fs::hard_link(self.path.join(name), to.path.join(to_name))
    }

    /// Renames an entry within the directory. Replaces a file of the new name.
    pub fn rename(&self, name: &OsStr, to_name: &OsStr) -> io::Result<()> {
        let (name, to_name) = (single_component(name)?, single_component(to_name)?);
        std::fs::rename(self.path.join(name), self.path.join(to_name))
    }

    /// Moves an entry to another directory.
    ///
    /// # Errors
    /// Always: not supported here.
    pub fn rename_no_replace(&self, name: &OsStr, _: &Self, to: &OsStr) -> io::Result<()> {
        single_component(name)?;
        single_component(to)?;
        Err(io::ErrorKind::Unsupported.into())
    }
}
