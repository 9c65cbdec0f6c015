//! The system calls for notifications of a whole file system.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use super::errno::last_errno;
use super::stat::retry;
use crate::record::fanotify::Handle;

/// Everything that changes an entry or a directory itself, but no reads.
const CHANGES: u64 = libc::FAN_CREATE
    | libc::FAN_DELETE
    | libc::FAN_MOVED_FROM
    | libc::FAN_MOVED_TO
    | libc::FAN_MODIFY
    | libc::FAN_CLOSE_WRITE
    | libc::FAN_ATTRIB
    | libc::FAN_DELETE_SELF
    | libc::FAN_MOVE_SELF
    | libc::FAN_ONDIR;

/// Returns a queue with the changes of every directory of the file system that holds an open directory.
///
/// # Errors
/// It needs `CAP_SYS_ADMIN`, Linux 5.9, and a file system that supports it: ext4, XFS, tmpfs, F2FS, or Btrfs unless a
/// subvolume is mounted; not overlays and FUSE.
pub(super) fn file_system_queue(directory: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::FAN_CLASS_NOTIF
        | libc::FAN_CLOEXEC
        | libc::FAN_NONBLOCK
        | libc::FAN_REPORT_DIR_FID
        | libc::FAN_REPORT_NAME;
    // SAFETY: the call takes no memory of ours.
    let queue = retry(|| match unsafe { libc::fanotify_init(flags, 0) } {
        number if number < 0 => Err(last_errno()),
        number => Ok(number),
    })?;
    // SAFETY: the call returned a new descriptor.
    let queue = unsafe { OwnedFd::from_raw_fd(queue) };
    let (add, this) = (libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM, directory.as_raw_fd());
    retry(|| {
        // SAFETY: both descriptors are open; no path means the directory itself.
        let answer =
            unsafe { libc::fanotify_mark(queue.as_raw_fd(), add, CHANGES, this, ptr::null()) };
        if answer < 0 { Err(last_errno()) } else { Ok(()) }
    })?;
    Ok(queue)
}

/// `struct file_handle` with its bytes.
#[repr(C)]
struct FileHandle {
    handle_bytes: libc::c_uint,
    handle_type: libc::c_int,
    bytes: [u8; Handle::MAX],
}

/// Returns the handle of an open directory.
///
/// # Errors
/// The file system has no handles, or longer ones.
pub(super) fn handle_of(directory: BorrowedFd<'_>) -> io::Result<Handle> {
    const { assert!(offset_of!(FileHandle, bytes) == size_of::<libc::file_handle>()) };
    let length = Handle::MAX as libc::c_uint;
    let mut handle = FileHandle { handle_bytes: length, handle_type: 0, bytes: [0; Handle::MAX] };
    let mut mount = 0;
    retry(|| {
        // SAFETY: the path is a string, and the kernel writes at most `handle_bytes` bytes.
        let answer = unsafe {
            libc::name_to_handle_at(
                directory.as_raw_fd(),
                c"".as_ptr(),
                ptr::from_mut(&mut handle).cast(),
                &raw mut mount,
                libc::AT_EMPTY_PATH,
            )
        };
        if answer < 0 { Err(last_errno()) } else { Ok(()) }
    })?;
    let bytes = handle.bytes.get(..handle.handle_bytes as usize);
    let handle = bytes.and_then(|bytes| Handle::new(handle.handle_type, bytes));
    handle.ok_or_else(|| io::ErrorKind::Unsupported.into())
}
