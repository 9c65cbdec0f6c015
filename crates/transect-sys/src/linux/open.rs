//! Opening directories below a handle.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::stat::retry;

/// Flags for opening a directory to list it.
pub(super) const LIST_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Flags for opening a directory as an anchor for other paths. It cannot be listed.
pub(super) const PATH_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The longest part of a path that one call resolves; the kernel's limit is 4,096 with the
/// terminating NUL (`PATH_MAX`).
const MAX_PIECE: usize = 4000;

/// Opens directories for listing, and remembers refused flags.
#[derive(Debug)]
pub(super) struct Opener {
    /// Whether to open with `O_NOATIME`, so that the kernel does not update the time of last
    /// access. Only the owner may do so (`open(2)`); it is not tried again after the first refusal.
    no_atime: bool,
}

impl Opener {
    pub(super) fn new() -> Self {
        Self { no_atime: true }
    }

    /// Opens `name` relative to `fd` for listing.
    pub(super) fn open<P: rustix::path::Arg + Copy>(
        &mut self,
        fd: BorrowedFd<'_>,
        name: P,
        follow: bool,
    ) -> Result<OwnedFd, Errno> {
        let flags = if follow { LIST_FLAGS } else { LIST_FLAGS | OFlags::NOFOLLOW };
        if self.no_atime {
            match retry(|| rustix::fs::openat(fd, name, flags | OFlags::NOATIME, Mode::empty())) {
                Err(Errno::PERM) => self.no_atime = false,
                answer => return answer,
            }
        }
        retry(|| rustix::fs::openat(fd, name, flags, Mode::empty()))
    }
}

/// Returns whether this kernel (Linux 5.6) and this sandbox allow `openat2`.
pub fn has_openat2() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| resolve_piece(rustix::fs::CWD, b".").is_ok())
}

/// Resolves all but the last of `steps` and calls `last` with the directory reached and the last
/// step. Resolves nothing for a single step. A link among the resolved steps is refused with
/// `ELOOP`.
pub(super) fn with_parent<T>(
    anchor: BorrowedFd<'_>,
    steps: &[&OsStr],
    last: impl FnOnce(BorrowedFd<'_>, &OsStr) -> Result<T, Errno>,
) -> Result<T, Errno> {
    match steps {
        [] => Err(Errno::NOENT),
        [name] => last(anchor, name),
        [way @ .., name] => last(resolve(anchor, way)?.as_fd(), name),
    }
}

/// Opens the directory that `steps` lead to; the path may have any length.
pub(super) fn resolve(anchor: BorrowedFd<'_>, steps: &[&OsStr]) -> Result<OwnedFd, Errno> {
    let mut reached: Option<OwnedFd> = None;
    let mut piece: Vec<u8> = Vec::with_capacity(MAX_PIECE);
    for step in steps {
        if !piece.is_empty() && piece.len() + 1 + step.len() > MAX_PIECE {
            let from = reached.as_ref().map_or(anchor, |fd| fd.as_fd());
            reached = Some(resolve_one(from, &piece)?);
            piece.clear();
        }
        if !piece.is_empty() {
            piece.push(b'/');
        }
        piece.extend_from_slice(step.as_bytes());
    }
    let from = reached.as_ref().map_or(anchor, |fd| fd.as_fd());
    resolve_one(from, &piece)
}

/// Resolves one part of a path without following links: with one call where `openat2` is allowed,
/// step by step elsewhere.
fn resolve_one(from: BorrowedFd<'_>, piece: &[u8]) -> Result<OwnedFd, Errno> {
    if has_openat2() {
        return resolve_piece(from, piece);
    }
    let mut reached: Option<OwnedFd> = None;
    for step in piece.split(|&byte| byte == b'/') {
        let from = reached.as_ref().map_or(from, |fd| fd.as_fd());
        let next = retry(|| {
            rustix::fs::openat(
                from,
                OsStr::from_bytes(step),
                PATH_FLAGS | OFlags::NOFOLLOW,
                Mode::empty(),
            )
        })?;
        reached = Some(next);
    }
    reached.ok_or(Errno::NOENT)
}

fn resolve_piece(from: BorrowedFd<'_>, piece: &[u8]) -> Result<OwnedFd, Errno> {
    retry(|| {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(from, OsStr::from_bytes(piece), PATH_FLAGS, Mode::empty(), resolve)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_many_steps_reaches_same_directory_refuses_links() {
        let here = rustix::fs::openat(rustix::fs::CWD, "/", PATH_FLAGS, Mode::empty()).unwrap();
        let proc = rustix::fs::stat("/proc/self/task").unwrap();
        let steps = ["proc", "thread-self", "x"].map(OsStr::new);
        // thread-self is a link: refused.
        let refused = with_parent(here.as_fd(), &steps, |_, _| Ok(()));
        assert_eq!(refused.unwrap_err(), Errno::LOOP);
        let pid = std::process::id().to_string();
        let steps = ["proc", pid.as_str(), "task"].map(OsStr::new);
        let reached = with_parent(here.as_fd(), &steps, |fd, name| {
            rustix::fs::statat(fd, name, rustix::fs::AtFlags::empty())
        });
        assert_eq!(reached.unwrap().st_ino, proc.st_ino);
    }

    #[test]
    fn resolve_step_by_step_equals_openat2() {
        let root = rustix::fs::openat(rustix::fs::CWD, "/", PATH_FLAGS, Mode::empty()).unwrap();
        let one = resolve_one(root.as_fd(), b"proc/sys/kernel").unwrap();
        let steps = ["proc", "sys", "kernel"].map(OsStr::new);
        let many = resolve(root.as_fd(), &steps).unwrap();
        let inode = |fd: &OwnedFd| rustix::fs::fstat(fd).unwrap().st_ino;
        assert_eq!(inode(&one), inode(&many));
    }
}
