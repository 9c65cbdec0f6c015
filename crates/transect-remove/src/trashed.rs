//! Entries in a trash: moving them back, and deleting them for good.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use transect::table::{Row, Table};
use transect_sys::Attributes;
use transect_sys::dir_handle::DirHandle;

/// An entry that was moved to a trash.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrashedEntry {
    /// Its path before, absolute and without links.
    pub original: PathBuf,
    /// The trash directory, which contains `files` and `info`.
    pub trash: PathBuf,
    /// Its name in `files`.
    pub name: OsString,
    /// Its attributes when it was moved.
    pub(crate) attributes: Attributes,
}

impl TrashedEntry {
    /// Moves the entry back to where it was, and deletes what the trash recorded about it. Replaces nothing.
    ///
    /// # Errors
    /// The entry is no longer in the trash, its directory is gone, or its path is occupied.
    pub fn restore(&self) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let files = DirHandle::open(&self.trash.join("files"))?;
        if files.entry_attributes(&self.name)?.file_id() != self.attributes.file_id() {
            return Err(gone());
        }
        let (Some(dir), Some(name)) = (self.original.parent(), self.original.file_name()) else {
            return Err(gone());
        };
        // A link would lead to another directory.
        if dir.canonicalize()? != dir {
            return Err(gone());
        }
        files.rename_no_replace(&self.name, &DirHandle::open(dir)?, name)?;
        delete_info(&self.trash, &self.name);
        Ok(())
    }
}

/// Deletes what trash directories recorded about entries that are gone.
pub(super) fn delete_infos(table: &Table, gone: &[Row]) {
    for &row in gone {
        let root = table.parent(row).filter(|&parent| table.parent(parent).is_none());
        if let Some(trash) = root.and_then(|root| Path::new(table.name(root)).parent()) {
            delete_info(trash, table.name(row));
        }
    }
}

fn delete_info(trash: &Path, name: &OsStr) {
    // If it stays, it restores nothing without its entry; file managers delete such files.
    let _ = DirHandle::open(&trash.join("info")).and_then(|info| info.unlink(&info_name(name)));
}

/// Returns the name of the file with the original path of an entry of a trash.
pub(crate) fn info_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(INFO_SUFFIX);
    name
}

pub(crate) const INFO_SUFFIX: &str = ".trashinfo";
