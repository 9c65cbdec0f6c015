//! What kind of file system a directory lies on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{IFlags, Mode, OFlags};

use crate::volume::{Reliability, Volume};

/// One kind of file system, by the number `statfs(2)` gives (`include/uapi/linux/magic.h`).
struct Kind {
    magic: u64,
    name: &'static str,
    pseudo: bool,
    short_read_is_end: bool,
}

const fn storage(magic: u64, name: &'static str, short_read_is_end: bool) -> Kind {
    Kind { magic, name, pseudo: false, short_read_is_end }
}

const fn pseudo(magic: u64, name: &'static str) -> Kind {
    Kind { magic, name, pseudo: true, short_read_is_end: false }
}

/// The kinds we know something of; all others are storage and are listed to the last call.
///
/// `short_read_is_end` is set where the kernel's `iterate_shared` goes on until the buffer is full
/// or the directory ends; network and user-space file systems may answer short at any time.
const KINDS: &[Kind] = &[
    storage(0xef53, "ext4", true),
    storage(0x5846_5342, "xfs", true),
    storage(0x9123_683e, "btrfs", true),
    storage(0x0102_1994, "tmpfs", true),
    storage(0x794c_7630, "overlay", false),
    storage(0x6969, "nfs", false),
    storage(0x6573_5546, "fuse", false),
    storage(0xff53_4d42, "cifs", false),
    storage(0xfe53_4d42, "smb2", false),
    storage(0x0102_1997, "9p", false),
    storage(0x7366_746e, "ntfs3", false),
    storage(0x4d44, "vfat", false),
    storage(0x2011_bab0, "exfat", false),
    storage(0xf2f5_2010, "f2fs", false),
    storage(0x2fc1_2fc1, "zfs", false),
    storage(0x7371_7368, "squashfs", false),
    storage(0xe0f5_e1e2, "erofs", false),
    storage(0xca45_1a4e, "bcachefs", false),
    storage(0x9660, "iso9660", false),
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

/// File systems of this machine alone whose names are what they are to the byte. (Of ZFS that is a
/// property of the data set; XFS has an old format of which it is not true, and does not say so.)
const EXACT: &[&str] =
    &["ext4", "xfs", "btrfs", "tmpfs", "overlay", "squashfs", "erofs", "f2fs", "bcachefs"];

/// File systems of this machine alone whose names may have more than one spelling.
const LOCAL: &[&str] = &["ntfs3", "vfat", "exfat", "zfs", "iso9660"];

/// `FS_CASEFOLD_FL` (`include/uapi/linux/fs.h`): in this directory case makes no difference.
const CASEFOLD: IFlags = IFlags::from_bits_retain(0x4000_0000);

/// Returns how far one may rely on what was learnt of a directory.
///
/// # Errors
/// It cannot be opened for reading.
pub fn reliability_of(directory: &Path) -> io::Result<Reliability> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(directory, flags, Mode::empty())?;
    let name = kind_of(fd.as_fd()).map_or("", |kind| kind.name);
    let exact = EXACT.contains(&name);
    // File systems that know no flags refuse: they fold nothing.
    let folds = rustix::fs::ioctl_getflags(&fd).is_ok_and(|flags| flags.contains(CASEFOLD));
    Ok(Reliability { exact_names: exact && !folds, local: exact || LOCAL.contains(&name) })
}

fn kind_of(fd: BorrowedFd<'_>) -> Option<&'static Kind> {
    let magic = rustix::fs::fstatfs(fd).ok()?.f_type;
    // The field is signed on some architectures and 32 bits wide: compare the lower half.
    KINDS.iter().find(|kind| kind.magic == magic as u64 & 0xffff_ffff)
}

/// Returns the volume that a directory lies on.
pub(super) fn volume_of(fd: BorrowedFd<'_>, device: Option<u64>) -> Volume {
    let kind = kind_of(fd);
    Volume {
        device,
        pseudo: kind.is_some_and(|kind| kind.pseudo),
        short_read_is_end: kind.is_some_and(|kind| kind.short_read_is_end),
    }
}

/// Returns the name of the kind of file system a path lies on, and its volume.
///
/// The path is not opened for reading (`O_PATH`): nobody waits for the writer of a named pipe, and
/// no permission to read is needed.
///
/// # Errors
/// There is no such path, or the way to it is not permitted.
pub fn file_system_of(path: &Path) -> io::Result<(Option<&'static str>, Volume)> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    Ok((kind_of(fd.as_fd()).map(|kind| kind.name), volume_of(fd.as_fd(), None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_makes_up_is_not_relied_on() {
        let proc = reliability_of(Path::new("/proc/self")).unwrap();
        assert_eq!(proc, Reliability::default());
        assert!(reliability_of(Path::new("/proc/self/stat")).is_err(), "no directory");
    }

    #[test]
    fn memory_is_relied_on() {
        let memory = Path::new("/dev/shm");
        if !matches!(file_system_of(memory), Ok((Some("tmpfs"), _))) {
            return transect_testkit::loudly_skip("memory_is_relied_on", "no tmpfs at /dev/shm");
        }
        let all = Reliability { exact_names: true, local: true };
        assert_eq!(reliability_of(memory).unwrap(), all);
    }
}
