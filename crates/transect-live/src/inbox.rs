//! Takes notifications from the system, on a thread of its own, so that the queue of the kernel does not overflow while
//! changes are applied. A name that changes a thousand times meanwhile is kept once.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;
use transect::Cancel;
use transect_sys::watch::{Notification, WatchId, Watcher};

/// If more names wait, they count as lost: comparing everything takes less memory.
const MAX_NAMES: usize = 1 << 20;

/// How long the thread waits after it has taken notifications: then one call reads many. The kernel's queue has room for
/// what happens in a multiple of this time.
const PAUSE: Duration = Duration::from_millis(1);

/// The watcher, and what it reported.
#[derive(Debug)]
pub(crate) struct Inbox {
    watcher: Watcher,
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    hints: Hints,
    names: usize,
    ended: bool,
}

/// What may have changed.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pub(crate) directories: HashMap<WatchId, Hint, FixedState>,
    /// Paths below the root, and whether their names were created, removed or renamed.
    pub(crate) paths: HashMap<PathBuf, bool, FixedState>,
    /// Notifications were lost: anything may have changed.
    pub(crate) lost: bool,
}

/// What may have changed in a directory.
#[derive(Debug, Default)]
pub(crate) struct Hint {
    pub(crate) names: BTreeSet<OsString>,
    /// The directory itself was changed.
    pub(crate) itself: bool,
    /// The directory is not watched any more: it is gone.
    pub(crate) unwatched: bool,
}

impl Hints {
    pub(crate) fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.paths.is_empty() && !self.lost
    }
}

impl Inbox {
    pub(crate) fn new(watcher: Watcher) -> Arc<Self> {
        Arc::new(Self { watcher, waiting: Mutex::default(), arrived: Condvar::new() })
    }

    pub(crate) fn watcher(&self) -> &Watcher {
        &self.watcher
    }

    /// Starts the thread that takes notifications until [`Inbox::stop`].
    pub(crate) fn start(self: &Arc<Self>) -> io::Result<JoinHandle<()>> {
        let inbox = Arc::clone(self);
        std::thread::Builder::new().name("notifications".to_owned()).spawn(move || {
            while inbox.watcher.wait() {
                inbox.fetch();
                drop(inbox.arrived.wait_timeout_while(inbox.lock(), PAUSE, |it| !it.ended));
            }
        })
    }

    pub(crate) fn stop(&self) {
        self.watcher.stop();
        self.lock().ended = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("BUG: a thread panicked while it took a notification")
    }

    #[cfg(all(test, windows))]
    pub(crate) fn add(&self, notification: Notification<'_>) {
        self.lock().add(notification);
    }

    /// Takes what has arrived. The lock is held while reading: when one thread finds nothing to read, whatever another
    /// one has read can be taken.
    fn fetch(&self) {
        let mut waiting = self.lock();
        let was_empty = waiting.hints.is_empty();
        self.watcher.read(&mut |notification| waiting.add(notification));
        if was_empty && !waiting.hints.is_empty() {
            self.arrived.notify_all();
        }
    }

    /// Waits until something may have changed, and at least until `earliest`. Returns false after [`Inbox::stop`], or if
    /// `end` is cancelled and the inbox is [woken](Inbox::wake).
    pub(crate) fn wait(&self, end: &Cancel, earliest: Instant) -> bool {
        const BUG: &str = "BUG: a thread panicked while it took a notification";
        let mut waiting = self.lock();
        loop {
            if waiting.ended || end.is_cancelled() {
                return false;
            }
            if waiting.hints.is_empty() {
                waiting = self.arrived.wait(waiting).expect(BUG);
                continue;
            }
            let early = earliest.saturating_duration_since(Instant::now());
            if early.is_zero() {
                return true;
            }
            waiting = self.arrived.wait_timeout(waiting, early).expect(BUG).0;
        }
    }

    /// Returns what has arrived.
    pub(crate) fn take_arrived(&self) -> Hints {
        self.lock().take()
    }

    /// Returns what has arrived, everything included that was changed before this call.
    pub(crate) fn take(&self) -> Hints {
        if !self.watcher.settle() {
            self.lock().lose();
        }
        self.fetch();
        self.lock().take()
    }

    /// Treats all notifications as lost.
    pub(crate) fn lose(&self) {
        self.lock().lose();
        self.arrived.notify_all();
    }

    /// Makes [`Inbox::wait`] look whether it was cancelled.
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.arrived.notify_all();
    }
}

impl Waiting {
    fn add(&mut self, notification: Notification<'_>) {
        let hints = &mut self.hints;
        match notification {
            // Everything will be compared. That a directory is gone is known by this alone.
            Notification::Entry { .. } | Notification::Path { .. } | Notification::Directory(_)
                if hints.lost => {}
            Notification::Entry { directory, name } => {
                let names = &mut hints.directories.entry(directory).or_default().names;
                if !names.contains(name) {
                    names.insert(name.to_owned());
                    self.names += 1;
                }
            }
            Notification::Path { path, of_name } => {
                if let Some(is_of_name) = hints.paths.get_mut(path) {
                    *is_of_name |= of_name;
                } else {
                    hints.paths.insert(path.to_owned(), of_name);
                    self.names += 1;
                }
            }
            Notification::Directory(directory) => {
                hints.directories.entry(directory).or_default().itself = true;
            }
            Notification::Unwatched(directory) => {
                hints.directories.entry(directory).or_default().unwatched = true;
            }
            Notification::Lost => self.lose(),
        }
        if self.names > MAX_NAMES {
            self.lose();
        }
    }

    fn lose(&mut self) {
        let Hints { directories, paths, lost } = &mut self.hints;
        paths.clear();
        directories.retain(|_, hint| hint.unwatched);
        directories.values_mut().for_each(|hint| hint.names.clear());
        *lost = true;
        self.names = 0;
    }

    fn take(&mut self) -> Hints {
        self.names = 0;
        std::mem::take(&mut self.hints)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn inbox_many_changes_of_one_name_kept_once() {
        let temp = TempDir::new();
        let inbox = Inbox::new(Watcher::new().unwrap());
        let watch = inbox.watcher().watch(temp.path()).unwrap();
        for _ in 0..100 {
            std::fs::write(temp.join("file"), "1").unwrap();
            std::fs::remove_file(temp.join("file")).unwrap();
        }
        let hints = inbox.take();
        assert!(!hints.lost);
        let names: Vec<_> = hints.directories[&watch].names.iter().collect();
        assert_eq!(names, ["file"]);
        assert!(inbox.take().is_empty());
    }

    #[test]
    fn inbox_path_kept_once_a_change_of_its_name_remembered() {
        let mut waiting = Waiting::default();
        for (path, of_name) in [("a", false), ("a/b", false), ("a/b", true), ("a/b", false)] {
            waiting.add(Notification::Path { path: path.as_ref(), of_name });
        }
        assert_eq!(waiting.names, 2);
        let mut paths: Vec<_> = waiting.take().paths.into_iter().collect();
        paths.sort();
        assert_eq!(paths, [("a".into(), false), ("a/b".into(), true)]);
        waiting.names = MAX_NAMES;
        waiting.add(Notification::Path { path: "c".as_ref(), of_name: true });
        let hints = waiting.take();
        assert!(hints.lost && hints.paths.is_empty());
    }

    #[test]
    fn inbox_too_many_names_count_as_lost_removed_directories_remembered() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("dir")).unwrap();
        let inbox = Inbox::new(Watcher::new().unwrap());
        let top = inbox.watcher().watch(temp.path()).unwrap();
        let gone = inbox.watcher().watch(&temp.join("dir")).unwrap();
        std::fs::remove_dir(temp.join("dir")).unwrap();
        inbox.fetch();
        let mut waiting = inbox.lock();
        waiting.names = MAX_NAMES;
        waiting.add(Notification::Entry { directory: top, name: "a".as_ref() });
        let hints = waiting.take();
        assert!(hints.lost);
        assert_eq!(hints.directories.keys().collect::<Vec<_>>(), [&gone]);
        assert!(hints.directories[&gone].unwatched);
    }

    #[test]
    fn inbox_cancelled_wait_ends() {
        let never = Instant::now() + Duration::from_secs(1 << 20);
        for has_changed in [false, true] {
            let inbox = Inbox::new(Watcher::new().unwrap());
            if has_changed {
                inbox.lose();
            }
            let end = Cancel::new();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| inbox.wait(&end, never));
                end.cancel();
                inbox.wake();
                assert!(!waiting.join().unwrap());
            });
            assert_eq!(inbox.take().lost, has_changed);
        }
    }
}
