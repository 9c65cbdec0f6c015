//! What changed below the top of a volume since an earlier time, where the file system knows it: Btrfs on Linux.

/// The files and directories of a volume that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VolumeChanges {
    /// The device number of the volume. It may differ when it is mounted again.
    pub device: u64,
    /// The inode numbers of files and directories, in ascending order. A directory changes when an entry is added to it,
    /// removed from it or renamed in it; a file also when another name leads to it. Deleted ones are missing.
    pub inodes: Vec<u64>,
    /// The generation from which on changes were looked for.
    pub since: u64,
    /// The generation to find later changes from.
    pub generation: u64,
}
