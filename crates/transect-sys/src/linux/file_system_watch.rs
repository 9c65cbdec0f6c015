//! Notifications of a whole file system, filtered for the directories of a tree: no directory needs a watch of the kernel.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::ffi::OsStr;
use std::hash::BuildHasher;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::fanotify::{file_system_queue, handle_of};
use crate::record::fanotify::{Event, Events, Handle};
use crate::watch::{Notification, WatchId};

/// Room for many records: one takes 56 bytes and its name. One call may return this many bytes.
pub(super) const BUFFER: usize = 16 << 10;

/// Notifications of a file system.
#[derive(Debug)]
pub(super) struct FileSystemWatch {
    queue: OwnedFd,
    /// Readable once the root has gone or its file system is unmounted: fanotify does not report that.
    end: OwnedFd,
    device: u64,
    /// `None` after the end.
    directories: Mutex<Option<Directories>>,
}

/// The directories of a tree.
#[derive(Debug, Default)]
pub(super) struct Directories {
    hasher: RandomState,
    /// By the number of the watch, which is a hash of the handle. So one map leads both ways.
    by_watch: HashMap<usize, Handle>,
}

impl Directories {
    fn watch_of(&self, handle: &Handle) -> WatchId {
        WatchId(self.hasher.hash_one(handle) as usize)
    }

    /// Adds a directory.
    ///
    /// # Errors
    /// Another one has the same hash.
    pub(super) fn insert(&mut self, handle: Handle) -> io::Result<WatchId> {
        let watch = self.watch_of(&handle);
        match self.by_watch.entry(watch.0) {
            Entry::Occupied(other) if *other.get() != handle => Err(Errno::NOSPC.into()),
            Entry::Occupied(_) => Ok(watch),
            Entry::Vacant(place) => {
                place.insert(handle);
                Ok(watch)
            }
        }
    }

    pub(super) fn find(&self, handle: &Handle) -> Option<WatchId> {
        let watch = self.watch_of(handle);
        (self.by_watch.get(&watch.0) == Some(handle)).then_some(watch)
    }

    pub(super) fn remove(&mut self, watch: WatchId) {
        self.by_watch.remove(&watch.0);
    }
}

impl FileSystemWatch {
    /// Watches the file system that holds a directory.
    ///
    /// # Errors
    /// It needs `CAP_SYS_ADMIN` and a file system that supports it.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        let queue = file_system_queue(root.as_fd())?;
        // The handle proves that the file system can be used.
        handle_of(root.as_fd())?;
        let end = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let path = format!("/proc/self/fd/{}", root.as_raw_fd());
        inotify::add_watch(&end, path, WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR)?;
        let device = rustix::fs::fstat(&root)?.st_dev;
        Ok(Self { queue, end, device, directories: Mutex::new(Some(Directories::default())) })
    }

    fn directories(&self) -> MutexGuard<'_, Option<Directories>> {
        self.directories.lock().expect("BUG: a thread panicked while it watched")
    }

    pub(super) fn watch(&self, directory: BorrowedFd<'_>) -> io::Result<WatchId> {
        if rustix::fs::fstat(directory)?.st_dev != self.device {
            return Err(Errno::XDEV.into());
        }
        let handle = handle_of(directory)?;
        self.directories().as_mut().ok_or(Errno::NODEV)?.insert(handle)
    }

    pub(super) fn unwatch(&self, directory: WatchId) {
        self.directories().iter_mut().for_each(|all| all.remove(directory));
    }

    /// Returns what becomes readable if there is something to read.
    pub(super) fn sources(&self) -> Vec<&OwnedFd> {
        // After the end, they stay readable.
        if self.directories().is_some() { vec![&self.queue, &self.end] } else { Vec::new() }
    }

    pub(super) fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        let mut directories = self.directories();
        let Some(known) = &mut *directories else { return };
        let mut buffer = [0; BUFFER];
        loop {
            match rustix::io::read(&self.queue, &mut buffer) {
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
        if is_readable(&self.end) {
            *directories = None;
            report(Notification::Lost);
        }
    }
}

impl Directories {
    fn report(&mut self, event: Event<'_>, report: &mut dyn FnMut(Notification<'_>)) {
        const CONTENT: u64 = libc::FAN_MODIFY | libc::FAN_CLOSE_WRITE;
        if event.mask & libc::FAN_Q_OVERFLOW != 0 {
            return report(Notification::Lost);
        }
        let Some(place) = event.place else { return };
        let Some(directory) = self.find(&place.directory) else { return };
        match place.name.map(OsStr::from_bytes) {
            Some(name) => {
                let content = event.mask & !CONTENT == 0;
                report(Notification::Entry { directory, name, content });
            }
            None if event.mask & libc::FAN_DELETE_SELF != 0 => {
                self.remove(directory);
                report(Notification::Unwatched(directory));
            }
            None => report(Notification::Directory(directory)),
        }
    }
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut ends = [PollFd::new(fd, PollFlags::IN)];
    let answer = poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    answer.is_ok() && !ends[0].revents().is_empty()
}
