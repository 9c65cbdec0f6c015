//! The kinds of file systems, and their known properties.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{IFlags, Mode, OFlags};
use rustix::ioctl;

use super::open::LIST_FLAGS;
use super::stat::retry;
use crate::volume::{EndDetection, Reliability, Volume};

/// A kind of file system, by its number in `statfs(2)` (`include/uapi/linux/magic.h`).
struct Kind {
    magic: u64,
    name: &'static str,
    pseudo: bool,
    end_detection: EndDetection,
}

impl Kind {
    fn reliability(&self) -> Reliability {
        let exact_names = EXACT.contains(&self.name);
        Reliability { exact_names, local: exact_names || LOCAL.contains(&self.name) }
    }
}

const fn storage(magic: u64, name: &'static str, end_detection: EndDetection) -> Kind {
    Kind { magic, name, pseudo: false, end_detection }
}

const fn pseudo(magic: u64, name: &'static str) -> Kind {
    Kind { magic, name, pseudo: true, end_detection: UNMARKED }
}

/// ext4 with hashed directories, the default (`dir_index`): `ext4_get_htree_eof` in
/// `fs/ext4/dir.c`. No name has this hash (`ext4fs_dirhash` moves the one that would). Directories
/// without hashes end with their size, which may be the hash of a name elsewhere, so they are read
/// until a call returns nothing. 32-bit programs see hashes of 31 bits.
const EXT4_END: EndDetection = EndDetection::Offset(if cfg!(target_pointer_width = "64") {
    i64::MAX
} else {
    i32::MAX as i64
});

/// btrfs (`btrfs_real_readdir` in `fs/btrfs/inode.c`) and tmpfs (`DIR_OFFSET_EOD` in `fs/libfs.c`,
/// since Linux 6.14; before that the end is not marked). tmpfs gives this offset to no entry. btrfs
/// numbers the names of a directory in the order of their creation: only the 2,147,483,647th could
/// have it.
const NUMBERED_END: EndDetection = EndDetection::Offset(i32::MAX as i64);

/// XFS: [`xfs_listing_end`] asks for the size of its blocks.
const XFS_END: EndDetection = EndDetection::DirectorySize { block: 0 };

/// File systems whose end of a directory is not marked, or by an offset that an entry could have, too.
const UNMARKED: EndDetection = EndDetection::EmptyResult;

/// The known kinds. All others count as storage, and are listed until a call returns nothing.
///
/// A kind has an end offset only if the kernel's sources show that no entry has it, and a test
/// confirmed it by listing directories while many signals arrived. Overlays return the offsets of the
/// file system below, and FUSE, NFS and SMB those of a server.
const KINDS: &[Kind] = &[
    storage(0xef53, "ext4", EXT4_END),
    storage(0x5846_5342, "xfs", XFS_END),
    storage(0x9123_683e, "btrfs", NUMBERED_END),
    storage(0x0102_1994, "tmpfs", NUMBERED_END),
    storage(0x794c_7630, "overlay", UNMARKED),
    storage(0x6969, "nfs", UNMARKED),
    storage(0x6573_5546, "fuse", UNMARKED),
    storage(0xff53_4d42, "cifs", UNMARKED),
    storage(0xfe53_4d42, "smb2", UNMARKED),
    storage(0x0102_1997, "9p", UNMARKED),
    storage(0x7366_746e, "ntfs3", UNMARKED),
    storage(0x4d44, "vfat", UNMARKED),
    storage(0x2011_bab0, "exfat", UNMARKED),
    storage(0xf2f5_2010, "f2fs", UNMARKED),
    storage(0x2fc1_2fc1, "zfs", UNMARKED),
    storage(0x7371_7368, "squashfs", UNMARKED),
    storage(0xe0f5_e1e2, "erofs", UNMARKED),
    storage(0xca45_1a4e, "bcachefs", UNMARKED),
    storage(0x9660, "iso9660", UNMARKED),
    pseudo(0x9fa0, "proc"),
    pseudo(0x6265_6572, "sysfs"),
    pseudo(0x1cd1, "devpts"),
    pseudo(0x0027_e0eb, "cgroup"),
    pseudo(0x6367_7270, "cgroup2"),
    pseudo(0x6462_6720, "debugfs"),
    pseudo(0x7472_6163, "tracefs"),
    pseudo(0x7363_6673, "securityfs"),
    pseudo(0xcafe_4a11, "bpf"),
    pseudo(0x6265_6570, "configfs"),
    pseudo(0x6165_676c, "pstore"),
    pseudo(0xde5e_81e4, "efivarfs"),
    pseudo(0x1980_0202, "mqueue"),
    pseudo(0x9584_58f6, "hugetlbfs"),
    pseudo(0x6573_5543, "fusectl"),
    pseudo(0x4249_4e4d, "binfmt_misc"),
    pseudo(0xf97c_ff8c, "selinuxfs"),
    pseudo(0x4341_5d53, "smackfs"),
    pseudo(0x5a3c_69f0, "apparmorfs"),
    pseudo(0x6e73_6673, "nsfs"),
    pseudo(0x6759_6969, "rpc_pipefs"),
    pseudo(0x0765_5821, "resctrl"),
    pseudo(0x6e66_7364, "nfsd"),
];

/// Local file systems with exact names: every name has one spelling. (On ZFS this is a property of
/// the data set. An old format of XFS ignores case and cannot be detected.)
const EXACT: &[&str] =
    &["ext4", "xfs", "btrfs", "tmpfs", "overlay", "squashfs", "erofs", "f2fs", "bcachefs"];

/// Local file systems on which a name may have several spellings.
const LOCAL: &[&str] = &["ntfs3", "vfat", "exfat", "zfs", "iso9660"];

/// Local file systems that change the ctime of a file with its content, do not let programs set it, and keep file ids.
/// Not in the list: FAT and exFAT (neither), NTFS (programs of Windows set the time), overlays (files have the ctime of
/// the file system below), and images, whose times may all be the same.
const PROVE_CHANGES: &[&str] = &["ext4", "xfs", "btrfs", "tmpfs", "f2fs", "zfs"];

/// `FS_CASEFOLD_FL` (`include/uapi/linux/fs.h`): names in this directory ignore case.
const CASEFOLD: IFlags = IFlags::from_bits_retain(0x4000_0000);

/// Returns which conclusions from a listing of `directory` remain valid afterwards.
///
/// # Errors
/// The directory cannot be opened for reading.
pub fn reliability_of(directory: &Path) -> io::Result<Reliability> {
    let fd = retry(|| rustix::fs::open(directory, LIST_FLAGS, Mode::empty()))?;
    Ok(reliability_of_open(
        fd.as_fd(),
        kind_of(fd.as_fd()).map(Kind::reliability).unwrap_or_default(),
    ))
}

/// Returns the reliability of an open directory, given that of its file system.
pub(super) fn reliability_of_open(fd: BorrowedFd<'_>, of_volume: Reliability) -> Reliability {
    // File systems without such flags return an error; they do not fold case.
    let folds = || rustix::fs::ioctl_getflags(fd).is_ok_and(|flags| flags.contains(CASEFOLD));
    Reliability { exact_names: of_volume.exact_names && !folds(), ..of_volume }
}

fn kind_of(fd: BorrowedFd<'_>) -> Option<&'static Kind> {
    let magic = retry(|| rustix::fs::fstatfs(fd)).ok()?.f_type;
    // The field is signed on some architectures and 32 bits wide: compare the lower half.
    KINDS.iter().find(|kind| kind.magic == magic as u64 & 0xffff_ffff)
}

pub(super) fn volume_of(fd: BorrowedFd<'_>, device: Option<u64>) -> Volume {
    let kind = kind_of(fd);
    Volume {
        device,
        pseudo: kind.is_some_and(|kind| kind.pseudo),
        end_detection: match kind.map_or(UNMARKED, |kind| kind.end_detection) {
            XFS_END => xfs_listing_end(fd),
            known => known,
        },
        reliability: kind.map(Kind::reliability).unwrap_or_default(),
    }
}

/// The geometry of an XFS (`struct xfs_fsop_geom_v1`, `xfs_fs.h`): the fields before the one that
/// is needed, that field, and padding.
#[repr(C)]
struct XfsGeometry {
    _before: [u64; 13],
    directory_block: u32,
    _padding: u32,
}

/// Returns how to detect the end of a listing on XFS (`fs/xfs/xfs_dir2_readdir.c`): by the size of
/// the directory in units of eight bytes, or one directory block if the directory is shorter. No
/// entry has this offset because a block begins with a header. Requires the size of a directory
/// block, which differs from that of file blocks.
fn xfs_listing_end(fd: BorrowedFd<'_>) -> EndDetection {
    const GEOMETRY: ioctl::Opcode = ioctl::opcode::read::<XfsGeometry>(b'X', 100);
    // SAFETY: `XFS_IOC_FSGEOMETRY_V1` writes one `xfs_fsop_geom_v1`, which has this size; any bytes
    // are a valid value. Other file systems refuse the number with ENOTTY.
    let geometry = unsafe { ioctl::ioctl(fd, ioctl::Getter::<GEOMETRY, XfsGeometry>::new()) };
    match geometry {
        Ok(geometry) if geometry.directory_block.is_power_of_two() => {
            EndDetection::DirectorySize { block: geometry.directory_block }
        }
        _ => EndDetection::EmptyResult,
    }
}

/// Returns the name of the kind of file system that a path is on, and its volume.
///
/// Opens the path with `O_PATH`, so a named pipe does not block and read permission is not needed.
///
/// # Errors
/// The path does not exist, or the path to it is not permitted.
pub fn file_system_of(path: &Path) -> io::Result<(Option<&'static str>, Volume)> {
    let fd = retry(|| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()))?;
    Ok((kind_of(fd.as_fd()).map(|kind| kind.name), volume_of(fd.as_fd(), None)))
}

/// Returns whether the file system that a path is on proves that a file is unchanged.
pub(crate) fn proves_changes(path: &Path) -> bool {
    let known = file_system_of(path);
    known.is_ok_and(|(name, _)| name.is_some_and(|name| PROVE_CHANGES.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proves_changes_only_known_file_systems() {
        assert!(!proves_changes(Path::new("/proc/self")));
        assert!(!proves_changes(Path::new("/nothing/of/that/name")));
        assert!(PROVE_CHANGES.iter().all(|name| KINDS.iter().any(|kind| kind.name == *name)));
    }

    #[test]
    fn reliability_proc_none() {
        let proc = reliability_of(Path::new("/proc/self")).unwrap();
        assert_eq!(proc, Reliability::default());
        assert!(reliability_of(Path::new("/proc/self/stat")).is_err(), "not a directory");
    }

    #[test]
    fn reliability_tmpfs_exact_and_local() {
        let memory = Path::new("/dev/shm");
        if !matches!(file_system_of(memory), Ok((Some("tmpfs"), _))) {
            return transect_testkit::loudly_skip(
                "reliability_tmpfs_exact_and_local",
                "no tmpfs at /dev/shm",
            );
        }
        let all = Reliability { exact_names: true, local: true };
        assert_eq!(reliability_of(memory).unwrap(), all);
    }
}
