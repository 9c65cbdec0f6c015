//! Directory handles on Linux: every call is relative to a descriptor.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

use super::getdents;
use super::open::{LIST_FLAGS, PATH_FLAGS, has_openat2, resolve};
use super::stat::{StatCall, Target, attributes_of, has_statx, retry, stat};
use super::watch::Watcher;
use crate::attributes::{Attributes, FieldMask};
use crate::batch::Batch;
use crate::dir_handle::{MountPolicy, single_component};
use crate::reader::ListStatus;
use crate::volume::EndDetection;
use crate::watch::WatchId;

/// Bytes of one listing call.
const BUFFER_SIZE: usize = 64 << 10;

/// An open directory. Needs permission to search it, not to read it.
#[derive(Debug)]
pub struct DirHandle {
    fd: OwnedFd,
}

impl DirHandle {
    /// Opens the directory at a path. Follows links in the middle of the path, but not at its end.
    ///
    /// # Errors
    /// There is no such directory, or the path to it is not permitted.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = PATH_FLAGS | OFlags::NOFOLLOW;
        let fd = retry(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
        Ok(Self { fd })
    }

    /// Duplicates the handle.
    ///
    /// # Errors
    /// Too many open files.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()? })
    }

    /// Opens a subdirectory.
    ///
    /// # Errors
    /// There is no such directory, or it is on another file system and `mounts` refuses that.
    pub fn open_dir(&self, name: &OsStr, mounts: MountPolicy) -> io::Result<Self> {
        self.open_at(single_component(name)?, mounts)
    }

    /// Opens the directory that names lead to, each in the one before; without names, this directory. Follows no links, and
    /// enters mounts.
    ///
    /// # Errors
    /// There is no such directory, or the path to it is not permitted.
    pub fn open_below(&self, names: &[&OsStr]) -> io::Result<Self> {
        if names.is_empty() {
            return self.try_clone();
        }
        for name in names {
            single_component(name)?;
        }
        Ok(Self { fd: resolve(self.fd.as_fd(), names)? })
    }

    /// Watches the directory, wherever it is now.
    ///
    /// # Errors
    /// Too many directories are watched, or listing it is not permitted.
    pub fn watch(&self, watcher: &Watcher) -> io::Result<WatchId> {
        watcher.watch_open(self.fd.as_fd())
    }

    /// Opens the parent directory.
    ///
    /// # Errors
    /// It is on another file system, or it is not permitted. The parent of `/` is `/`.
    pub fn open_parent(&self) -> io::Result<Self> {
        self.open_at(OsStr::new(".."), MountPolicy::Refuse)
    }

    fn open_at(&self, name: &OsStr, mounts: MountPolicy) -> io::Result<Self> {
        if mounts == MountPolicy::Refuse && has_openat2() {
            let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
            let fd = retry(|| {
                match rustix::fs::openat2(&self.fd, name, PATH_FLAGS, Mode::empty(), resolve) {
                    // Something was moved while the kernel looked up `..`.
                    Err(Errno::AGAIN) => Err(Errno::INTR),
                    answer => answer,
                }
            })?;
            return Ok(Self { fd });
        }
        let flags = PATH_FLAGS | OFlags::NOFOLLOW;
        let fd = retry(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))?;
        let opened = Self { fd };
        if mounts == MountPolicy::Refuse && self.mount()? != opened.mount()? {
            return Err(Errno::XDEV.into());
        }
        Ok(opened)
    }

    /// Returns the device and, since Linux 5.8, the mount: a directory can be mounted at two places
    /// of one file system.
    fn mount(&self) -> io::Result<(u64, u64)> {
        if has_statx() {
            let flags = StatxFlags::MNT_ID;
            let statx = retry(|| rustix::fs::statx(&self.fd, c"", AtFlags::EMPTY_PATH, flags))?;
            let device = rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor);
            let has_mount = statx.stx_mask & StatxFlags::MNT_ID.bits() != 0;
            return Ok((device, if has_mount { statx.stx_mnt_id } else { 0 }));
        }
        Ok((self.attributes()?.device().unwrap_or(0), 0))
    }

    /// Returns all attributes of the directory itself.
    pub fn attributes(&self) -> io::Result<Attributes> {
        attributes_of(self.fd.as_fd())
    }

    /// Returns all attributes of an entry; for a link, those of the link itself.
    pub fn entry_attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        let name = CString::new(single_component(name)?.as_bytes())?;
        let call = if has_statx() { StatCall::Statx } else { StatCall::Fstatat };
        let mut attributes = Attributes::default();
        let fd = self.fd.as_fd();
        stat(call, fd, &name, Target::Name, FieldMask::all(), &mut attributes)?;
        Ok(attributes)
    }

    /// Returns `None`: names have one spelling.
    pub fn other_spelling(&self, _: &OsStr) -> Option<OsString> {
        None
    }

    /// Opens an entry for reading. Does not block on a pipe. Follows a link only if `follow` is set.
    ///
    /// # Errors
    /// Any error that the system reports; for a link that is not followed, one of the kind
    /// [`FaultKind::Loop`](crate::FaultKind::Loop).
    pub fn open_file(&self, name: &OsStr, follow: bool) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, !follow);
        let name = single_component(name)?;
        Ok(retry(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))?.into())
    }

    /// Calls `each` with the name of every entry.
    pub fn for_each_name(&self, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        let fd = self.open_to_list()?;
        let mut batch = Batch::new();
        loop {
            let end = EndDetection::EmptyResult;
            let listing = getdents::list(fd.as_fd(), end, None, BUFFER_SIZE, &mut batch)?;
            batch.iter().for_each(|entry| each(entry.name));
            if listing == ListStatus::End {
                return Ok(());
            }
        }
    }

    /// Checks that the directory can be listed and searched.
    ///
    /// # Errors
    /// It is not permitted, or too many files are open.
    pub fn check_list(&self) -> io::Result<()> {
        self.open_to_list().map(drop)
    }

    fn open_to_list(&self) -> io::Result<OwnedFd> {
        Ok(retry(|| rustix::fs::openat(&self.fd, ".", LIST_FLAGS, Mode::empty()))?)
    }

    /// Returns whether the permissions forbid to read the directory, whether it may be searched or not. Returns false if that
    /// is not known: without `/proc`.
    pub fn is_unreadable(&self) -> bool {
        let path = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        rustix::fs::accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS) == Err(Errno::ACCESS)
    }

    /// Removes an entry that is not a directory.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single_component(name)?, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single_component(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Creates a directory that only its owner can use.
    ///
    /// # Errors
    /// Any error that the system reports, also if the name exists.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, single_component(name)?, Mode::RWXU)?)
    }

    /// Creates a file with this content that only its owner can use. Leaves nothing behind on
    /// failure.
    ///
    /// # Errors
    /// Any error that the system reports, also if the name exists.
    pub fn create_file(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = single_component(name)?;
        let fd = retry(|| rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR))?;
        let mut file = File::from(fd);
        let written = file.write_all(content).and_then(|()| crate::file::close(file));
        if written.is_err() {
            self.unlink(name)?;
        }
        written
    }

    /// Gives a file another name (hard link) in `to`. A link is not followed.
    ///
    /// # Errors
    /// Any error that the system reports, also if the new name exists.
    pub fn hard_link(&self, name: &OsStr, to: &Self, to_name: &OsStr) -> io::Result<()> {
        let (name, to_name) = (single_component(name)?, single_component(to_name)?);
        Ok(rustix::fs::linkat(&self.fd, name, &to.fd, to_name, AtFlags::empty())?)
    }

    /// Renames an entry within the directory. Replaces a file of the new name.
    pub fn rename(&self, name: &OsStr, to_name: &OsStr) -> io::Result<()> {
        let (name, to_name) = (single_component(name)?, single_component(to_name)?);
        Ok(rustix::fs::renameat(&self.fd, name, &self.fd, to_name)?)
    }

    /// Moves an entry to another directory of the same file system and never replaces one there. On
    /// file systems without `RENAME_NOREPLACE`, checks beforehand whether the name is free.
    ///
    /// # Errors
    /// Any error that the system reports, also if the name exists.
    pub fn rename_no_replace(&self, name: &OsStr, to: &Self, to_name: &OsStr) -> io::Result<()> {
        let (name, to_name) = (single_component(name)?, single_component(to_name)?);
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.fd, name, &to.fd, to_name, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            answer => return Ok(answer?),
        }
        match to.entry_attributes(to_name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(rustix::fs::renameat(&self.fd, name, &to.fd, to_name)?)
            }
            Err(error) => Err(error),
            Ok(_) => Err(Errno::EXIST.into()),
        }
    }
}
