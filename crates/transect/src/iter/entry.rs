//! An entry that owns its name.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{Attributes, FileType};
#[cfg(feature = "filters")]
use transect_sys::{EntryRef, Verdict};

use crate::dir::Dir;
use crate::error::{Error, Operation, ScanError};
use crate::sink::VisitEntry;

/// An entry of a [`Walk`](crate::Walk): its name, its attributes, and a counted reference to its
/// directory.
///
/// It stores no path: [`path`](Self::path) builds it. An entry that is kept keeps the directories
/// above it, which it shares with all entries below them.
#[derive(Clone)]
pub struct DirEntry {
    pub(super) dir: Arc<Dir>,
    pub(super) name: OsString,
    pub(super) attributes: Attributes,
    pub(super) followed: bool,
}

impl DirEntry {
    /// Returns the name; of a root, the path as given.
    pub fn file_name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the path: the root as given, then the names below it. Builds it anew at each call.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }

    /// Returns the path, and drops the entry.
    pub fn into_path(self) -> PathBuf {
        self.path()
    }

    /// Returns the number of steps below the root, which has depth 0.
    pub fn depth(&self) -> u32 {
        self.dir.entry_depth()
    }

    /// Returns the directory that holds the entry; the top for a root.
    pub fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Returns the file type. A symbolic link is not followed, unless the walk follows links.
    pub fn file_type(&self) -> FileType {
        self.attributes.file_type()
    }

    /// Returns the attributes: those that the walk wanted, and those that came with the listing.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Queries what the system knows about the entry now: of a symbolic link, unless the walk followed it. This
    /// is another system call; [`attributes`](Self::attributes) are in memory.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        let path = self.path();
        let metadata = if self.followed { path.metadata() } else { path.symlink_metadata() };
        metadata.map_err(|error| ScanError::new(Operation::Stat, path, self.depth(), error).into())
    }

    /// Returns whether the entry is a symbolic link and the attributes are those of its target.
    pub fn is_followed(&self) -> bool {
        self.followed
    }
}

#[cfg(feature = "filters")]
impl DirEntry {
    /// Returns the entry as it was visited.
    pub(crate) fn as_visit(&self) -> VisitEntry<'_> {
        let Self { dir, name, attributes, followed } = self;
        let followed = *followed;
        VisitEntry::new(dir, EntryRef { name, verdict: Verdict::Keep, followed, attributes })
    }
}

/// Keeps an entry after its visit.
impl From<VisitEntry<'_>> for DirEntry {
    #[inline(always)]
    fn from(entry: VisitEntry<'_>) -> Self {
        Self {
            dir: Arc::clone(entry.dir()),
            name: entry.name.to_owned(),
            attributes: *entry.attributes,
            followed: entry.followed,
        }
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
