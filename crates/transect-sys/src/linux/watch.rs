//! Directories watched by inotify.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::watch::{Notification, WatchId};

/// Everything that changes an entry or the directory itself, and nothing that only reads. A write
/// through a mapping is not reported before the file is closed.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// What changes nothing but the content of a file.
const CONTENT: ReadFlags = ReadFlags::MODIFY.union(ReadFlags::CLOSE_WRITE);

/// Many notifications a call. One takes 16 bytes and its name.
const BUFFER: usize = 16 << 10;

/// Watches directories.
///
/// The kernel puts a notification into its queue before the call that changes something returns:
/// what happened before [`Watcher::read`] is reported by it.
#[derive(Debug)]
pub struct Watcher {
    queue: OwnedFd,
    /// Readable from [`Watcher::stop`] on.
    stop: OwnedFd,
}

impl Watcher {
    /// Returns a watcher that watches nothing yet.
    ///
    /// # Errors
    /// Whatever the system reports, for example that this user has too many
    /// (`fs.inotify.max_user_instances`).
    pub fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { queue, stop })
    }

    /// Watches a directory. One that is watched already, by whatever path, has the same id.
    ///
    /// # Errors
    /// Whatever the system reports, also that the path leads to a link.
    pub fn watch(&self, directory: &Path) -> io::Result<WatchId> {
        let flags = CHANGES | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        let number = inotify::add_watch(&self.queue, directory, flags)?;
        Ok(WatchId(number as usize))
    }

    /// Stops watching a directory. What happened before may still be reported.
    pub fn unwatch(&self, directory: WatchId) {
        // The kernel has ended the watch of a directory that is gone.
        let _ = inotify::remove_watch(&self.queue, directory.0 as i32);
    }

    /// Waits until something is to be read; returns false after [`Watcher::stop`].
    pub fn wait(&self) -> bool {
        let mut ends =
            [PollFd::new(&self.stop, PollFlags::IN), PollFd::new(&self.queue, PollFlags::IN)];
        // An interrupted call, or one without memory, is the same as one that finds nothing.
        let _ = poll(&mut ends, None);
        ends[0].revents().is_empty()
    }

    /// Reports everything that has arrived.
    pub fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                    report(Notification::Lost);
                }
                Ok(event) => {
                    let directory = WatchId(event.wd() as usize);
                    let content = (event.events() - ReadFlags::ISDIR - CONTENT).is_empty();
                    report(match event.file_name() {
                        Some(name) => {
                            let name = OsStr::from_bytes(name.to_bytes());
                            Notification::Entry { directory, name, content }
                        }
                        None => Notification::Directory(directory),
                    });
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // The kernel could not hand out what it has taken from its queue.
                Err(_) => return report(Notification::Lost),
            }
        }
    }

    /// Waits until everything that happened before this call can be read; returns whether it can.
    pub fn settle(&self) -> bool {
        true
    }

    /// Ends [`Watcher::wait`], now and later.
    pub fn stop(&self) {
        // It fails only if the counter is full, and then the descriptor is readable, too.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
    }
}
