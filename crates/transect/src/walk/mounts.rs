//! The names of mount points.
//!
//! Only its device number shows that a directory is a mount point. A walk that needs no attributes
//! of directories would have to query every one; the mount table limits the queries to the names
//! listed there.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use foldhash::fast::FixedState;

/// The last names of all mount points. Until they are read, or if they cannot be, any name may be one.
#[derive(Debug, Default)]
pub(super) struct MountNames(OnceLock<Option<HashSet<OsString, FixedState>>>);

impl MountNames {
    /// Reads the mount table, unless that was done before. Costs as much as querying a hundred
    /// directories.
    pub(super) fn read(&self) {
        self.0.get_or_init(|| {
            let points = transect_sys::host::mount_points()?;
            let names = points.iter().filter_map(|point| point.file_name());
            Some(names.map(OsStr::to_owned).collect())
        });
    }

    /// Returns whether a directory of this name may be a mount point. Without a mount table, any
    /// may.
    pub(super) fn may_be_mount_point(&self, name: &OsStr) -> bool {
        let names = self.0.get().and_then(Option::as_ref);
        names.is_none_or(|names| names.contains(name))
    }
}
