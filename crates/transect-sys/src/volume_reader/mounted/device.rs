//! The block device of a mounted volume, and whether this process may read everything on it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::attributes::FieldMask;
use crate::linux::{GetdentsReader, ListingHandle, Mount, mounts};
use crate::reader::Reader;

/// `EXT4_SUPER_MAGIC` of `statfs(2)`: also for ext3 and ext2.
const EXT4_MAGIC: u64 = 0xEF53;

/// A directory of a mounted volume, and the volume's device.
pub(super) struct MountedDevice {
    pub(super) root: ListingHandle,
    /// The device, open for reading.
    pub(super) file: File,
    /// The number of the device.
    pub(super) number: u64,
    /// The inode of the directory.
    pub(super) inode: u32,
}

/// Opens a directory, and the device of the volume that it is on.
///
/// # Errors
/// Why the volume must not or cannot be read from its device; the system's error.
pub(super) fn find(
    live: &mut GetdentsReader,
    directory: &Path,
    follow: bool,
) -> io::Result<MountedDevice> {
    let mut root = live.open_root(directory, follow)?;
    let id = live.stat_open(&mut root, FieldMask::FILE_ID)?.file_id();
    let id = id.ok_or_else(|| unsupported("its number is not known"))?;
    let kind = rustix::io::retry_on_intr(|| rustix::fs::fstatfs(root.as_fd()))?.f_type;
    if kind as u64 & 0xFFFF_FFFF != EXT4_MAGIC {
        return Err(unsupported("it is not on a volume with ext4, ext3 or ext2"));
    }
    if !may_read_everything()? {
        let text = "the tables show everything, so that reading them takes the privilege to list every \
                    directory (root)";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    let mount = mount_of(root.as_fd())?.ok_or_else(|| {
        unsupported(
            "the volume that it is on is mounted outside the root directory of this process",
        )
    })?;
    if !["ext4", "ext3", "ext2"].contains(&mount.file_system.as_str()) {
        return Err(unsupported("it is not on a volume with ext4, ext3 or ext2"));
    }
    if mount.options.split(',').any(|option| option == "idmapped") {
        return Err(unsupported("the owners on its mount differ from those in the tables"));
    }
    let inode = u32::try_from(id.inode).map_err(|_| unsupported("its inode is not one of ext4"))?;
    let file = open_device(id.device, &mount)?;
    Ok(MountedDevice { root, file, number: id.device, inode })
}

fn unsupported(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// Returns the mount that an open directory is on; `None` if the root directory of this process hides it.
fn mount_of(directory: BorrowedFd<'_>) -> io::Result<Option<Mount>> {
    let path = format!("/proc/self/fdinfo/{}", directory.as_raw_fd());
    let id = value_of(&std::fs::read_to_string(path)?, "mnt_id:")
        .and_then(|id| id.parse::<u64>().ok())
        .ok_or_else(|| unsupported("the kernel does not show its mount"))?;
    Ok(mounts()?.into_iter().find(|mount| mount.id == id))
}

/// Returns whether this thread may list every directory: a walk would be refused nothing.
///
/// In another namespace of users, capabilities are only for those whose numbers it has.
fn may_read_everything() -> io::Result<bool> {
    /// `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH` (`capabilities(7)`).
    const READ_EVERYTHING: u64 = 1 << 1 | 1 << 2;
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let effective = value_of(&status, "CapEff:").and_then(|it| u64::from_str_radix(it, 16).ok());
    let users = std::fs::read_to_string("/proc/thread-self/uid_map")?;
    let has_all_users = users.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    Ok(effective.is_some_and(|it| it & READ_EVERYTHING != 0) && has_all_users)
}

/// Returns the value in a file of lines with names.
fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Opens the device with this number: where it was mounted from, or where the system keeps it.
fn open_device(number: u64, mount: &Mount) -> io::Result<File> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let named = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).ok();
    let named = named.as_deref().and_then(|text| value_of(text, "DEVNAME="));
    let by_number = format!("/dev/block/{major}:{minor}");
    let candidates = [
        Some(PathBuf::from(&mount.source)),
        named.map(|name| Path::new("/dev").join(name)),
        Some(PathBuf::from(by_number)),
    ];
    for path in candidates.into_iter().flatten().filter(|path| path.is_absolute()) {
        let is_it = |it: std::fs::Metadata| it.file_type().is_block_device() && it.rdev() == number;
        if path.metadata().is_ok_and(is_it) {
            let file = File::open(&path).map_err(|error| {
                let text = format!("its device '{}' cannot be opened: {error}", path.display());
                io::Error::new(error.kind(), text)
            })?;
            // The path may lead elsewhere by now.
            if is_it(file.metadata()?) {
                return Ok(file);
            }
        }
    }
    let text = format!("its device {major}:{minor} is not available here");
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_trimmed_after_name() {
        assert_eq!(value_of("Name:\tx\nCapEff:\t00ff\n", "CapEff:"), Some("00ff"));
        assert_eq!(value_of("Name:\tCapEff:\n", "CapEff:"), None);
    }
}
