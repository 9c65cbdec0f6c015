//! A directory of a mounted volume, and whether this process may read all of the volume.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use transect_sys::linux::{GetdentsReader, ListingHandle, Mount, mounts};
use transect_sys::{FieldMask, FileId, Reader, ReaderKind};

use super::super::error::unsupported;

/// The file systems whose tables can be read while they are mounted: their number in `statfs(2)`, and their
/// names in the mount table. That of ext4 is also used for ext3 and ext2.
const SUPPORTED: [(u64, &[&str], ReaderKind); 2] = [
    (0xEF53, &["ext4", "ext3", "ext2"], ReaderKind::Ext4),
    (0x9123_683E, &["btrfs"], ReaderKind::Btrfs),
];

/// Capabilities (`capabilities(7)`), as bits.
mod capability {
    pub(super) const DAC_OVERRIDE: u64 = 1 << 1;
    pub(super) const DAC_READ_SEARCH: u64 = 1 << 2;
    pub(super) const SYS_ADMIN: u64 = 1 << 21;
}

/// A directory of a mounted volume whose tables this process may read.
pub(super) struct MountedDirectory {
    pub(super) root: ListingHandle,
    /// The number of its volume, and its own.
    pub(super) id: FileId,
    pub(super) mount: Mount,
    pub(super) reader: ReaderKind,
}

pub(super) fn open(
    live: &mut GetdentsReader,
    directory: &Path,
    follow: bool,
) -> io::Result<MountedDirectory> {
    let mut root = live.open_root(directory, follow)?;
    let id = live.stat_open(&mut root, FieldMask::FILE_ID)?.file_id();
    let id = id.ok_or_else(|| unsupported("its number is not known"))?;
    let kind = rustix::io::retry_on_intr(|| rustix::fs::fstatfs(root.as_fd()))?.f_type;
    let found = SUPPORTED.iter().find(|(magic, ..)| kind as u64 & 0xFFFF_FFFF == *magic);
    let not_supported = || unsupported("it is not on a volume with ext4, ext3, ext2 or Btrfs");
    let &(_, names, reader) = found.ok_or_else(not_supported)?;
    check_privilege(reader)?;
    let mount = mount_of(root.as_fd())?.ok_or_else(|| {
        unsupported(
            "the volume that it is on is mounted outside the root directory of this process",
        )
    })?;
    if !names.contains(&mount.file_system.as_str()) {
        return Err(not_supported());
    }
    if mount.options.split(',').any(|option| option == "idmapped") {
        return Err(unsupported("the owners on its mount differ from those in the tables"));
    }
    Ok(MountedDirectory { root, id, mount, reader })
}

/// Returns the mount that an open directory is on; `None` if the root directory of this process hides it.
fn mount_of(directory: BorrowedFd<'_>) -> io::Result<Option<Mount>> {
    let path = format!("/proc/self/fdinfo/{}", directory.as_raw_fd());
    let id = value_of(&std::fs::read_to_string(path)?, "mnt_id:")
        .and_then(|id| id.parse::<u64>().ok())
        .ok_or_else(|| unsupported("the kernel does not show its mount"))?;
    Ok(mounts()?.into_iter().find(|mount| mount.id == id))
}

/// Checks that this thread may list every directory: a walk would be refused nothing.
///
/// In another namespace of users, capabilities are only for those whose numbers it has.
fn check_privilege(reader: ReaderKind) -> io::Result<()> {
    let refused = |text: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let effective = value_of(&status, "CapEff:").and_then(|it| u64::from_str_radix(it, 16).ok());
    let has = |any: u64| effective.is_some_and(|it| it & any != 0);
    let users = std::fs::read_to_string("/proc/thread-self/uid_map")?;
    let has_all_users = users.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    if !has(capability::DAC_OVERRIDE | capability::DAC_READ_SEARCH) || !has_all_users {
        return refused(
            "the tables show everything, so that reading them takes the privilege to list every \
             directory (root)",
        );
    }
    if reader == ReaderKind::Btrfs && !has(capability::SYS_ADMIN) {
        return refused("reading the tables of a Btrfs takes the capability CAP_SYS_ADMIN (root)");
    }
    Ok(())
}

/// Returns the value in a file of lines with names.
pub(super) fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
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
