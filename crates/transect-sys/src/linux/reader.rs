//! The default reader on Linux.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::CWD;
use rustix::io::Errno;

use super::open::{Opener, with_parent};
use super::stat::{StatCall, Target, has_statx, stat, stat_directory};
use super::volume::{reliability_of_open, volume_of};
use super::{fault_of_entry, fault_of_root, getdents};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::{Batch, Entry};
use crate::fault::{Fault, Result};
use crate::reader::{ListStatus, Reader, Want};
use crate::settings::{ReaderSettings, StatOrder};
use crate::volume::{Reliability, Volume};

/// Bytes of a small first listing.
const FIRST_LISTING: usize = 4 << 10;

/// A directory that is open for listing.
#[derive(Debug)]
pub struct ListingHandle {
    fd: OwnedFd,
    volume: Volume,
    /// Size of the directory in bytes, if it was queried.
    size: Option<u64>,
    /// Whether something may be mounted here.
    may_be_mount_point: bool,
}

impl ListingHandle {
    fn new(fd: OwnedFd, volume: Volume) -> Self {
        Self { fd, volume, size: None, may_be_mount_point: true }
    }

    /// Returns which conclusions from a listing remain valid: none before [`Reader::stat_open`].
    pub(crate) fn reliability(&self) -> Reliability {
        reliability_of_open(self.as_fd(), self.volume.reliability)
    }
}

impl AsFd for ListingHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Lists with `getdents64` and queries with `statx` (or `fstatat`), always relative to a handle.
///
/// It never builds a path: a lookup from the root for every entry makes the whole scan 1.55 times
/// as long (peers-scan: floor variant `statxpath`).
#[derive(Debug)]
pub struct GetdentsReader {
    call: StatCall,
    opener: Opener,
    settings: ReaderSettings,
    /// Bytes of the next listing.
    next_listing: usize,
    /// The order of queries by inode number: inode number and index in the batch. Kept to reuse the
    /// memory.
    by_inode: Vec<(u64, u32)>,
}

impl GetdentsReader {
    /// Returns a reader that queries with `call`, or with `fstatat` where `statx` is refused.
    pub fn new(call: StatCall, settings: ReaderSettings) -> Self {
        let call = if has_statx() { call } else { StatCall::Fstatat };
        let next_listing = if settings.begins_small { FIRST_LISTING } else { settings.buffer_size };
        Self { call, opener: Opener::new(), settings, next_listing, by_inode: Vec::new() }
    }

    /// Queries a name; if it is a link and `follow` is set, queries its target. Returns whether
    /// `attributes` are those of a target. A broken link is a link.
    fn stat_name(
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
        // The target may be a directory, which needs its identity to detect loops.
        let want = want | FieldMask::FILE_ID;
        match stat(self.call, fd, name, Target::Followed, want, attributes) {
            Ok(()) => Ok(true),
            // A broken link, or a loop: the attributes of the link itself are already there.
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Fills the entry at `index`. The loops around this call are the hottest of the program.
    ///
    /// Always inline: as a separate function (the compiler's choice, with two loops that call it)
    /// it took 20 instructions more an entry (callgrind).
    #[inline(always)]
    fn fill_at(&self, fd: BorrowedFd<'_>, batch: &mut Batch, index: usize, want: &Want) {
        let Batch { bytes, entries, .. } = batch;
        let entry = &mut entries[index];
        if let Err(errno) = self.fill_entry(fd, bytes, entry, want) {
            batch.set_fault(index, fault_of_entry(errno));
            return;
        }
        entry.drop_unless_directory();
    }

    /// Queries the wanted fields of one entry that the listing did not contain.
    #[inline(always)]
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
        if !unknown && !follow && entry.attributes.known().contains(wanted) {
            return Ok(());
        }
        let name = Batch::c_name(bytes, &entry.name);
        let wanted = wanted | want.opportunistic;
        entry.followed = self.stat_name(fd, name, wanted, follow, &mut entry.attributes)?;
        Ok(())
    }
}

impl Reader for GetdentsReader {
    type Handle = ListingHandle;

    fn stat_root(&mut self, path: &Path, want: FieldMask, follow: bool) -> Result<Attributes> {
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| fault_of_root(Errno::INVAL))?;
        let mut attributes = Attributes::default();
        self.stat_name(CWD, &name, want, follow, &mut attributes).map_err(fault_of_root)?;
        Ok(attributes)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<ListingHandle> {
        let fd = self.opener.open(CWD, path, follow).map_err(fault_of_root)?;
        Ok(ListingHandle::new(fd, Volume::default()))
    }

    fn open(
        &mut self,
        anchor: &ListingHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<ListingHandle> {
        let opener = &mut self.opener;
        let fd = with_parent(anchor.as_fd(), steps, |fd, name| opener.open(fd, name, follow))
            .map_err(fault_of_entry)?;
        Ok(ListingHandle::new(fd, anchor.volume))
    }

    fn stat_open(&mut self, handle: &mut ListingHandle, want: FieldMask) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        handle.may_be_mount_point =
            stat_directory(self.call, handle.fd.as_fd(), want, &mut attributes)
                .map_err(|errno| Fault::Failed(errno.into()))?;
        if attributes.device() != handle.volume.device {
            handle.volume = volume_of(handle.fd.as_fd(), attributes.device());
        }
        handle.size = attributes.size();
        Ok(attributes)
    }

    fn stat(
        &mut self,
        anchor: &ListingHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        with_parent(anchor.as_fd(), steps, |fd, name| {
            let name = std::ffi::CString::new(name.as_encoded_bytes()).map_err(|_| Errno::INVAL)?;
            self.stat_name(fd, &name, want, follow, &mut attributes).map(drop)
        })
        .map_err(fault_of_entry)?;
        Ok(attributes)
    }

    fn list(&mut self, handle: &ListingHandle, batch: &mut Batch, _: &Want) -> Result<ListStatus> {
        let buffer_size = std::mem::replace(&mut self.next_listing, self.settings.buffer_size);
        let end = handle.volume.end_detection;
        getdents::list(handle.fd.as_fd(), end, handle.size, buffer_size, batch)
    }

    fn fill(&mut self, handle: &ListingHandle, batch: &mut Batch, want: &Want) {
        batch.check_names();
        let fd = handle.fd.as_fd();
        match self.settings.stat_order {
            StatOrder::Listing => {
                for index in 0..batch.entries.len() {
                    self.fill_at(fd, batch, index, want);
                }
            }
            StatOrder::Inode => {
                let mut by_inode = std::mem::take(&mut self.by_inode);
                sort_by_inode(&batch.entries, &mut by_inode);
                for &(_, index) in &by_inode {
                    self.fill_at(fd, batch, index as usize, want);
                }
                self.by_inode = by_inode;
            }
        }
    }

    fn shares_queries(_: &ListingHandle) -> bool {
        true
    }

    fn volume(handle: &ListingHandle) -> Volume {
        handle.volume
    }

    fn may_be_mount_point(handle: &ListingHandle) -> bool {
        handle.may_be_mount_point
    }
}

/// Replaces `by_inode` by the entries in ascending order of the inode numbers in the listing.
///
/// The numbers are copied because an entry is many times as long as its sort key.
fn sort_by_inode(entries: &[Entry], by_inode: &mut Vec<(u64, u32)>) {
    by_inode.clear();
    by_inode.extend((0..).zip(entries).map(|(index, entry)| (entry.attributes.inode, index)));
    by_inode.sort_unstable();
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    /// Creates files whose listing order differs from the order of their inode numbers on file
    /// systems that list by name or by age.
    fn make_files(directory: &Path) {
        let path = |prefix: char, number: u32| directory.join(format!("{prefix}{number}"));
        for number in 0..64 {
            std::fs::write(path('a', number * 37 % 64), "12345").unwrap();
        }
        for number in (0..64).filter(|number| number % 3 == 0) {
            std::fs::rename(path('a', number), path('b', number)).unwrap();
        }
    }

    /// Lists a directory, calls `and`, then queries the entries.
    fn list_and_fill(stat_order: StatOrder, directory: &Path, and: impl FnOnce()) -> Batch {
        let settings = ReaderSettings { stat_order, ..ReaderSettings::default() };
        let mut reader = GetdentsReader::new(StatCall::Statx, settings);
        let handle = reader.open_root(directory, false).unwrap();
        let want = Want { entries: FieldMask::SIZE, ..Want::default() };
        let mut batch = Batch::new();
        let _ = reader.list(&handle, &mut batch, &want).unwrap();
        and();
        reader.fill(&handle, &mut batch, &want);
        batch
    }

    #[test]
    fn fill_queries_in_stat_order() {
        // All are gone when they are queried, so the faults show the order of the queries.
        let asked = |stat_order| {
            let temp = TempDir::new();
            let dir = temp.join("dir");
            std::fs::create_dir(&dir).unwrap();
            make_files(&dir);
            let batch = list_and_fill(stat_order, &dir, || std::fs::remove_dir_all(&dir).unwrap());
            let asked: Vec<u32> = batch.faults.iter().map(|&(index, _)| index).collect();
            let inode = |&index: &u32| batch.entries[index as usize].attributes.inode;
            let inodes: Vec<u64> = asked.iter().map(inode).collect();
            (asked, inodes)
        };
        assert_eq!(asked(StatOrder::Listing).0, (0..64).collect::<Vec<_>>());
        let (mut asked, inodes) = asked(StatOrder::Inode);
        assert!(inodes.is_sorted(), "{inodes:?}");
        asked.sort_unstable();
        assert_eq!(asked, (0..64).collect::<Vec<_>>(), "every entry is queried once");
    }

    #[test]
    fn fill_stat_order_keeps_delivery_order() {
        let temp = TempDir::new();
        make_files(temp.path());
        let [listing, inode] = StatOrder::ALL else { panic!("StatOrder has two variants") };
        let [listing, inode] = [listing, inode].map(|&stat_order| {
            let batch = list_and_fill(stat_order, temp.path(), || {});
            let entries =
                batch.iter().map(|entry| (entry.name.to_owned(), entry.attributes.size()));
            entries.collect::<Vec<_>>()
        });
        assert_eq!(listing.len(), 64);
        assert!(listing.iter().all(|&(_, size)| size == Some(5)), "{listing:?}");
        assert_eq!(listing, inode);
    }

    #[test]
    fn list_begins_small_one_small_batch() {
        let temp = TempDir::new();
        for number in 0..2000 {
            std::fs::write(temp.join(format!("file-{number}")), "").unwrap();
        }
        let settings = ReaderSettings { begins_small: true, ..ReaderSettings::default() };
        let mut reader = GetdentsReader::new(StatCall::Statx, settings);
        let handle = reader.open_root(temp.path(), false).unwrap();
        let (mut batch, mut sizes) = (Batch::new(), Vec::new());
        while reader.list(&handle, &mut batch, &Want::default()).unwrap() == ListStatus::More {
            sizes.push(batch.len());
        }
        sizes.push(batch.len());
        assert_eq!(sizes.iter().sum::<usize>(), 2000);
        assert!(sizes[0] < 200 && sizes[1] > sizes[0], "{sizes:?}");
    }

    #[test]
    #[should_panic(expected = "a name holds a NUL")]
    fn fill_name_with_nul_from_caller_refused() {
        let temp = TempDir::new();
        let mut reader = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
        let handle = reader.open_root(temp.path(), false).unwrap();
        let mut batch = Batch::new();
        batch.push_checked(OsStr::new("a\0b"), Attributes::default());
        reader.fill(&handle, &mut batch, &Want::from(FieldMask::SIZE));
    }
}
