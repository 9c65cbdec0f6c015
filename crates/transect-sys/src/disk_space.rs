//! The size of a file system, and what is free on it.

use std::io;
use std::path::Path;

/// The space of a file system, in bytes.
///
/// `size - free` is in use, by files and by the file system itself. `free - available` is reserved for
/// the superuser, or beyond the quota of this user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes of the file system.
    pub size: u64,
    /// Bytes that are not in use.
    pub free: u64,
    /// Bytes that this user can still write.
    pub available: u64,
}

impl DiskSpace {
    /// Queries the file system that a path is on; on Windows, the path must be a directory.
    ///
    /// Source: `statvfs(3)`; on Windows `GetDiskFreeSpaceExW`, which reports the quota of this user as
    /// the size, if there is one.
    pub fn of(path: &Path) -> io::Result<Self> {
        query(path)
    }

    /// Waits until the file system of a directory is written: Btrfs counts the space of removed files as free only then.
    /// Does nothing on systems other than Linux.
    ///
    /// Source: `syncfs(2)`.
    pub fn settle(directory: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open, syncfs};
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let directory = rustix::io::retry_on_intr(|| open(directory, flags, Mode::empty()))?;
            rustix::io::retry_on_intr(|| syncfs(&directory))?;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = directory;
        Ok(())
    }

    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.size.saturating_sub(self.free)
    }
}

#[cfg(unix)]
fn query(path: &Path) -> io::Result<DiskSpace> {
    let found = rustix::io::retry_on_intr(|| rustix::fs::statvfs(path))?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    let (size, free) = (bytes(found.f_blocks), bytes(found.f_bfree));
    Ok(DiskSpace { size, free, available: bytes(found.f_bavail) })
}

#[cfg(windows)]
fn query(path: &Path) -> io::Result<DiskSpace> {
    let [size, free, available] = crate::windows::system::disk_space(path)?;
    Ok(DiskSpace { size, free, available })
}

#[cfg(not(any(unix, windows)))]
fn query(_: &Path) -> io::Result<DiskSpace> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_space_is_consistent() {
        let here = DiskSpace::of(Path::new(".")).unwrap();
        assert!(here.size > 0 && here.free <= here.size && here.available <= here.size, "{here:?}");
        assert_eq!(here.used() + here.free, here.size);
        assert!(DiskSpace::of(Path::new("nothing/of/that/name")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn disk_space_equals_df() {
        // What other programs write meanwhile changes the rest, but not the size.
        let df = std::process::Command::new("df").args(["-B1", "--output=size", "."]).output();
        let Ok(df) = df else { return };
        let text = String::from_utf8_lossy(&df.stdout).into_owned();
        let size = text.lines().nth(1).and_then(|line| line.trim().parse::<u64>().ok());
        if let Some(size) = size {
            assert_eq!(DiskSpace::of(Path::new(".")).unwrap().size, size);
        }
    }
}
