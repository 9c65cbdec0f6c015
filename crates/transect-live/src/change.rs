//! What happened to an entry.

use std::path::PathBuf;

use transect::FileType;

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The path: the root as given, and the names below it.
    pub path: PathBuf,
    /// The path before, of a directory that was renamed.
    pub from: Option<PathBuf>,
    /// The type; of a removed entry, what it was.
    pub file_type: FileType,
}

impl Change {
    /// Returns a change.
    pub fn new(
        kind: ChangeKind,
        path: PathBuf,
        from: Option<PathBuf>,
        file_type: FileType,
    ) -> Self {
        Self { kind, path, from, file_type }
    }
}

transect_sys::words! {
    /// What happened to an entry. A file that gets another name, and a name that means something else, are removed and
    /// added. So are directories that exchange their names, with everything in them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum ChangeKind {
        /// It is gone, with everything below it.
        Removed = "removed",
        /// A directory of the tree has another path, and so has everything below it.
        Renamed = "renamed",
        /// It is new.
        Added = "added",
        /// Its content or its attributes changed.
        Modified = "modified",
    }
}
