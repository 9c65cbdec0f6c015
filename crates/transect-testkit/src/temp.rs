//! A directory that goes away, whatever was built in it.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode};
use rustix::io::Errno;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A new directory, removed with all that is in it when this is dropped: also what nobody may
/// read, and what lies deeper than any path reaches.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl Default for TempDir {
    fn default() -> Self {
        Self::new()
    }
}

impl TempDir {
    /// Makes a directory where temporary files belong.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new() -> Self {
        Self::below(std::env::temp_dir())
    }

    /// Makes a directory below `parent`, to have it on a certain file system.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn below(parent: impl AsRef<Path>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = parent.as_ref().canonicalize().expect("the parent is there");
        loop {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("transect-{}-{next}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Self { path },
                // Left behind by a process of the same number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot make '{}': {error}", path.display()),
            }
        }
    }

    /// Returns where it is; no link is on the way.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path in it.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let removed = remove(&self.path);
        if !std::thread::panicking() {
            removed
                .unwrap_or_else(|errno| panic!("cannot remove '{}': {errno}", self.path.display()));
        }
    }
}

/// Removes a directory and all that is in it.
///
/// Two descriptors are open at a time and no name is longer than one step, so depth has no limit.
fn remove(path: &Path) -> Result<(), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL);
    };
    let parent = rustix::fs::openat(CWD, parent, DIRECTORY, Mode::empty())?;
    let mut names = vec![cstring(name)];
    let mut here = enter(parent.as_fd(), &names[0])?;
    loop {
        if let Some(child) = empty(here.as_fd())? {
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

/// Removes what is not a directory, and returns the first directory met.
fn empty(here: BorrowedFd<'_>) -> Result<Option<CString>, Errno> {
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
    // Whoever made it unreadable: it was ours to make, and is ours to remove.
    rustix::fs::chmodat(above, name, Mode::from_raw_mode(0o700 as RawMode), AtFlags::empty())?;
    rustix::fs::openat(above, name, DIRECTORY, Mode::empty())
}

fn cstring(name: &OsStr) -> CString {
    CString::new(name.as_bytes()).expect("a name holds no NUL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees;

    #[test]
    fn nothing_is_left_of_a_directory_that_nobody_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        std::fs::create_dir_all(temp.join("a/b/c")).unwrap();
        std::fs::write(temp.join("a/b/c/x"), "x").unwrap();
        for name in ["a/b/c", "a/b", "a"] {
            let nobody = std::fs::Permissions::from_mode(0o000);
            std::fs::set_permissions(temp.join(name), nobody).unwrap();
        }
        drop(temp);
        assert!(!path.exists());
    }

    #[test]
    fn nothing_is_left_of_what_is_deeper_than_any_path() {
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        trees::beyond_path_max(&path);
        drop(temp);
        assert!(!path.exists());
    }
}
