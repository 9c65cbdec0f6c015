//! Which directories may be mount points.
//!
//! Whether a directory begins another file system is known only by asking for its device. A walk
//! that needs no attributes of directories would have to ask for every one of them; the mount
//! table says which names are worth asking about.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use foldhash::fast::FixedState;

/// The last names of all mount points.
#[derive(Debug)]
pub(super) struct MountNames(Option<HashSet<OsString, FixedState>>);

impl MountNames {
    /// Nothing is known: every directory may be a mount point.
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

    /// Returns whether a directory of this name may be a mount point. Without a mount table every
    /// directory may be one.
    pub(super) fn may_be_mount_point(&self, name: &OsStr) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(name))
    }
}
