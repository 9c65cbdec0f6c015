//! Attribute queries: `statx` relative to a directory handle, or `fstatat` where `statx` is
//! refused.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{AtFlags, CWD, Stat, Statx, StatxAttributes, StatxFlags, StatxTimestamp};
use rustix::io::Errno;
use rustix::path::Arg;

use super::errno::last_errno;
use crate::attributes::{Attributes, FieldMask, FileType};

/// The system call for attribute queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatCall {
    /// `statx(2)`, Linux 4.11: only the wanted fields, and the time of creation.
    Statx,
    /// `newfstatat(2)`: available everywhere.
    Fstatat,
}

/// Returns whether this kernel (Linux 4.11) and this sandbox allow `statx`.
pub fn has_statx() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let asked = rustix::fs::statx(rustix::fs::CWD, c".", AtFlags::empty(), StatxFlags::TYPE);
        !matches!(asked, Err(Errno::NOSYS | Errno::PERM))
    })
}

/// The object of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The name itself, even if it is a symbolic link.
    Name,
    /// The target of the name.
    Followed,
    /// The descriptor; the name is empty.
    Descriptor,
}

impl Target {
    /// Does not trigger automounts, as in `du` and `find`.
    fn flags(self) -> AtFlags {
        match self {
            Self::Name => AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT),
            Self::Followed => AtFlags::NO_AUTOMOUNT,
            Self::Descriptor => AtFlags::EMPTY_PATH,
        }
    }
}

/// Queries at least the fields in `want` and replaces `attributes` by the result.
///
/// The kernel decides how fresh the result is, as for `stat(2)`: `AT_STATX_DONT_SYNC` made no
/// difference on local file systems (peers-scan: floor variant `sync`), and on a network file
/// system the result might be outdated.
#[inline]
pub(super) fn stat(
    call: StatCall,
    fd: BorrowedFd<'_>,
    name: &CStr,
    target: Target,
    want: FieldMask,
    attributes: &mut Attributes,
) -> Result<(), Errno> {
    match call {
        StatCall::Statx => {
            statx(fd, name, target, want, |statx| take_statx(statx, want, attributes))
        }
        StatCall::Fstatat => {
            let stat = retry(|| rustix::fs::statat(fd, name, target.flags()))?;
            take_stat(&stat, attributes);
            Ok(())
        }
    }
}

/// Queries an open directory, as [`stat`] does. Returns whether a file system may be mounted there:
/// also true if the kernel does not report it (`STATX_ATTR_MOUNT_ROOT`, Linux 5.8).
pub(super) fn stat_directory(
    call: StatCall,
    fd: BorrowedFd<'_>,
    want: FieldMask,
    attributes: &mut Attributes,
) -> Result<bool, Errno> {
    match call {
        StatCall::Statx => statx(fd, c"", Target::Descriptor, want, |statx| {
            take_statx(statx, want, attributes);
            let known = statx.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
            !known || statx.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
        }),
        StatCall::Fstatat => {
            stat(call, fd, c"", Target::Descriptor, want, attributes)?;
            Ok(true)
        }
    }
}

/// Calls `statx` and passes the result to `take`, as a reference: rustix returns its 256 bytes by value, and
/// copying them took 30 instructions a call (callgrind, without link-time optimization).
#[inline]
fn statx<T>(
    fd: BorrowedFd<'_>,
    name: &CStr,
    target: Target,
    want: FieldMask,
    take: impl FnOnce(&Statx) -> T,
) -> Result<T, Errno> {
    let mask = StatxFlags::TYPE.bits() | u32::from((want & FieldMask::STATX).bits());
    let mut result = MaybeUninit::<Statx>::uninit();
    retry(|| {
        // SAFETY:
        // - the descriptor is borrowed and the name is a C string, so both are valid during the call;
        // - the kernel writes one `struct statx`, which `Statx` is, to `result`.
        let status = unsafe {
            let (fd, flags) = (fd.as_raw_fd(), target.flags().bits());
            libc::syscall(libc::SYS_statx, fd, name.as_ptr(), flags, mask, result.as_mut_ptr())
        };
        if status == 0 { Ok(()) } else { Err(last_errno()) }
    })?;
    // SAFETY: the call succeeded, so the kernel wrote the whole structure (`cp_statx`, `fs/stat.c`).
    Ok(take(unsafe { result.assume_init_ref() }))
}

/// Returns all attributes of an open file. Works in sandboxes where `std` fails.
pub(crate) fn attributes_of(fd: BorrowedFd<'_>) -> io::Result<Attributes> {
    let call = if has_statx() { StatCall::Statx } else { StatCall::Fstatat };
    let mut attributes = Attributes::default();
    stat(call, fd, c"", Target::Descriptor, FieldMask::all(), &mut attributes)?;
    Ok(attributes)
}

/// Queries a path, or its target, and returns the kernel's error unchanged.
pub(crate) fn query_attributes(
    path: &Path,
    want: FieldMask,
    follow: bool,
) -> io::Result<Attributes> {
    let call = if has_statx() { StatCall::Statx } else { StatCall::Fstatat };
    let target = if follow { Target::Followed } else { Target::Name };
    let mut attributes = Attributes::default();
    // A short path gets its NUL on the stack.
    path.into_with_c_str(|path| stat(call, CWD, path, target, want, &mut attributes))?;
    Ok(attributes)
}

/// Repeats a call that a signal interrupted. Repeats a call once if a handle was no longer valid:
/// on network file systems another client may just have replaced the entry.
#[inline]
pub(super) fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut was_stale = false;
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::STALE) if !was_stale => was_stale = true,
            answer => return answer,
        }
    }
}

/// Stores the result of `statx`. Fields outside `stx_mask` are absent.
///
/// All fields are copied and the mask says which are valid: a branch for each would take as long as
/// the rest of the call's user side. Only unwanted times are left out because they need arithmetic.
#[inline]
fn take_statx(statx: &Statx, want: FieldMask, attributes: &mut Attributes) {
    let returned = FieldMask::from_bits_truncate(statx.stx_mask as u16) & FieldMask::STATX;
    let mut known = returned | FieldMask::DEVICE;
    let (mut mtime, mut ctime, mut atime, mut btime) = (0, 0, 0, 0);
    if want.intersects(FieldMask::TIMES) {
        mtime = nanoseconds(&statx.stx_mtime);
        ctime = nanoseconds(&statx.stx_ctime);
        atime = nanoseconds(&statx.stx_atime);
        btime = nanoseconds(&statx.stx_btime);
    } else {
        known -= FieldMask::TIMES;
    }
    *attributes = Attributes {
        known,
        file_type: FileType::from_mode(statx.stx_mode.into()),
        mode: statx.stx_mode,
        nlink: statx.stx_nlink,
        uid: statx.stx_uid,
        gid: statx.stx_gid,
        size: statx.stx_size,
        allocated: statx.stx_blocks.saturating_mul(512),
        inode: statx.stx_ino,
        device: rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor),
        mtime,
        ctime,
        atime,
        btime,
        attribute_bits: 0,
        reparse_tag: 0,
    };
}

fn nanoseconds(time: &StatxTimestamp) -> i64 {
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.into())
}

/// Stores the result of `fstatat`: everything except the time of creation.
#[allow(clippy::unnecessary_cast)] // the fields' widths differ between architectures
fn take_stat(stat: &Stat, to: &mut Attributes) {
    let time = |seconds: i64, nanoseconds: u64| {
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds as i64)
    };
    to.set_file_type(FileType::from_mode(stat.st_mode as u32));
    to.set_device(stat.st_dev as u64);
    to.set_inode(stat.st_ino as u64);
    to.set_size(stat.st_size as u64);
    to.set_allocated((stat.st_blocks as u64).saturating_mul(512));
    to.set_nlink(stat.st_nlink as u32);
    to.set_mode(stat.st_mode as u16);
    to.set_uid(stat.st_uid as u32);
    to.set_gid(stat.st_gid as u32);
    to.set_mtime(time(stat.st_mtime as i64, stat.st_mtime_nsec as u64));
    to.set_ctime(time(stat.st_ctime as i64, stat.st_ctime_nsec as u64));
    to.set_atime(time(stat.st_atime as i64, stat.st_atime_nsec as u64));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mask is passed to the kernel unchanged, so its bits must be the kernel's.
    #[test]
    fn field_mask_bits_equal_statx() {
        for (field, statx) in [
            (FieldMask::MODE, StatxFlags::MODE),
            (FieldMask::NLINK, StatxFlags::NLINK),
            (FieldMask::UID, StatxFlags::UID),
            (FieldMask::GID, StatxFlags::GID),
            (FieldMask::ATIME, StatxFlags::ATIME),
            (FieldMask::MTIME, StatxFlags::MTIME),
            (FieldMask::CTIME, StatxFlags::CTIME),
            (FieldMask::INODE, StatxFlags::INO),
            (FieldMask::SIZE, StatxFlags::SIZE),
            (FieldMask::ALLOCATED, StatxFlags::BLOCKS),
            (FieldMask::BTIME, StatxFlags::BTIME),
        ] {
            assert_eq!(u32::from(field.bits()), statx.bits());
        }
    }

    #[test]
    fn stat_statx_and_fstatat_agree() {
        let mut answers = [StatCall::Statx, StatCall::Fstatat].map(|call| {
            let mut attributes = Attributes::default();
            let want = FieldMask::all() - FieldMask::BTIME;
            stat(call, rustix::fs::CWD, c"Cargo.toml", Target::Name, want, &mut attributes)
                .expect("the test runs in the crate's directory");
            attributes
        });
        // The only field that fstatat lacks; statx may return it without a request.
        answers.iter_mut().for_each(|answer| answer.set_btime(0));
        assert_eq!(format!("{:?}", answers[0]), format!("{:?}", answers[1]));
    }
}
