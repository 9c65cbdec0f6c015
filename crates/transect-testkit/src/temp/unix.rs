//! Removal through handles: no path is needed, so depth is not limited.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode};
use rustix::io::Errno;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a directory and its content.
///
/// Two descriptors are open at a time and every path is one name, so depth is not limited.
pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL.into());
    };
    let parent = rustix::fs::openat(CWD, parent, DIRECTORY, Mode::empty())?;
    let mut names = vec![cstring(name)];
    let mut here = enter(parent.as_fd(), &names[0])?;
    loop {
        if let Some(child) = remove_files(here.as_fd())? {
            here = enter(here.as_fd(), &child)?;
            names.push(child);
            continue;
        }
        let above = rustix::fs::openat(&here, "..", DIRECTORY, Mode::empty())?;
        let name = names.pop().expect("a name for every directory entered");
        rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)?;
        if names.is_empty() {
            return Ok(());
        }
        here = above;
    }
}

/// Removes everything but directories, and returns the first directory found.
fn remove_files(here: BorrowedFd<'_>) -> Result<Option<CString>, Errno> {
    for entry in rustix::fs::Dir::read_from(here)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match rustix::fs::unlinkat(here, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR) => return Ok(Some(name.to_owned())),
            Err(errno) => return Err(errno),
        }
    }
    Ok(None)
}

fn enter(above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    // The directory may be unreadable.
    rustix::fs::chmodat(above, name, Mode::from_raw_mode(0o700 as RawMode), AtFlags::empty())?;
    rustix::fs::openat(above, name, DIRECTORY, Mode::empty())
}

fn cstring(name: &OsStr) -> CString {
    CString::new(name.as_bytes()).expect("a name holds no NUL")
}
