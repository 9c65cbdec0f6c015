//! The watcher on Linux: inotify, or the notifications of a whole file system.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags};

#[cfg(feature = "fake")]
use super::fake_tree_watch::FakeTreeWatch;
use super::file_system_watch::FileSystemWatch;
use super::open::PATH_FLAGS;
use crate::watch::{Notification, WatchId};

/// Everything that changes an entry or the directory itself, but no reads. A write through a
/// mapping is reported when the file is closed.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// Room for many notifications. One takes 16 bytes and its name.
const BUFFER: usize = 16 << 10;

/// Watches directories for changes.
///
/// The kernel queues a notification before the call that makes the change returns, so
/// [`Watcher::read`] reports every earlier change.
#[derive(Debug)]
pub struct Watcher {
    source: Source,
    /// Readable after [`Watcher::stop`].
    stop: OwnedFd,
}

#[derive(Debug)]
enum Source {
    /// inotify.
    Directories(OwnedFd),
    FileSystem(FileSystemWatch),
    #[cfg(feature = "fake")]
    FakeTree(FakeTreeWatch),
}

impl Watcher {
    /// Returns a watcher without directories.
    ///
    /// # Errors
    /// Any error that the system reports, for example if this user has too many watchers
    /// (`fs.inotify.max_user_instances`).
    pub fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Self::of(Source::Directories(queue))
    }

    /// Returns a watcher for directories of the file system that holds `root`. They take no memory of the kernel, and the
    /// number of watches of a user does not limit theirs. It reads the notifications of the whole file system, and reports
    /// those of directories that are watched. When the root is removed or its file system is unmounted,
    /// [`Notification::Lost`] is the last one, and no directory can be watched any more.
    ///
    /// # Errors
    /// This process may not (`CAP_SYS_ADMIN`), or the file system has no such notifications: overlays, FUSE, and a mounted
    /// subvolume of Btrfs.
    pub fn of_file_system(root: &Path) -> io::Result<Self> {
        Self::of(Source::FileSystem(FileSystemWatch::new(root)?))
    }

    /// Like [`Watcher::of_file_system`], for a process that may not: a helper of root ([`serve_watches`]) listens at `socket`,
    /// and reports what happens in directories that this process may list. It limits their number. One thread must
    /// [read](Watcher::read) while others watch directories or [settle](Watcher::settle).
    ///
    /// [`serve_watches`]: crate::linux::serve_watches
    ///
    /// # Errors
    /// No helper of root listens there, or the file system has no such notifications.
    pub fn through_helper(socket: &Path, root: &Path) -> io::Result<Self> {
        Self::of(Source::FileSystem(FileSystemWatch::through_helper(socket, root)?))
    }

    #[cfg(feature = "fake")]
    pub(crate) fn fake_of_tree(root: &Path) -> io::Result<Self> {
        Self::of(Source::FakeTree(FakeTreeWatch::new(root, CHANGES)?))
    }

    fn of(source: Source) -> io::Result<Self> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { source, stop })
    }

    /// Watches a directory. A directory that is already watched, by any path, keeps its id.
    ///
    /// # Errors
    /// Any error that the system reports, also if the path is a link.
    pub fn watch(&self, directory: &Path) -> io::Result<WatchId> {
        let Source::Directories(queue) = &self.source else {
            let flags = PATH_FLAGS | OFlags::NOFOLLOW;
            let directory = rustix::fs::openat(CWD, directory, flags, Mode::empty())?;
            return self.watch_open(directory.as_fd());
        };
        let flags = CHANGES | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        let number = inotify::add_watch(queue, directory, flags)?;
        Ok(WatchId(number as usize))
    }

    /// Watches an open directory, wherever it is now.
    ///
    /// # Errors
    /// Any error that the system reports: too many watches, no permission to list the directory, or `/proc` is not
    /// mounted.
    pub fn watch_open(&self, directory: BorrowedFd<'_>) -> io::Result<WatchId> {
        match &self.source {
            Source::Directories(queue) => {
                // There is no call that takes a descriptor. This link leads to the directory itself, not to a path.
                let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
                let number = inotify::add_watch(queue, path, CHANGES | WatchFlags::ONLYDIR)?;
                Ok(WatchId(number as usize))
            }
            Source::FileSystem(watch) => watch.watch(directory),
            #[cfg(feature = "fake")]
            Source::FakeTree(watch) => Ok(watch.next_id()),
        }
    }

    /// Stops watching a directory. Earlier changes may still be reported.
    pub fn unwatch(&self, directory: WatchId) {
        match &self.source {
            // Fails if the directory is gone: the kernel has removed its watch.
            Source::Directories(queue) => {
                let _ = inotify::remove_watch(queue, directory.0 as i32);
            }
            Source::FileSystem(watch) => watch.unwatch(directory),
            #[cfg(feature = "fake")]
            Source::FakeTree(_) => {}
        }
    }

    /// Waits until there is something to read. Returns false after [`Watcher::stop`].
    pub fn wait(&self) -> bool {
        let sources = match &self.source {
            Source::Directories(queue) => vec![queue],
            Source::FileSystem(watch) => watch.sources(),
            #[cfg(feature = "fake")]
            Source::FakeTree(watch) => vec![&watch.queue],
        };
        let ends = std::iter::once(&self.stop).chain(sources);
        let mut ends: Vec<_> = ends.map(|end| PollFd::new(end, PollFlags::IN)).collect();
        // An interrupted call, or one that ran out of memory, is treated as one that finds nothing.
        let _ = poll(&mut ends, None);
        ends[0].revents().is_empty()
    }

    /// Reports all notifications that have arrived.
    pub fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        match &self.source {
            Source::Directories(queue) => read(queue, report),
            Source::FileSystem(watch) => watch.read(report),
            #[cfg(feature = "fake")]
            Source::FakeTree(watch) => watch.read(report),
        }
    }

    /// Waits until every earlier change can be read. Returns whether it can.
    pub fn settle(&self) -> bool {
        if let Source::FileSystem(watch) = &self.source {
            watch.settle();
        }
        true
    }

    /// Ends [`Watcher::wait`], now and in future calls.
    pub fn stop(&self) {
        // Fails only if the counter is full, and then the descriptor is readable as well.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
    }
}

/// Reads notifications of inotify.
fn read(queue: &OwnedFd, report: &mut dyn FnMut(Notification<'_>)) {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut reader = inotify::Reader::new(queue, &mut buffer);
    loop {
        match reader.next() {
            Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                report(Notification::Lost);
            }
            Ok(event) => {
                let directory = WatchId(event.wd() as usize);
                report(match event.file_name() {
                    _ if event.events().contains(ReadFlags::IGNORED) => {
                        Notification::Unwatched(directory)
                    }
                    Some(name) => {
                        let name = OsStr::from_bytes(name.to_bytes());
                        Notification::Entry { directory, name }
                    }
                    None => Notification::Directory(directory),
                });
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return,
            // The kernel removed notifications from its queue that it could not return.
            Err(_) => return report(Notification::Lost),
        }
    }
}
