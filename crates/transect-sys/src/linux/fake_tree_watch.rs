//! Notifications with paths on Linux, as Windows reports those of a whole tree: for tests of what reads them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::file_system_watch::BUFFER;
use crate::watch::{Notification, WatchId};

/// The events of a change of a name.
const OF_NAME: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO);

/// A watch of inotify for each directory of a tree, and the path that it had when an event was reported.
#[derive(Debug)]
pub(super) struct FakeTreeWatch {
    pub(super) queue: OwnedFd,
    root: PathBuf,
    changes: WatchFlags,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    /// By the number of the watch.
    paths: HashMap<i32, PathBuf>,
    /// A directory that was renamed, and the cookie of the event: the next one has its new path, if that is in the tree.
    renamed: Option<(u32, PathBuf)>,
}

impl FakeTreeWatch {
    pub(super) fn new(root: &Path, changes: WatchFlags) -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let (root, state) = (std::path::absolute(root)?, Mutex::default());
        let tree = Self { queue, root, changes, state };
        tree.add(&mut tree.lock(), PathBuf::new())?;
        Ok(tree)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Returns a new id.
    pub(super) fn next_id(&self) -> WatchId {
        let mut state = self.lock();
        state.next += 1;
        WatchId(state.next)
    }

    /// Watches a directory and those below it.
    #[expect(clippy::disallowed_methods, reason = "errors are changes, which are reported")]
    fn add(&self, state: &mut State, path: PathBuf) -> io::Result<()> {
        let flags = self.changes | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        let full = self.root.join(&path);
        let watch = inotify::add_watch(&self.queue, &full, flags)?;
        for entry in fs::read_dir(&full).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                let _ = self.add(state, path.join(entry.file_name()));
            }
        }
        state.paths.insert(watch, path);
        Ok(())
    }

    pub(super) fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        let state = &mut *self.lock();
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        while let Ok(event) = reader.next() {
            let (what, cookie) = (event.events(), event.cookie());
            let from = state.renamed.take();
            let is_target = what.contains(ReadFlags::MOVED_TO);
            let from = match from {
                Some((number, from)) if is_target && number == cookie => Some(from),
                // It left the tree.
                Some((_, from)) => {
                    self.forget(state, &from);
                    None
                }
                None => None,
            };
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                report(Notification::Lost);
                // Directories may be new, or elsewhere, without an event.
                let _ = self.add(state, PathBuf::new());
            }
            if what.contains(ReadFlags::IGNORED) {
                state.paths.remove(&event.wd());
            }
            let Some(path) = state.paths.get(&event.wd()) else { continue };
            let Some(name) = event.file_name() else {
                if path.as_os_str().is_empty() {
                    report(Notification::Directory(WatchId(0)));
                }
                continue;
            };
            let path = path.join(OsStr::from_bytes(name.to_bytes()));
            report(Notification::Path { path: &path, of_name: what.intersects(OF_NAME) });
            if !what.contains(ReadFlags::ISDIR) {
                continue;
            }
            if let Some(from) = from {
                for known in state.paths.values_mut() {
                    if let Ok(below) = known.strip_prefix(&from) {
                        *known = path.iter().chain(below).collect();
                    }
                }
            }
            if what.contains(ReadFlags::MOVED_FROM) {
                state.renamed = Some((cookie, path));
            } else if what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                // If it is gone, that is reported.
                let _ = self.add(state, path);
            }
        }
    }

    fn forget(&self, state: &mut State, path: &Path) {
        state.paths.retain(|&watch, known| {
            let is_below = known.starts_with(path);
            if is_below {
                let _ = inotify::remove_watch(&self.queue, watch);
            }
            !is_below
        });
    }
}
