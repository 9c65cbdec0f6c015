//! What a walk returns.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use transect_sys::FileType;

use crate::entry_filter::Candidate;
use crate::error::Error;
use crate::sink::VisitEntry;
use crate::walkdir;

/// An entry with its path.
#[derive(Clone, Debug)]
pub struct DirEntry(walkdir::DirEntry);

impl DirEntry {
    /// Returns the path: that of the root as given, then the names below it.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Converts the entry into its path.
    pub fn into_path(self) -> PathBuf {
        self.0.into_path()
    }

    /// Returns the name; of a root without one, such as `/` and `..`, its path.
    pub fn file_name(&self) -> &OsStr {
        self.0.file_name()
    }

    /// Returns the number of steps below the root.
    pub fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Returns the type; that of the target if links are followed. Never `None`, as nothing stands for standard
    /// input.
    pub fn file_type(&self) -> Option<FileType> {
        Some(self.0.file_type())
    }

    /// Returns whether the path is a symbolic link, followed or not.
    pub fn path_is_symlink(&self) -> bool {
        self.0.path_is_symlink()
    }

    /// Returns the inode number, if the system lists it.
    pub fn ino(&self) -> Option<u64> {
        self.0.ino()
    }

    /// Queries the attributes; those of the target if links are followed.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        self.0.metadata().map_err(walkdir::Error::into_scan_error).map_err(Error::from)
    }

    /// Returns an entry of a walk. Of one that `follows` links, a link that leads back or nowhere is an error.
    pub(super) fn of_visit(visit: VisitEntry<'_>, follows: bool) -> Result<Self, Error> {
        let (file_type, inode) = (visit.file_type(), visit.attributes.inode());
        let entry = Self::new(visit.path(), visit.depth(), file_type, visit.followed, inode);
        if follows && file_type.is_symlink() {
            // It was a broken link. If its target exists by now, it is returned as a link.
            Self(walkdir::DirEntry { is_followed: true, ..entry.0.clone() }).metadata()?;
        }
        if visit.followed
            && file_type.is_dir()
            && let Some(above) = visit.dir().loop_ancestor(visit.attributes.file_id())
        {
            let error = walkdir::Error::of_loop(entry.path(), entry.depth(), above.path());
            return Err(error.into_scan_error().into());
        }
        Ok(entry)
    }

    /// Returns the entry of a filter, of which only name and type are known.
    pub(super) fn of_candidate(entry: &Candidate<'_>) -> Self {
        Self::new(entry.path(), entry.depth(), entry.file_type(), false, None)
    }

    fn new(
        path: PathBuf,
        depth: u32,
        file_type: FileType,
        is_followed: bool,
        inode: Option<u64>,
    ) -> Self {
        let depth = depth as usize;
        Self(walkdir::DirEntry { path, depth, file_type, is_followed, inode })
    }
}
