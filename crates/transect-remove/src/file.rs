//! A file that is the one that the walk found: what a caller needs to compare, remove or replace it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use transect::table::{Row, Table};
use transect_sys::dir_handle::DirHandle;
use transect_sys::file::attributes_of;
use transect_sys::{Attributes, FileType};

use crate::compare::compare;
use crate::parent;
use crate::refusal::Refusal;
use crate::report::KeepReason;

/// A regular file that is as the walk found it, with a handle of its directory.
#[derive(Debug)]
pub struct CheckedFile<'t> {
    table: &'t Table,
    row: Row,
    parent: DirHandle,
    attributes: Attributes,
}

impl<'t> CheckedFile<'t> {
    /// Opens the directory of a file and compares the file, and every directory above it, with the
    /// walk.
    ///
    /// # Errors
    /// The entry is gone, differs, is not a regular file or has no name.
    pub fn open(table: &'t Table, row: Row) -> Result<Self, Refusal> {
        let parent = parent::open_parent(table, row)?;
        Self::find(table, &parent, row)
    }

    pub(super) fn find(table: &'t Table, parent: &DirHandle, row: Row) -> Result<Self, Refusal> {
        let name = parent::entry_name(table, row).ok_or(KeepReason::NotSeen)?;
        let attributes = parent.entry_attributes(name)?;
        compare(table, row, &attributes)?;
        if attributes.file_type() != FileType::File {
            return Err(KeepReason::Changed.into());
        }
        Ok(Self { table, row, parent: parent.try_clone()?, attributes })
    }

    /// Returns its row.
    pub fn row(&self) -> Row {
        self.row
    }

    /// Returns its attributes when it was compared with the walk.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns its directory.
    pub fn parent(&self) -> &DirHandle {
        &self.parent
    }

    /// Returns its name in that directory.
    pub fn name(&self) -> &'t OsStr {
        parent::entry_name(self.table, self.row).expect("BUG: what has no name was refused")
    }

    /// Returns its path.
    pub fn path(&self) -> PathBuf {
        self.table.path(self.row)
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// The system reports an error, or another file has its name now.
    pub fn open_to_read(&self) -> Result<File, Refusal> {
        let file = self.parent.open_file(self.name(), false)?;
        self.check_file(&file)?;
        Ok(file)
    }

    /// Checks that an open file is still this one, unchanged.
    ///
    /// # Errors
    /// It differs, or the system reports an error.
    pub fn check_file(&self, file: &File) -> Result<(), Refusal> {
        self.check(&attributes_of(file)?)
    }

    /// Checks that its name is still that of the same file, unchanged.
    ///
    /// # Errors
    /// The entry is gone or differs.
    pub fn check_name(&self) -> Result<(), Refusal> {
        self.check(&self.parent.entry_attributes(self.name())?)
    }

    /// Compares attributes with those of this file. The change time is not compared: it changes when
    /// another name of the file is removed.
    fn check(&self, now: &Attributes) -> Result<(), Refusal> {
        let state = |of: &Attributes| (of.file_type(), of.file_id(), of.size(), of.mtime());
        if state(now) == state(&self.attributes) { Ok(()) } else { Err(KeepReason::Changed.into()) }
    }

    /// Removes its name. Returns the bytes freed, if it was the last name of the file.
    ///
    /// # Errors
    /// The entry differs now, or the system reports an error.
    pub fn unlink(&self) -> Result<u64, Refusal> {
        let now = self.parent.entry_attributes(self.name())?;
        self.check(&now)?;
        self.parent.unlink(self.name())?;
        Ok(freed_with_last_name(&now))
    }

    /// Replaces it by a hard link to `kept`, made under a name that `temporary_name` returns and then
    /// renamed. Returns the bytes freed, if it was the last name of the file.
    ///
    /// # Errors
    /// An entry differs now, or the system reports an error. The file is then unchanged.
    pub fn replace_with_link(
        &self,
        kept: &CheckedFile<'_>,
        temporary_name: &mut dyn FnMut() -> OsString,
    ) -> Result<u64, Refusal> {
        let linked = loop {
            let name = temporary_name();
            match kept.parent.hard_link(kept.name(), &self.parent, &name) {
                Ok(()) => break name,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        };
        let replaced = self.rename_link(kept, &linked);
        // Renaming one name of a file to another one does nothing.
        match self.parent.unlink(&linked) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                replaced.and(Err(error.into()))
            }
            _ => replaced,
        }
    }

    /// Renames a new link to this file, if both are as expected.
    fn rename_link(&self, kept: &CheckedFile<'_>, linked: &OsStr) -> Result<u64, Refusal> {
        let link = self.parent.entry_attributes(linked)?;
        kept.check(&link).map_err(|_| KeepReason::NoCopy)?;
        let now = self.parent.entry_attributes(self.name())?;
        self.check(&now)?;
        self.parent.rename(linked, self.name())?;
        Ok(freed_with_last_name(&now))
    }
}

/// Returns the bytes that become free when a name of a file is removed.
pub(crate) fn freed_with_last_name(now: &Attributes) -> u64 {
    if now.nlink() == Some(1) { now.allocated().unwrap_or(0) } else { 0 }
}
