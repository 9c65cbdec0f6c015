//! What a page needs of a snapshot.

use std::path::PathBuf;

use transect_snapshot::{Metadata, StoredTotals};

/// A snapshot, in numbers.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its file.
    pub path: PathBuf,
    /// When reading began, in nanoseconds since 1970 UTC.
    pub taken: i64,
    /// The length of the file in bytes; `None` if it could not be queried.
    pub file_size: Option<u64>,
    /// The totals of the root.
    pub totals: StoredTotals,
    /// What the file says about itself.
    pub metadata: Metadata,
}

impl Point {
    /// Returns whether attributes of entries were taken from an earlier snapshot.
    pub fn has_inherited(&self) -> bool {
        self.metadata.inherited.as_ref().is_some_and(|it| it.older_entries() > 0)
    }
}
