//! The names of mount points.
//!
//! Only its device number shows that a directory is a mount point. A walk that needs no attributes
//! of directories would have to query every one; the mount table limits the queries to the names
//! listed there.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use foldhash::fast::FixedState;

/// The last names of all mount points; `None` if unknown.
#[derive(Debug)]
pub(super) struct MountNames(Option<HashSet<OsString, FixedState>>);

impl MountNames {
    /// Returns a set that contains every name.
    pub(super) fn unknown() -> Self {
        Self(None)
    }

    /// Reads the mount table.
    pub(super) fn read() -> Self {
        let names = transect_sys::host::mount_points().map(|points| {
            points.iter().filter_map(|point| point.file_name()).map(OsStr::to_owned).collect()
        });
        Self(names)
    }

    /// Returns whether a directory of this name may be a mount point. Without a mount table, any
    /// may.
    pub(super) fn may_be_mount_point(&self, name: &OsStr) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(name))
    }
}
