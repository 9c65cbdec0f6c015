//! Directories below a mount point: what they hold is out of reach while something is mounted there.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{OpenTreeFlags, open_tree};

/// A second view of a mounted file system, without the mounts on top of its directories. Other
/// processes do not see it, and it ends with this value.
#[derive(Debug)]
pub struct UncoveredMount(OwnedFd);

impl UncoveredMount {
    /// Opens the file system that is mounted at `point`.
    ///
    /// Source: `open_tree(2)` with `OPEN_TREE_CLONE`, but without `AT_RECURSIVE`.
    ///
    /// # Errors
    /// The caller may not mount (`CAP_SYS_ADMIN`); Linux is older than 5.2.
    pub fn open(point: &Path) -> io::Result<Self> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        Ok(Self(open_tree(CWD, point, flags)?))
    }

    /// Returns a path to a directory of the file system, for this process only.
    pub fn path(&self, below: &Path) -> PathBuf {
        Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string()).join(below)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transect_testkit::{Mount, TempDir};

    use super::*;

    #[test]
    fn uncovered_mount_shows_directory_below_mount() {
        let test = "uncovered_mount_shows_directory_below_mount";
        let temp = TempDir::new();
        let outer = match Mount::tmpfs("1m", &temp.join("outer")) {
            Ok(outer) => outer,
            Err(reason) => return transect_testkit::loudly_skip(test, &reason),
        };
        let covered = outer.path().join("covered");
        fs::create_dir(&covered).unwrap();
        fs::write(covered.join("hidden"), "hidden").unwrap();
        let _inner = Mount::tmpfs("1m", &covered).unwrap();
        assert!(!covered.join("hidden").exists());
        let uncovered = match UncoveredMount::open(outer.path()) {
            Ok(uncovered) => uncovered,
            Err(error) => return transect_testkit::loudly_skip(test, error.to_string()),
        };
        let hidden = uncovered.path(Path::new("covered/hidden"));
        assert_eq!(fs::read_to_string(hidden).unwrap(), "hidden");
    }
}
