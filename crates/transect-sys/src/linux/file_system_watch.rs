//! Notifications of a whole file system, filtered for the directories of a tree: no directory needs a watch of the kernel.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::BuildHasher;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode};
use rustix::io::Errno;

use super::fanotify::{file_system_queue, handle_of};
use super::open::LIST_FLAGS;
use super::watch_protocol::{Helper, device_of, send_unwatch, send_watch};
use crate::record::fanotify::{Event, Events, Handle};
use crate::watch::{Notification, WatchId};

/// Room for many records: one takes 56 bytes and its name. One call may return this many bytes.
pub(super) const BUFFER: usize = 16 << 10;

/// Notifications of a file system.
#[derive(Debug)]
pub(super) struct FileSystemWatch {
    /// The kernel's, or that of a helper, with the same records.
    queue: OwnedFd,
    /// Readable once the root has gone or its file system is unmounted: fanotify does not report that. A helper closes the
    /// queue instead.
    end: Option<OwnedFd>,
    helper: Option<Helper>,
    device: (u32, u32),
    /// `None` after the end.
    directories: Mutex<Option<Directories>>,
}

/// The directories of a tree. The number of a watch is that of the handle, or a hash of a longer one. So it leads both
/// ways.
#[derive(Debug, Default)]
pub(super) struct Directories {
    by_number: HashSet<usize>,
    hasher: RandomState,
    by_hash: HashMap<usize, Handle>,
}

impl Directories {
    /// Adds a directory.
    ///
    /// # Errors
    /// Another one has the same number.
    pub(super) fn insert(&mut self, handle: Handle) -> io::Result<WatchId> {
        let watch = handle.number().unwrap_or_else(|| self.hasher.hash_one(handle) as usize);
        match self.handle(watch) {
            Some(other) if other != handle => return Err(Errno::NOSPC.into()),
            Some(_) => {}
            None if handle.number().is_some() => _ = self.by_number.insert(watch),
            None => _ = self.by_hash.insert(watch, handle),
        }
        Ok(WatchId(watch))
    }

    fn handle(&self, watch: usize) -> Option<Handle> {
        let number = self.by_number.get(&watch).copied();
        number.map(Handle::from_number).or_else(|| self.by_hash.get(&watch).copied())
    }

    pub(super) fn find(&self, handle: &Handle) -> Option<WatchId> {
        let (watch, is_known) = match handle.number() {
            Some(number) => (number, self.by_number.contains(&number)),
            None => {
                let hash = self.hasher.hash_one(handle) as usize;
                (hash, self.by_hash.get(&hash) == Some(handle))
            }
        };
        is_known.then_some(WatchId(watch))
    }

    pub(super) fn remove(&mut self, watch: WatchId) -> Option<Handle> {
        let number = self.by_number.take(&watch.0);
        number.map(Handle::from_number).or_else(|| self.by_hash.remove(&watch.0))
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len() + self.by_hash.len()
    }
}

impl FileSystemWatch {
    /// Watches the file system that holds a directory.
    ///
    /// # Errors
    /// It needs `CAP_SYS_ADMIN` and a file system that supports it.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        Self::of(open_root(root)?.as_fd())
    }

    /// Watches the file system that holds an open directory.
    pub(super) fn of(root: BorrowedFd<'_>) -> io::Result<Self> {
        let queue = file_system_queue(root)?;
        // The handle proves that the file system can be used.
        handle_of(root)?;
        let end = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let path = format!("/proc/self/fd/{}", root.as_raw_fd());
        inotify::add_watch(&end, path, WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR)?;
        Ok(Self::with(queue, Some(end), None, device_of(root)?))
    }

    /// Watches the file system that holds a directory through a helper.
    ///
    /// # Errors
    /// No helper of root listens there, or it cannot watch the file system.
    pub(super) fn through_helper(socket: &Path, root: &Path) -> io::Result<Self> {
        let root = open_root(root)?;
        let device = device_of(root.as_fd())?;
        let (helper, queue) = Helper::connect(socket, root.as_fd())?;
        Ok(Self::with(queue, None, Some(helper), device))
    }

    fn with(
        queue: OwnedFd,
        end: Option<OwnedFd>,
        helper: Option<Helper>,
        device: (u32, u32),
    ) -> Self {
        Self { queue, end, helper, device, directories: Mutex::new(Some(Directories::default())) }
    }

    /// Returns the queue, its end, and the device of the file system.
    pub(super) fn into_parts(self) -> (OwnedFd, Option<OwnedFd>, (u32, u32)) {
        (self.queue, self.end, self.device)
    }

    fn directories(&self) -> MutexGuard<'_, Option<Directories>> {
        self.directories.lock().expect("BUG: a thread panicked while it watched")
    }

    pub(super) fn watch(&self, directory: BorrowedFd<'_>) -> io::Result<WatchId> {
        if device_of(directory)? != self.device {
            return Err(Errno::XDEV.into());
        }
        let handle = handle_of(directory)?;
        let control = self.helper.as_ref().map(|helper| (helper.lock(), helper.limit));
        let mut directories = self.directories();
        let known = directories.as_mut().ok_or(Errno::NODEV)?;
        let is_known = known.find(&handle).is_some();
        let watch = known.insert(handle)?;
        if let (false, Some((control, limit))) = (is_known, control) {
            let is_over = known.len() > limit;
            // The helper may have no room for this message before its records are read.
            drop(directories);
            let sent =
                if is_over { Err(Errno::NOSPC.into()) } else { send_watch(&control, directory) };
            if let Err(error) = sent {
                if let Some(known) = &mut *self.directories() {
                    known.remove(watch);
                }
                return Err(error);
            }
        }
        Ok(watch)
    }

    pub(super) fn unwatch(&self, directory: WatchId) {
        let control = self.helper.as_ref().map(Helper::lock);
        let known = self.directories().as_mut().and_then(|known| known.remove(directory));
        if let (Some(control), Some(handle)) = (control, known) {
            // If this fails, the connection has ended.
            let _ = send_unwatch(&control, handle);
        }
    }

    pub(super) fn settle(&self) {
        if let Some(helper) = &self.helper {
            // If this fails, reading reports the end.
            let _ = helper.settle();
        }
    }

    /// Returns what becomes readable if there is something to read.
    pub(super) fn sources(&self) -> Vec<&OwnedFd> {
        // After the end, they stay readable.
        match self.directories().is_some() {
            true => std::iter::once(&self.queue).chain(&self.end).collect(),
            false => Vec::new(),
        }
    }

    pub(super) fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        let mut directories = self.directories();
        let Some(known) = &mut *directories else { return };
        let (mut buffer, mut has_ended) = ([0; BUFFER], false);
        loop {
            match rustix::io::read(&self.queue, &mut buffer) {
                // The helper closed the connection.
                Ok(0) => {
                    has_ended = true;
                    break;
                }
                Ok(length) => {
                    for event in Events::new(&buffer[..length]) {
                        match event {
                            Ok(event) => known.report(event, report),
                            Err(_) => report(Notification::Lost),
                        }
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    report(Notification::Lost);
                    break;
                }
            }
        }
        if has_ended || self.end.as_ref().is_some_and(is_readable) {
            *directories = None;
            report(Notification::Lost);
        }
    }
}

impl Directories {
    fn report(&mut self, event: Event<'_>, report: &mut dyn FnMut(Notification<'_>)) {
        if event.mask & libc::FAN_Q_OVERFLOW != 0 {
            return report(Notification::Lost);
        }
        let Some(place) = event.place else { return };
        let Some(directory) = self.find(&place.directory) else { return };
        match place.name.map(OsStr::from_bytes) {
            Some(name) => report(Notification::Entry { directory, name }),
            None if event.is_of_removed_directory() => {
                self.remove(directory);
                report(Notification::Unwatched(directory));
            }
            None => report(Notification::Directory(directory)),
        }
    }
}

fn open_root(root: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, root, LIST_FLAGS, Mode::empty())?)
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut ends = [PollFd::new(fd, PollFlags::IN)];
    let answer = poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    answer.is_ok() && !ends[0].revents().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ext4 has short handles, XFS both, tmpfs longer ones.
    #[test]
    fn directories_found_by_their_whole_handles_and_removed_by_their_watches() {
        let mut handles = Vec::new();
        for (kind, length) in [(1, 8), (1, 12), (2, 8), (0x81, 12), (0x4d, 20)] {
            for number in 0..100_u8 {
                let bytes: Vec<u8> = (0..length).map(|at| number.wrapping_mul(at + 1)).collect();
                handles.push(Handle::new(kind, &bytes).unwrap());
            }
        }
        let mut directories = Directories::default();
        let watches: Vec<WatchId> = handles
            .iter()
            .map(|&handle| {
                assert_eq!(directories.find(&handle), None);
                directories.insert(handle).unwrap()
            })
            .collect();
        assert_eq!(directories.len(), handles.len());
        for (&handle, &watch) in handles.iter().zip(&watches) {
            assert_eq!(directories.find(&handle), Some(watch));
            assert_eq!(directories.insert(handle).unwrap(), watch, "it keeps its watch");
            assert_eq!(directories.remove(watch), Some(handle));
            assert_eq!((directories.find(&handle), directories.remove(watch)), (None, None));
        }
        assert_eq!(directories.len(), 0);
    }
}
