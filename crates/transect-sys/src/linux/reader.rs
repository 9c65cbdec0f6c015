//! The reader that the engine uses on Linux.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::CWD;
use rustix::io::Errno;

use super::open::{Opener, at_parent};
use super::stat::{StatCall, Target, has_statx, stat};
use super::volume::volume_of;
use super::{fault_below, fault_of_root, getdents};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::{Batch, Entry, Verdict};
use crate::fault::Fault;
use crate::reader::{Listing, Reader, Want};
use crate::volume::Volume;

/// An open directory.
#[derive(Debug)]
pub struct DirHandle {
    fd: OwnedFd,
    volume: Volume,
}

impl AsFd for DirHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Lists with `getdents64`, asks with `statx` (or `fstatat`), always relative to a handle.
///
/// A path is never built: looking one up from the root for every entry costs 1.55 times the
/// whole scan (peers-scan: floor variant `statxpath`).
#[derive(Debug)]
pub struct GetdentsReader {
    call: StatCall,
    opener: Opener,
    /// Bytes that one listing call may fill.
    buffer_size: usize,
}

impl GetdentsReader {
    /// Returns a reader that asks with `call`, or with `fstatat` where `statx` is refused, and
    /// lists `buffer_size` bytes at a time.
    pub fn new(call: StatCall, buffer_size: usize) -> Self {
        let call = if has_statx() { call } else { StatCall::Fstatat };
        Self { call, opener: Opener::new(), buffer_size }
    }

    /// Asks about a name and, if `follow` and it is a link that leads somewhere, about that.
    /// Returns whether the answer is about what a link leads to.
    fn ask(
        &self,
        fd: BorrowedFd<'_>,
        name: &CStr,
        want: FieldMask,
        follow: bool,
        attributes: &mut Attributes,
    ) -> Result<bool, Errno> {
        stat(self.call, fd, name, Target::Name, want, attributes)?;
        if !follow || attributes.file_type() != FileType::Symlink {
            return Ok(false);
        }
        // What a link leads to may be a directory: then its identity is needed, to find loops.
        let want = want | FieldMask::FILE_ID;
        match stat(self.call, fd, name, Target::Followed, want, attributes) {
            Ok(()) => Ok(true),
            // A link to nowhere, or to itself, is a link and nothing more.
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Fills one entry; the loop around it is the hottest of the program.
    #[inline]
    fn fill_entry(
        &self,
        fd: BorrowedFd<'_>,
        bytes: &[u8],
        entry: &mut Entry,
        want: &Want,
    ) -> Result<(), Errno> {
        let (wanted, follow) = match entry.attributes.file_type() {
            FileType::Directory => (want.directories, false),
            FileType::Unknown => (want.entries | want.directories, want.follow),
            FileType::Symlink => (want.entries, want.follow),
            _ => (want.entries, false),
        };
        let unknown = entry.attributes.file_type() == FileType::Unknown;
        if !unknown && !follow && entry.attributes.have().contains(wanted) {
            return Ok(());
        }
        let name = Batch::c_name(bytes, &entry.name);
        let wanted = wanted | want.welcome;
        entry.followed = self.ask(fd, name, wanted, follow, &mut entry.attributes)?;
        Ok(())
    }
}

impl Reader for GetdentsReader {
    type Handle = DirHandle;

    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| fault_of_root(Errno::INVAL))?;
        let mut attributes = Attributes::default();
        self.ask(CWD, &name, want, follow, &mut attributes).map_err(fault_of_root)?;
        Ok(attributes)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<DirHandle, Fault> {
        let fd = self.opener.open(CWD, path, follow).map_err(fault_of_root)?;
        Ok(DirHandle { fd, volume: Volume::default() })
    }

    fn open(
        &mut self,
        anchor: &DirHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<DirHandle, Fault> {
        let opener = &mut self.opener;
        let fd = at_parent(anchor.as_fd(), steps, |fd, name| opener.open(fd, name, follow))
            .map_err(fault_below)?;
        Ok(DirHandle { fd, volume: anchor.volume })
    }

    fn stat_open(&mut self, handle: &mut DirHandle, want: FieldMask) -> Result<Attributes, Fault> {
        let mut attributes = Attributes::default();
        stat(self.call, handle.fd.as_fd(), c"", Target::Descriptor, want, &mut attributes)
            .map_err(|errno| Fault::Failed(errno.into()))?;
        if attributes.device() != handle.volume.device {
            handle.volume = volume_of(handle.fd.as_fd(), attributes.device());
        }
        Ok(attributes)
    }

    fn stat(
        &mut self,
        anchor: &DirHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        let mut attributes = Attributes::default();
        at_parent(anchor.as_fd(), steps, |fd, name| {
            let name = std::ffi::CString::new(name.as_encoded_bytes()).map_err(|_| Errno::INVAL)?;
            self.ask(fd, &name, want, follow, &mut attributes).map(drop)
        })
        .map_err(fault_below)?;
        Ok(attributes)
    }

    fn list(&mut self, handle: &DirHandle, batch: &mut Batch, _: &Want) -> Result<Listing, Fault> {
        let short_read_is_end = handle.volume.short_read_is_end;
        getdents::list(handle.fd.as_fd(), short_read_is_end, self.buffer_size, batch)
    }

    fn fill(&mut self, handle: &DirHandle, batch: &mut Batch, want: &Want) {
        let fd = handle.fd.as_fd();
        for index in 0..batch.entries.len() {
            let Batch { bytes, entries, .. } = batch;
            let entry = &mut entries[index];
            if let Err(errno) = self.fill_entry(fd, bytes, entry, want) {
                batch.set_fault(index, fault_below(errno));
                continue;
            }
            // Kept only because it might have been a directory.
            if entry.verdict == Verdict::DescendOnly
                && entry.attributes.file_type() != FileType::Directory
            {
                entry.verdict = Verdict::Drop;
            }
        }
    }

    fn volume(handle: &DirHandle) -> Volume {
        handle.volume
    }
}
