//! Folders: directories by their handles.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

use super::getdents;
use super::open::{LIST, STEP, has_openat2};
use super::stat::{StatCall, Target, attributes_of, has_statx, retry, stat};
use crate::attributes::{Attributes, FieldMask};
use crate::batch::Batch;
use crate::dir_handle::{MountPolicy, single_component};
use crate::fault::Fault;
use crate::reader::ListStatus;
use crate::volume::EndDetection;

/// Bytes of a listing.
const LISTING: usize = 64 << 10;

/// An open directory. It takes no permission to read it, only to pass through it.
#[derive(Debug)]
pub struct DirHandle {
    fd: OwnedFd,
}

impl DirHandle {
    /// Opens the directory that a path leads to. Links on the way are followed, as in every path;
    /// one at its end is not.
    ///
    /// # Errors
    /// There is none, or the way to it is not permitted.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = STEP | OFlags::NOFOLLOW;
        let fd = retry(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
        Ok(Self { fd })
    }

    /// Opens the same directory once more.
    ///
    /// # Errors
    /// There are too many handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()? })
    }

    /// Opens a directory that lies in this one.
    ///
    /// # Errors
    /// There is none of this name, or it begins another file system and that is refused.
    pub fn open_dir(&self, name: &OsStr, mounts: MountPolicy) -> io::Result<Self> {
        self.open_at(single_component(name)?, mounts)
    }

    /// Opens the directory that holds this one.
    ///
    /// # Errors
    /// It lies on another file system, or the way to it is not permitted. What holds `/` is `/`.
    pub fn open_parent(&self) -> io::Result<Self> {
        self.open_at(OsStr::new(".."), MountPolicy::Refuse)
    }

    fn open_at(&self, name: &OsStr, mounts: MountPolicy) -> io::Result<Self> {
        if mounts == MountPolicy::Refuse && has_openat2() {
            let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
            let fd = retry(|| {
                match rustix::fs::openat2(&self.fd, name, STEP, Mode::empty(), resolve) {
                    // Somebody moved something while `..` was looked up.
                    Err(Errno::AGAIN) => Err(Errno::INTR),
                    answer => answer,
                }
            })?;
            return Ok(Self { fd });
        }
        let flags = STEP | OFlags::NOFOLLOW;
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
            let told = retry(|| rustix::fs::statx(&self.fd, c"", AtFlags::EMPTY_PATH, flags))?;
            let device = rustix::fs::makedev(told.stx_dev_major, told.stx_dev_minor);
            let has_mount = told.stx_mask & StatxFlags::MNT_ID.bits() != 0;
            return Ok((device, if has_mount { told.stx_mnt_id } else { 0 }));
        }
        Ok((self.attributes()?.device().unwrap_or(0), 0))
    }

    /// Returns all that is known of the directory itself.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn attributes(&self) -> io::Result<Attributes> {
        attributes_of(self.fd.as_fd())
    }

    /// Returns all that is known of an entry; of a link, of the link itself.
    ///
    /// # Errors
    /// Whatever the system says, also that there is none.
    pub fn entry_attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        let name = CString::new(single_component(name)?.as_bytes())?;
        let call = if has_statx() { StatCall::Statx } else { StatCall::Fstatat };
        let mut attributes = Attributes::default();
        let fd = self.fd.as_fd();
        stat(call, fd, &name, Target::Name, FieldMask::all(), &mut attributes)?;
        Ok(attributes)
    }

    /// Calls `each` with the names of all entries.
    ///
    /// # Errors
    /// It cannot be listed, or not to its end.
    pub fn for_each_name(&self, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        let fd = retry(|| rustix::fs::openat(&self.fd, ".", LIST, Mode::empty()))?;
        let mut batch = Batch::new();
        loop {
            let listing =
                getdents::list(fd.as_fd(), EndDetection::EmptyResult, None, LISTING, &mut batch);
            let listing = listing.map_err(|fault: Fault| io::Error::from(fault))?;
            batch.iter().for_each(|entry| each(entry.name));
            if listing == ListStatus::End {
                return Ok(());
            }
        }
    }

    /// Removes a name that is no directory's.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single_component(name)?, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, single_component(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Makes a directory that is its owner's alone.
    ///
    /// # Errors
    /// Whatever the system says, also that the name is taken.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, single_component(name)?, Mode::RWXU)?)
    }

    /// Makes a file of this content that is its owner's alone, or none.
    ///
    /// # Errors
    /// Whatever the system says, also that the name is taken.
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

    /// Moves an entry to a free name in another folder of the same file system. Where a file system
    /// cannot promise to replace nothing, it is looked before whether the name is free.
    ///
    /// # Errors
    /// Whatever the system says, also that the name is taken.
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
