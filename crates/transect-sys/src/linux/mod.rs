//! Linux: `getdents64` and `statx` relative to directory handles, memory mappings and `io_uring`.

#[cfg(feature = "volumes")]
mod btrfs;
mod covered;
mod deleted_files;
mod dir_handle;
mod errno;
mod extents;
#[cfg(feature = "fake")]
mod fake_tree_watch;
mod fanotify;
mod file_system_watch;
mod getdents;
mod identity;
mod limits;
mod mapping;
mod mounts;
mod open;
mod reader;
pub(crate) mod residency;
#[cfg(feature = "ring")]
mod ring;
mod stat;
mod volume;
mod watch;
mod watch_helper;
mod watch_protocol;

#[cfg(feature = "volumes")]
pub use btrfs::{BtrfsKey, SearchBuffer, TreeSearch, btrfs_info};
pub use covered::UncoveredMount;
pub use deleted_files::{DeletedFile, DeletedFiles};
pub use dir_handle::DirHandle;
pub(crate) use extents::{shared_extents, sharing_volume};
pub use identity::file_system_identity;
pub use limits::{can_drop_caches, kernel_version, open_file_limit};
pub(crate) use mounts::MountPoints;
pub use mounts::{Mount, mount_of, mounts, parse_mountinfo};
pub use open::has_openat2;
pub use reader::{GetdentsReader, ListingHandle};
#[cfg(feature = "ring")]
pub use ring::{Buffer, Ring, Transfer, has_io_uring};
pub use stat::{StatCall, has_statx};
pub(crate) use volume::proves_changes;
pub use volume::{file_system_of, reliability_of};
pub use watch::Watcher;
pub use watch_helper::serve_watches;

pub(crate) use limits::raise_open_file_limit;
pub(crate) use mapping::View;
pub(crate) use stat::{attributes_of, query_attributes};

use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::fault::Fault;
use rustix::io::Errno;
use rustix::ioctl::Opcode;

/// Distinguishes an entry that is gone since it was listed from an error.
///
/// `ENOTDIR` and `ELOOP` come from opening a name, without following links, that was listed as a
/// directory: something else now has that name. `ESTALE` is an error: it means that a handle is no
/// longer valid, not that the name is gone, and after a server's restart every entry reports it.
fn fault_of_entry(errno: Errno) -> Fault {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Fault::Vanished,
        _ => Fault::Failed(errno.into()),
    }
}

/// The user named the root, so any failure is an error.
fn fault_of_root(errno: Errno) -> Fault {
    Fault::Failed(errno.into())
}

/// Calls `ioctl(2)`.
///
/// # Safety
/// The kernel must access only memory behind `argument` that the caller may write to.
unsafe fn ioctl(fd: BorrowedFd<'_>, number: Opcode, argument: *mut c_void) -> Result<(), Errno> {
    stat::retry(|| {
        // SAFETY: the descriptor is open; for the rest see above.
        let answer = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, argument) };
        if answer < 0 { Err(errno::last_errno()) } else { Ok(()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_stale_handle_error_not_vanished() {
        assert!(matches!(fault_of_entry(Errno::NOENT), Fault::Vanished));
        assert!(matches!(fault_of_entry(Errno::STALE), Fault::Failed(_)));
    }
}
