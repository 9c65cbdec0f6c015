//! An entry that owns its name.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{Attributes, FileType};

use crate::dir::Dir;

/// An entry of a [`Walk`](crate::Walk): its name, its attributes, and a counted reference to its
/// directory.
///
/// It stores no path: [`path`](Self::path) builds it. An entry that is kept keeps the directories
/// above it, which it shares with all entries below them.
#[derive(Clone)]
pub struct DirEntry {
    pub(super) dir: Arc<Dir<()>>,
    pub(super) name: OsString,
    pub(super) attributes: Attributes,
    pub(super) followed: bool,
}

impl DirEntry {
    /// Returns the name; of a root, the path as given.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the path: the root as given, then the names below it. Builds it anew at each call.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }

    /// Returns the number of steps below the root, which has depth 0.
    pub fn depth(&self) -> u32 {
        self.dir.entry_depth()
    }

    /// Returns the directory that holds the entry; the top for a root.
    pub fn dir(&self) -> &Arc<Dir<()>> {
        &self.dir
    }

    /// Returns the file type. A symbolic link is not followed, unless the walk follows links.
    pub fn file_type(&self) -> FileType {
        self.attributes.file_type()
    }

    /// Returns whether the entry is a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// Returns whether the entry is a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type() == FileType::File
    }

    /// Returns the attributes: those that the walk wanted, and those that came with the listing.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns whether the entry is a symbolic link and the attributes are those of its target.
    pub fn is_followed(&self) -> bool {
        self.followed
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirEntry")
            .field("path", &self.path())
            .field("attributes", &self.attributes)
            .field("followed", &self.followed)
            .finish()
    }
}
