//! Linux.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{
    Advice, AtFlags, CWD, FallocateFlags, Gid, Mode, OFlags, RenameFlags, SeekFrom, StatxFlags,
    Uid, XattrFlags,
};
use rustix::io::{Errno, ReadWriteFlags, retry_on_intr};
pub(crate) use transect_sys::Mapping;
use transect_sys::file::{attributes_at, query_attributes};
pub(crate) use transect_sys::linux::{Buffer, Ring, Transfer, has_io_uring};
use transect_sys::{Attributes, FieldMask, FileType};

use crate::publish::LostMetadata;

pub(crate) fn open_to_read(path: &Path, sequential: bool) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    if sequential {
        // Only a hint.
        let _ = rustix::fs::fadvise(&file, 0, None, Advice::Sequential);
    }
    Ok(file)
}

pub(crate) fn read_at(mut file: &File, block: &mut [u8], offset: u64) -> io::Result<usize> {
    match file.read_at(block, offset) {
        // Some kernel files can only be read sequentially.
        Err(error) if error.raw_os_error() == Some(Errno::SPIPE.raw_os_error()) => file.read(block),
        answer => answer,
    }
}

/// `RWF_DONTCACHE`: Linux 6.14, on file systems that support it.
const DONT_CACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

pub(crate) fn read_past_cache(
    file: &File,
    block: &mut [u8],
    offset: u64,
) -> io::Result<Option<usize>> {
    match rustix::io::preadv2(file, &mut [IoSliceMut::new(block)], offset, DONT_CACHE) {
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::SPIPE) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

pub(crate) fn write_past_cache(file: &File, mut bytes: &[u8]) -> io::Result<bool> {
    // The current offset of the handle, which advances.
    const HERE: u64 = u64::MAX;
    while !bytes.is_empty() {
        match rustix::io::pwritev2(file, &[IoSlice::new(bytes)], HERE, DONT_CACHE) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Reported before anything is written, and the same for every write to a file.
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(true)
}

pub(crate) fn is_pseudo_file(path: &Path) -> bool {
    transect_sys::linux::file_system_of(path).is_ok_and(|(_, volume)| volume.pseudo)
}

pub(crate) fn reserve(file: &File, part: Range<u64>) -> io::Result<bool> {
    let length = part.end - part.start;
    match rustix::fs::fallocate(file, FallocateFlags::empty(), part.start, length) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::PERM) => Ok(false),
        Err(Errno::INTR) => reserve(file, part),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

pub(crate) fn create_unnamed(directory: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    let file = retry_on_intr(|| rustix::fs::open(directory, flags, mode)).ok()?;
    let file = File::from(file);
    // Check now: at the end, the work would be lost.
    static CAN_BE_NAMED: OnceLock<bool> = OnceLock::new();
    let can_be_named = CAN_BE_NAMED.get_or_init(|| {
        let by_path = rustix::fs::stat(proc_path(&file)).map(|stat| (stat.st_dev, stat.st_ino));
        let by_handle = rustix::fs::fstat(&file).map(|stat| (stat.st_dev, stat.st_ino));
        by_path.is_ok() && by_path == by_handle
    });
    can_be_named.then_some(file)
}

pub(crate) fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    // `AT_EMPTY_PATH` would need a privilege.
    Ok(rustix::fs::linkat(CWD, proc_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn proc_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The scope of a process ID: the boot, and the PID namespace within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessSpace {
    pub(crate) boot: u32,
    pub(crate) namespace: u32,
}

/// Returns the space of this process, if the system reports it.
pub(crate) fn process_space() -> Option<&'static ProcessSpace> {
    static SPACE: OnceLock<Option<ProcessSpace>> = OnceLock::new();
    let space = SPACE.get_or_init(|| {
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = attributes_at(Path::new("/proc/self/ns/pid")).ok()?;
        Some(ProcessSpace {
            boot: xxhash_rust::xxh3::xxh3_64(boot.trim_ascii()) as u32,
            namespace: namespace.inode()? as u32,
        })
    });
    space.as_ref()
}

/// Returns whether a process has this ID in our own space.
pub(crate) fn is_running(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|process| rustix::process::test_kill_process(process) != Err(Errno::SRCH))
}

/// Returns whether only this machine writes to the file system of a directory.
pub(crate) fn is_local(directory: &Path) -> bool {
    transect_sys::linux::reliability_of(directory).is_ok_and(|known| known.local)
}

/// Returns whether the path is a regular file of this user. Does not follow links.
pub(crate) fn is_own_file(path: &Path) -> io::Result<bool> {
    let there = query_attributes(path, FieldMask::UID, false)?;
    let own = rustix::process::geteuid().as_raw();
    Ok(there.file_type() == FileType::File && there.uid() == Some(own))
}

pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system supports the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => super::link_and_unlink(from, to),
        answer => Ok(answer?),
    }
}

pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    let directory = open_directory(directory)?;
    match retry_on_intr(|| rustix::fs::fsync(&directory)) {
        // Some file systems have nothing to sync here, and return EINVAL.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn open_directory(directory: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::open(directory, flags, Mode::empty()))?.into())
}

/// A file system that files are written to. Open it before writing: `syncfs` reports errors since
/// then.
#[derive(Debug)]
pub(crate) struct FileSystem(File);

impl FileSystem {
    pub(crate) fn of_directory(directory: &Path) -> io::Result<Option<Self>> {
        Ok(Some(Self(open_directory(directory)?)))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::syncfs(&self.0))?)
    }
}

#[cfg(not(any(target_arch = "sparc", target_arch = "sparc64")))]
pub(crate) fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(any(target_arch = "sparc", target_arch = "sparc64"))]
pub(crate) fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Copies up to `length` bytes. Returns `None` if the kernel cannot copy between these files; the
/// caller then reads and writes.
pub(crate) fn copy_range(
    from: &File,
    to: &File,
    offset: u64,
    length: usize,
) -> io::Result<Option<usize>> {
    let (mut at, mut to_at) = (offset, offset);
    match rustix::fs::copy_file_range(from, Some(&mut at), to, Some(&mut to_at), length) {
        // Also at the end of the file, and from kernels that copy nothing without reporting an
        // error.
        Ok(0) => Ok(None),
        Ok(copied) => Ok(Some(copied)),
        Err(Errno::INTR) => copy_range(from, to, offset, length),
        Err(
            Errno::XDEV
            | Errno::INVAL
            | Errno::NOSYS
            | Errno::OPNOTSUPP
            | Errno::PERM
            | Errno::TXTBSY
            | Errno::BADF,
        ) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    FileExt::write_all_at(file, bytes, offset)
}

pub(crate) fn open_direct(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::DIRECT | OFlags::NONBLOCK | OFlags::NOCTTY;
    match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Switches direct I/O on and off on the same handle.
#[derive(Debug, Default)]
pub(crate) struct DirectSwitch {
    direct: bool,
}

impl DirectSwitch {
    pub(crate) fn set_direct(&mut self, file: &File, direct: bool) -> io::Result<bool> {
        if self.direct == direct {
            return Ok(true);
        }
        let mut flags = rustix::fs::fcntl_getfl(file)?;
        flags.set(OFlags::DIRECT, direct);
        match rustix::fs::fcntl_setfl(file, flags) {
            Err(Errno::INVAL) => Ok(false),
            set => {
                set?;
                self.direct = direct;
                Ok(true)
            }
        }
    }

    pub(crate) fn handle<'a>(&'a self, file: &'a File) -> &'a File {
        file
    }
}

pub(crate) fn direct_alignment(file: &File) -> io::Result<Option<usize>> {
    // tmpfs and ramfs accept the flag but keep the data in memory.
    const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];
    #[allow(clippy::unnecessary_cast)] // its width differs between architectures
    let kind = retry_on_intr(|| rustix::fs::fstatfs(file))?.f_type as u32;
    if IN_MEMORY.contains(&kind) {
        return Ok(None);
    }
    // Since Linux 6.1.
    let asked = StatxFlags::DIOALIGN;
    match rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, asked) {
        Ok(told) if told.stx_mask & asked.bits() != 0 => {
            let alignment = told.stx_dio_offset_align.max(told.stx_dio_mem_align);
            Ok(Some(alignment as usize).filter(|_| told.stx_dio_offset_align > 0))
        }
        // Page alignment suits nearly all file systems; on others, reads and writes fail.
        _ => Ok(Some(4096)),
    }
}

/// Does nothing: every file may have holes.
pub(crate) fn allow_holes(_: &File) {}

/// Returns the next part of `range` that is not a hole; `None` if the rest is a hole.
pub(crate) fn next_data(file: &File, range: Range<u64>) -> Option<Range<u64>> {
    // Moves the offset of the handle, which is not used otherwise.
    match rustix::fs::seek(file, SeekFrom::Data(range.start)) {
        Ok(start) if start >= range.end => None,
        Ok(start) => {
            let end = rustix::fs::seek(file, SeekFrom::Hole(start)).unwrap_or(range.end);
            Some(start..end.min(range.end))
        }
        Err(Errno::NXIO) => None,
        // The file system does not report holes: everything is data.
        Err(_) => Some(range),
    }
}

/// Copies owner, extended attributes and mode of the file at `from` to `to`.
pub(crate) fn copy_metadata(from: &Path, attributes: &Attributes, to: &File) -> Vec<LostMetadata> {
    let mut lost = Vec::new();
    // The order matters: changing the owner clears set-user-ID and capabilities, and setting an ACL
    // sets a mode.
    let owner_kept = copy_owner(attributes, to, &mut lost);
    copy_xattrs(from, to, &mut lost);
    if let Some(mode) = attributes.mode() {
        // A program must not run as its former owner.
        let mask = if owner_kept { 0o7777 } else { 0o1777 };
        let mode = Mode::from_raw_mode(u32::from(mode) & mask);
        record_loss(rustix::fs::fchmod(to, mode), "permissions", &mut lost);
    }
    lost
}

fn copy_owner(attributes: &Attributes, to: &File, lost: &mut Vec<LostMetadata>) -> bool {
    let (Some(user), Some(group), Ok(now)) =
        (attributes.uid(), attributes.gid(), rustix::fs::fstat(to))
    else {
        return false;
    };
    let mut kept = true;
    // Separately: setting the group may be allowed where setting the user is not.
    if now.st_uid != user {
        kept &= record_loss(rustix::fs::fchown(to, Some(Uid::from_raw(user)), None), "owner", lost);
    }
    if now.st_gid != group {
        kept &=
            record_loss(rustix::fs::fchown(to, None, Some(Gid::from_raw(group))), "group", lost);
    }
    kept
}

/// The access ACL, which new files may inherit from their directory.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

fn copy_xattrs(from: &Path, to: &File, lost: &mut Vec<LostMetadata>) {
    let mut names = vec![0; LARGEST_XATTR];
    let length = match rustix::fs::listxattr(from, names.as_mut_slice()) {
        Ok(length) => length,
        // The file system has no extended attributes.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return,
        Err(errno) => {
            record_loss(Err(errno), "extended attributes", lost);
            return;
        }
    };
    let names = || names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    if names().all(|name| name != ACCESS_LIST) {
        // The new file must not be readable by anyone who could not read the old one. Usually there
        // is no ACL, so errors are ignored.
        let _ = rustix::fs::fremovexattr(to, ACCESS_LIST);
    }
    let (mut value, mut has) = (Vec::new(), Vec::new());
    for name in names() {
        value.resize(LARGEST_XATTR, 0);
        has.resize(LARGEST_XATTR, 0);
        let kept = rustix::fs::getxattr(from, name, value.as_mut_slice()).and_then(|length| {
            value.truncate(length);
            let has_length = rustix::fs::fgetxattr(to, name, has.as_mut_slice()).unwrap_or(0);
            has.truncate(has_length);
            // Security labels that the system has already set cannot be set by every user.
            if has == value {
                return Ok(());
            }
            rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())
        });
        record_loss(kept, &String::from_utf8_lossy(name), lost);
    }
}

/// The largest list of names and the largest value (`XATTR_LIST_MAX`, `XATTR_SIZE_MAX`).
const LARGEST_XATTR: usize = 1 << 16;

fn record_loss(kept: Result<(), Errno>, what: &str, lost: &mut Vec<LostMetadata>) -> bool {
    if let Err(errno) = kept {
        lost.push(LostMetadata { what: what.to_owned(), reason: errno.into() });
    }
    kept.is_ok()
}
