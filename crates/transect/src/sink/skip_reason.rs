//! Why an entry was left out on purpose.

use transect_sys::FileId;

use crate::dir::Dir;

transect_sys::words! {
    /// Why an entry was left out, or a directory not read, on purpose.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum SkipReason {
        /// A glob excludes it.
        Excluded = "excluded",
        /// A gitignore rule excludes it.
        Gitignore = "gitignore",
        /// A directory at the maximum depth: counted, not read.
        MaxDepth = "max_depth",
        /// Another file system, in a walk limited to that of the root: not read.
        MountBoundary = "mount_boundary",
        /// A pseudo file system (`/proc`, `/sys`) below one that occupies storage: not read.
        PseudoFileSystem = "pseudo_file_system",
        /// A directory whose content is in a cloud service and would have to be downloaded (Windows):
        /// not read.
        Placeholder = "placeholder",
        /// Also given as a root, and counted there.
        OverlappingRoot = "overlapping_root",
        /// A link to a directory above it, or a mount of one.
        Loop = "loop",
        /// A link to a directory that is counted elsewhere.
        VisitedElsewhere = "visited_elsewhere",
        /// Left over when the [limit of work](crate::ScanOptions::work_limit) was reached: not read.
        LeftOver = "left_over",
        /// A directory with more entries than the limit of work: not read.
        LargeDirectory = "large_directory",
    }
}

impl SkipReason {
    /// Returns why a directory below `parent` is not read again, in a walk that follows links.
    pub(crate) fn for_revisit(parent: &Dir, target: Option<FileId>) -> Self {
        parent.loop_ancestor(target).map_or(Self::VisitedElsewhere, |_| Self::Loop)
    }
}
