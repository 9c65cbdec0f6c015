//! Files of the same content.

use transect::table::Row;

/// Files of the same content, at least two.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// The length of each file in bytes.
    pub size: u64,
    /// The BLAKE3 digest of the content.
    pub digest: [u8; 32],
    /// The files: first the one to be kept, then the others in the order of their paths.
    pub copies: Vec<Duplicate>,
    /// The bytes that removing all files but the first would free.
    pub freed: u64,
}

/// One file of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Duplicate {
    /// Its names (hard links) that the scan found, sorted by path.
    pub names: Vec<Row>,
    /// The bytes that removing these names would free while the first file of the group is kept:
    /// 0 for that file itself, and for a file that has names elsewhere.
    pub freed: u64,
    /// It has names that the scan did not find.
    pub has_other_names: bool,
    /// All its blocks are also those of the first file of the group, or it has none.
    pub is_clone: bool,
}
