//! A folder by its path, for systems without calls relative to handles, or where they are not used
//! yet.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::{MountPolicy, single_component};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::file;

/// A directory by its path.
#[derive(Debug)]
pub struct DirHandle {
    path: PathBuf,
}

impl DirHandle {
    /// Returns the directory that a path leads to.
    ///
    /// # Errors
    /// There is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Absolute: a change of the current directory is not to lead elsewhere.
        let path = std::path::absolute(path)?;
        match file::query_attributes(&path, FieldMask::empty(), false)?.file_type() {
            FileType::Directory => Ok(Self { path }),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Returns the same directory once more.
    ///
    /// # Errors
    /// None; on other systems there may be too many handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone() })
    }

    /// Returns a directory that lies in this one. Where file systems are mounted there are links,
    /// which are no directories.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn open_dir(&self, name: &OsStr, _: MountPolicy) -> io::Result<Self> {
        Self::open(&self.path.join(single_component(name)?))
    }

    /// Returns the directory that holds this one.
    ///
    /// # Errors
    /// There is none.
    pub fn open_parent(&self) -> io::Result<Self> {
        Self::open(self.path.parent().ok_or(io::ErrorKind::CrossesDevices)?)
    }

    /// Returns all that is known of the directory itself.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn attributes(&self) -> io::Result<Attributes> {
        file::query_attributes(&self.path, FieldMask::all(), false)
    }

    /// Returns all that is known of an entry; of a link, of the link itself.
    ///
    /// # Errors
    /// Whatever the system says, also that there is none.
    pub fn entry_attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        file::query_attributes(&self.path.join(single_component(name)?), FieldMask::all(), false)
    }

    /// Calls `each` with the names of all entries.
    ///
    /// # Errors
    /// It cannot be listed, or not to its end.
    #[expect(clippy::disallowed_methods, reason = "names alone, and the error is handed on")]
    pub fn for_each_name(&self, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.path)? {
            each(&entry?.file_name());
        }
        Ok(())
    }

    /// Removes a name that is no directory's.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        let path = self.path.join(single_component(name)?);
        let refused = match std::fs::remove_file(&path) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        // Windows has links that are removed as directories are. What it removes so is empty: what
        // a link leads to stays.
        match file::query_attributes(&path, FieldMask::empty(), false)?.file_type() {
            FileType::Symlink => std::fs::remove_dir(&path),
            _ => Err(refused),
        }
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_dir(self.path.join(single_component(name)?))
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// Whatever the system says, also that the name is taken.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::create_dir(self.path.join(single_component(name)?))
    }

    /// Makes a file of this content, or none.
    ///
    /// # Errors
    /// Whatever the system says, also that the name is taken.
    pub fn create_file(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(single_component(name)?);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        let written = io::Write::write_all(&mut file, content).and_then(|()| file::close(file));
        if written.is_err() {
            self.unlink(name)?;
        }
        written
    }

    /// Moves an entry to a free name in another folder.
    ///
    /// # Errors
    /// Not supported here.
    pub fn rename_no_replace(&self, name: &OsStr, _: &Self, to: &OsStr) -> io::Result<()> {
        single_component(name)?;
        single_component(to)?;
        Err(io::ErrorKind::Unsupported.into())
    }
}
