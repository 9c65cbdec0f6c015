//! The names of mount points.
//!
//! Only its device number shows that a directory is a mount point. A walk that needs no attributes
//! of directories would have to query every one; the mount table limits the queries to the names
//! listed there.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::fast::FixedState;

/// The number of directories that are queried before the mount table is read, which costs as much as
/// querying a hundred. A smaller tree never needs the table, and a larger one loses little.
const QUERIED_BEFORE: u32 = 64;

/// The last names of all mount points, read when there are many directories. Until then, and if they cannot
/// be read, any name may be one.
#[derive(Debug, Default)]
pub(super) struct MountNames {
    names: OnceLock<Option<HashSet<OsString, FixedState>>>,
    queried: AtomicU32,
}

impl MountNames {
    /// Returns whether a directory of this name may be a mount point, so that it must be queried.
    pub(super) fn may_be_mount_point(&self, name: &OsStr) -> bool {
        let names = match self.names.get() {
            Some(names) => names,
            None if self.queried.fetch_add(1, Ordering::Relaxed) < QUERIED_BEFORE => return true,
            None => self.names.get_or_init(read),
        };
        names.as_ref().is_none_or(|names| names.contains(name))
    }
}

fn read() -> Option<HashSet<OsString, FixedState>> {
    let points = transect_sys::host::mount_points()?;
    Some(points.iter().filter_map(|point| point.file_name()).map(OsStr::to_owned).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn mount_table_read_after_many_directories_only() {
        let (names, other) = (MountNames::default(), OsStr::new("not a mount point: 7d1f"));
        for _ in 0..QUERIED_BEFORE {
            assert!(names.may_be_mount_point(other));
            assert!(names.names.get().is_none());
        }
        assert!(!names.may_be_mount_point(other));
        assert!(names.may_be_mount_point(OsStr::new("proc")));
    }
}
