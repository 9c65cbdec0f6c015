//! Watches directories, and drops what their notifications invalidate.
//!
//! ```text
//! system → EventQueue, on its own thread → next lookup: apply → NameTable, CachedDir
//! ```
//!
//! A directory is watched together with every directory in its path, links included, because they
//! may be renamed or replaced. The *steps* of a directory are all names in its path: if anything
//! but the content of a step changes, the directory is dropped, and watched anew when it is looked
//! up. Its *target* is where the path ends: an event for a name in it makes that name unknown.
//!
//! No change is missed between a query and a watch: a step is registered before it is queried, in a
//! directory that is watched already; and a result whose query overlaps an event is dropped when
//! the event is applied (`DirState::changes`). The thread only moves events into a queue. It never
//! waits for a lock that is held while entries are dropped.
//!
//! Watching costs as much as about twenty-five queries, and dropping a cache that watches anything as much
//! as thousands. So a directory is checked like one that cannot be watched until lookups in it, and
//! those in the whole cache, have cost as much (`CacheCosts::should_watch`).
//!
//! If notifications are lost, everything is dropped, and directories are watched anew when they are
//! looked up. A directory that cannot be watched is checked instead. Both are counted.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::JoinHandle;

use transect_sys::watch::{Notification, WatchId, Watcher};
use transect_sys::{FieldMask, FileType, Reliability};

use super::cached_dir::{CachedDir, WatchStatus};
use super::lookup_error::LookupError;
use super::name_table::HashedName;
use super::store::Store;
use super::system;

/// If more events than this wait to be applied, they count as lost.
const MAX_EVENTS: usize = 1 << 16;

/// A path with more links than the kernel follows is not watched.
const MAX_LINKS: usize = 40;

/// The watches of one cache, and the events not applied yet.
#[derive(Debug)]
pub(super) struct Watches {
    queue: Arc<EventQueue>,
    /// Moves events into the queue, from the first watch on.
    thread: Mutex<Option<JoinHandle<()>>>,
    state: Mutex<WatchTables>,
    /// The largest number of directories to watch.
    max: usize,
}

impl Watches {
    pub(super) fn new(max: Option<usize>) -> io::Result<Self> {
        let queue = Arc::new(EventQueue::new()?);
        let (thread, state, max) = (Mutex::default(), Mutex::default(), max.unwrap_or(usize::MAX));
        Ok(Self { queue, thread, state, max })
    }

    /// Starts the thread unless it runs. Returns whether it does.
    fn start(&self) -> bool {
        let mut thread = self.thread.lock().expect("BUG: a thread panicked while it started one");
        if thread.is_none() {
            let queue = Arc::clone(&self.queue);
            let named = std::thread::Builder::new().name("notifications".to_owned());
            *thread = named.spawn(move || queue.run()).ok();
        }
        thread.is_some()
    }

    fn is_started(&self) -> bool {
        self.thread.lock().expect("BUG: a thread panicked while it started one").is_some()
    }

    #[inline]
    pub(super) fn has_events(&self) -> bool {
        self.queue.pending.load(Ordering::Acquire)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().watched.len()
    }

    fn lock(&self) -> MutexGuard<'_, WatchTables> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Applies the events that have arrived, unless another thread holds the lock: lookups do not
    /// wait.
    pub(super) fn try_apply(&self, store: &Store) {
        if let Ok(mut state) = self.state.try_lock() {
            state.apply(&self.queue, store);
        }
    }

    /// Applies the events of all changes before this call. Returns false if some were lost; then
    /// everything is dropped.
    pub(super) fn settle(&self, store: &Store) -> bool {
        // Without the thread nothing is watched yet, and on Windows it alone takes the events.
        let all_arrived = !self.is_started() || self.queue.watcher.settle();
        let mut state = self.lock();
        if !all_arrived {
            state.lose(&self.queue, store);
            return false;
        }
        // Includes events that the thread has not read yet.
        self.queue.fetch();
        state.apply(&self.queue, store)
    }

    /// Watches a directory, or marks it as unavailable.
    pub(super) fn watch(&self, store: &Store, cached_dir: &Arc<CachedDir>) {
        let mut state = self.lock();
        {
            // Another thread was faster; or it was evicted and would never be released.
            let directory = cached_dir.peek();
            if directory.watch != WatchStatus::Unwatched || directory.evicted {
                return;
            }
        }
        let watcher = &self.queue.watcher;
        state.release(cached_dir.number, watcher);
        let followed = match self.start() {
            true => state.follow(cached_dir, watcher, self.max),
            false => Err(NotWatched::Impossible),
        };
        let mut directory = cached_dir.write();
        directory.forget();
        match followed {
            Ok(error) => {
                directory.watch = WatchStatus::Watched;
                directory.error = error.map(|error| (error, 0));
            }
            // The next lookup tries again.
            Err(NotWatched::Changing) => {}
            Err(NotWatched::Impossible) => {
                directory.watch = WatchStatus::Unavailable;
                drop(directory);
                state.release(cached_dir.number, watcher);
                store.counters.unwatched.add(1);
            }
        }
    }

    /// Stops watching for directories that were evicted.
    pub(super) fn release(&self, cached_dirs: &[Arc<CachedDir>]) {
        let mut state = self.lock();
        cached_dirs
            .iter()
            .for_each(|cached_dir| state.release(cached_dir.number, &self.queue.watcher));
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.queue.watcher.stop();
        let thread = self.thread.get_mut().map(Option::take).unwrap_or_default();
        if let Some(thread) = thread {
            // A panic of the thread was printed, and has no consequences here.
            let _ = thread.join();
        }
    }
}

/// Why a path is not watched.
enum NotWatched {
    /// It changed meanwhile.
    Changing,
    /// A step cannot be watched.
    Impossible,
}

/// A notification that was not applied yet.
#[derive(Debug)]
struct Event {
    directory: WatchId,
    /// The entry that changed; `None` for the directory itself.
    name: Option<OsString>,
    /// Only the content of a file changed.
    content: bool,
}

/// The system's watcher, and the events not applied yet.
#[derive(Debug)]
struct EventQueue {
    watcher: Watcher,
    waiting: Mutex<QueuedEvents>,
    /// Whether there are any.
    pending: AtomicBool,
}

#[derive(Debug, Default)]
struct QueuedEvents {
    events: Vec<Event>,
    lost: bool,
}

impl EventQueue {
    fn new() -> io::Result<Self> {
        Ok(Self { watcher: Watcher::new()?, waiting: Mutex::default(), pending: false.into() })
    }

    fn lock(&self) -> MutexGuard<'_, QueuedEvents> {
        self.waiting.lock().expect("BUG: a thread panicked while it took a event")
    }

    /// Moves events into the queue until the watcher is stopped.
    fn run(&self) {
        while self.watcher.wait() {
            self.fetch();
        }
    }

    /// Moves what has arrived into the queue. The lock is held while reading: when one thread finds
    /// nothing to read, whatever another has read is in the queue.
    fn fetch(&self) {
        let mut waiting = self.lock();
        self.watcher.read(&mut |notification| waiting.take(notification));
        self.pending.store(waiting.lost || !waiting.events.is_empty(), Ordering::Release);
    }

    /// Takes the events, and whether some were lost.
    fn drain(&self) -> (Vec<Event>, bool) {
        let mut waiting = self.lock();
        self.pending.store(false, Ordering::Release);
        (std::mem::take(&mut waiting.events), std::mem::take(&mut waiting.lost))
    }
}

impl QueuedEvents {
    fn take(&mut self, notification: Notification<'_>) {
        let event = match notification {
            Notification::Entry { directory, name, content } => {
                Event { directory, name: Some(name.to_owned()), content }
            }
            Notification::Directory(directory) | Notification::Unwatched(directory) => {
                Event { directory, name: None, content: false }
            }
            Notification::Lost | Notification::Path { .. } => return self.lose(),
        };
        // Everything will be dropped: further events make no difference.
        if !self.lost {
            self.events.push(event);
        }
        if self.events.len() > MAX_EVENTS {
            self.lose();
        }
    }

    fn lose(&mut self) {
        *self = Self { events: Vec::new(), lost: true };
    }
}

/// The path of one cached directory.
#[derive(Debug, Default)]
struct WatchedPath {
    cached_dir: Weak<CachedDir>,
    watched: Vec<PathBuf>,
    steps: Vec<PathBuf>,
    target: Option<PathBuf>,
}

#[derive(Debug)]
struct Watched {
    id: WatchId,
    /// The number of cached directories whose path contains it.
    users: usize,
    exact_names: bool,
}

/// The watched directories, and their cached directories. These paths contain no links.
#[derive(Debug, Default)]
struct WatchTables {
    watched: HashMap<PathBuf, Watched>,
    /// The directory of an event.
    directories: HashMap<WatchId, PathBuf>,
    steps: HashMap<PathBuf, HashSet<u64>>,
    targets: HashMap<PathBuf, HashSet<u64>>,
    paths: HashMap<u64, WatchedPath>,
}

impl WatchTables {
    /// Follows the path of a directory, and watches every step. The path leads to the directory, or ends early
    /// with the error that this returns.
    fn follow(
        &mut self,
        cached_dir: &Arc<CachedDir>,
        watcher: &Watcher,
        max: usize,
    ) -> Result<Option<LookupError>, NotWatched> {
        let number = cached_dir.number;
        self.paths.insert(
            number,
            WatchedPath { cached_dir: Arc::downgrade(cached_dir), ..WatchedPath::default() },
        );
        let mut here = PathBuf::new();
        let mut rest = reversed(cached_dir.path());
        let mut links = 0;
        while let Some(step) = rest.pop() {
            match step.components().next() {
                Some(Component::Normal(_)) => {}
                Some(Component::ParentDir) => {
                    here.pop();
                    continue;
                }
                // The start of the path, or of an absolute link target.
                _ => {
                    here.push(step);
                    if !rest.last().is_some_and(|next| next.has_root()) {
                        self.watch(number, &here, watcher, max)?;
                    }
                    continue;
                }
            }
            // A notification may spell a name differently than the path does.
            if !(cfg!(windows) || self.watched.get(&key(&here)).is_some_and(|it| it.exact_names)) {
                return Err(NotWatched::Impossible);
            }
            let path = here.join(&step);
            self.steps.entry(key(&path)).or_default().insert(number);
            self.path_mut(number).steps.push(key(&path));
            match transect_sys::file::query_attributes(&path, FieldMask::FILE_ID, false) {
                Ok(found) if found.file_type() == FileType::Directory => {
                    here = path;
                    self.watch(number, &here, watcher, max)?;
                }
                Ok(found) if found.file_type() == FileType::Symlink => {
                    links += 1;
                    let target = std::fs::read_link(&path).map_err(|_| NotWatched::Changing)?;
                    if links > MAX_LINKS {
                        return end_of_path(cached_dir);
                    }
                    rest.extend(reversed(&target));
                }
                _ => return end_of_path(cached_dir),
            }
        }
        self.targets.entry(key(&here)).or_default().insert(number);
        self.path_mut(number).target = Some(key(&here));
        Ok(None)
    }

    fn path_mut(&mut self, number: u64) -> &mut WatchedPath {
        self.paths.get_mut(&number).expect("BUG: a path that was not begun")
    }

    /// Watches a directory for a cached one.
    fn watch(
        &mut self,
        number: u64,
        directory: &Path,
        watcher: &Watcher,
        max: usize,
    ) -> Result<(), NotWatched> {
        let known = key(directory);
        if let Some(watched) = self.watched.get_mut(&known) {
            watched.users += 1;
        } else {
            let Reliability { local, exact_names, .. } = transect_sys::host::reliability(directory);
            if !local || self.watched.len() >= max {
                return Err(NotWatched::Impossible);
            }
            let id = watcher.watch(directory).map_err(|_| NotWatched::Impossible)?;
            // A bind mount gives the directory another path that is watched already: events carry
            // only that one.
            if self.directories.contains_key(&id) {
                return Err(NotWatched::Impossible);
            }
            self.directories.insert(id, known.clone());
            self.watched.insert(known.clone(), Watched { id, users: 1, exact_names });
        }
        self.path_mut(number).watched.push(known);
        Ok(())
    }

    /// Stops watching for a directory.
    fn release(&mut self, number: u64, watcher: &Watcher) {
        let Some(watched_path) = self.paths.remove(&number) else { return };
        for step in &watched_path.steps {
            remove_number(&mut self.steps, step, number);
        }
        if let Some(target) = &watched_path.target {
            remove_number(&mut self.targets, target, number);
        }
        for directory in &watched_path.watched {
            let Some(watched) = self.watched.get_mut(directory) else { continue };
            watched.users -= 1;
            if watched.users == 0 {
                watcher.unwatch(watched.id);
                self.directories.remove(&watched.id);
                self.watched.remove(directory);
            }
        }
    }

    /// Applies all waiting events. Returns false if some were lost.
    fn apply(&mut self, queue: &EventQueue, store: &Store) -> bool {
        let (events, lost) = queue.drain();
        if lost {
            self.lose(queue, store);
        } else {
            for event in &events {
                self.apply_event(event, &queue.watcher, store);
            }
        }
        !lost
    }

    fn apply_event(&mut self, event: &Event, watcher: &Watcher, store: &Store) {
        // It is not watched any more.
        let Some(directory) = self.directories.get(&event.directory) else { return };
        let path = match &event.name {
            None => directory.clone(),
            Some(name) => {
                self.forget_name(directory, name, store);
                key(&directory.join(name))
            }
        };
        if !event.content {
            let through = [&self.steps, &self.targets].map(|map| map.get(&path).cloned());
            for number in through.into_iter().flatten().flatten() {
                self.forget_dir(number, watcher, store);
            }
        }
    }

    /// Drops a name in every cached directory whose path ends in `directory`.
    fn forget_name(&self, directory: &Path, name: &OsStr, store: &Store) {
        let exact = self.watched.get(directory).is_some_and(|it| it.exact_names);
        let targets = self.targets.get(directory).into_iter().flatten();
        for cached_dir in targets.filter_map(|number| self.paths.get(number)?.cached_dir.upgrade())
        {
            store.counters.invalidations.add(1);
            let mut known = cached_dir.write();
            if exact {
                let name = HashedName::new(name.as_encoded_bytes(), &store.hasher);
                known.forget_name(name, store.layout);
            } else {
                known.forget();
            }
            store.dirs.add_memory(known.growth());
        }
    }

    /// Drops a cached directory whose path changed.
    fn forget_dir(&mut self, number: u64, watcher: &Watcher, store: &Store) {
        let cached_dir = self.paths.get(&number).and_then(|path| path.cached_dir.upgrade());
        self.release(number, watcher);
        if let Some(cached_dir) = cached_dir {
            store.counters.invalidations.add(1);
            let mut directory = cached_dir.write();
            directory.forget();
            directory.watch = WatchStatus::Unwatched;
            store.dirs.add_memory(directory.growth());
        }
    }

    /// Drops everything and stops watching, because the changes are unknown.
    fn lose(&mut self, queue: &EventQueue, store: &Store) {
        store.counters.lost.add(1);
        let numbers: Vec<u64> = self.paths.keys().copied().collect();
        for number in numbers {
            self.forget_dir(number, &queue.watcher, store);
        }
        // These events are about directories that are not watched any more.
        queue.drain();
    }
}

/// Returns the result for a path that ends before the directory.
fn end_of_path(cached_dir: &CachedDir) -> Result<Option<LookupError>, NotWatched> {
    match system::identity(cached_dir.path()).map_err(LookupError::from) {
        Err(error) if error.applies_below() => Ok(Some(error)),
        Err(_) => Err(NotWatched::Impossible),
        Ok(_) => Err(NotWatched::Changing),
    }
}

/// Returns the components of a path, the last one first.
fn reversed(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<PathBuf> = parts.map(|part| PathBuf::from(part.as_os_str())).collect();
    parts.reverse();
    parts
}

/// Returns the key of a path. On Windows case makes no difference.
fn key(path: &Path) -> PathBuf {
    if cfg!(windows) { path.to_string_lossy().to_lowercase().into() } else { path.to_path_buf() }
}

fn remove_number(map: &mut HashMap<PathBuf, HashSet<u64>>, path: &Path, number: u64) {
    if let Some(numbers) = map.get_mut(path) {
        numbers.remove(&number);
        if numbers.is_empty() {
            map.remove(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use transect_testkit::{TempDir, wait_until};

    use super::*;
    use crate::{AttributeCache, CacheCosts, CacheOptions, Level};

    fn cache() -> AttributeCache {
        let at_once = CacheCosts { watch: 0, watcher: 0, ..CacheCosts::new() };
        CacheOptions::new(Level::Watched).costs(at_once).open().unwrap()
    }

    fn watches(cache: &AttributeCache) -> &Watches {
        cache.watches.as_ref().unwrap()
    }

    /// Handles a notification as if the system had sent it.
    fn deliver(cache: &AttributeCache, notification: Notification<'_>) {
        let queue = &watches(cache).queue;
        queue.lock().take(notification);
        queue.pending.store(true, Ordering::Release);
    }

    #[test]
    fn watch_events_lost_everything_queried_again() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        let too_many = || {
            let id = watches(&cache).queue.watcher.watch(temp.path()).unwrap();
            for _ in 0..=MAX_EVENTS {
                let name = OsStr::new("nowhere");
                deliver(&cache, Notification::Entry { directory: id, name, content: false });
            }
        };
        let losses: [&dyn Fn(); 2] = [&|| deliver(&cache, Notification::Lost), &too_many];
        for (number, lose) in (1..).zip(losses) {
            assert!(cache.get(&file).is_ok() && cache.get(&file).is_ok());
            let queries = cache.counts().queries;
            lose();
            assert!(cache.get(&file).is_ok());
            let counts = cache.counts();
            assert!(counts.lost == number && counts.queries > queries, "{counts:?}");
            // It is watched again.
            for content in ["12345", "1"] {
                std::fs::write(&file, content).unwrap();
                let size = Some(content.len() as u64);
                // On Windows an event may be reported a moment after `settle`.
                wait_until("the new size", || {
                    cache.settle() && cache.get(&file).is_ok_and(|found| found.size() == size)
                });
            }
            assert_eq!(cache.counts().lost, number);
        }
    }

    #[test]
    fn settle_events_lost_returns_false() {
        let cache = cache();
        deliver(&cache, Notification::Lost);
        assert!(!cache.settle());
        assert!(cache.settle());
        assert_eq!(cache.counts().lost, 1);
    }

    #[test]
    fn watch_event_of_unwatched_directory_ignored() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        assert!(cache.get(&file).is_ok());
        let gone: Vec<WatchId> = watches(&cache).lock().directories.keys().copied().collect();
        cache.clear();
        assert!(cache.get(&file).is_ok());
        let (queries, name) = (cache.counts().queries, OsStr::new("file"));
        for directory in gone {
            deliver(&cache, Notification::Entry { directory, name, content: false });
            deliver(&cache, Notification::Directory(directory));
        }
        assert!(cache.settle() && cache.get(&file).is_ok());
        assert_eq!((cache.counts().queries, cache.counts().lost), (queries, 0));
    }

    /// More changes than the kernel's queue holds, while no thread reads it.
    #[cfg(target_os = "linux")]
    #[test]
    fn settle_queue_overflow_drops_everything_returns_false() {
        use std::os::unix::fs::FileExt;
        const LENGTH: &str = "/proc/sys/fs/inotify/max_queued_events";
        let test = "settle_queue_overflow_drops_everything_returns_false";
        let length = std::fs::read_to_string(LENGTH).ok().and_then(|text| text.trim().parse().ok());
        let Some(length @ 0..1_000_000) = length else {
            return transect_testkit::loudly_skip(test, "the kernel's queue is too long to fill");
        };
        let temp = TempDir::new();
        let files = ["one", "two"].map(|name| temp.join(name));
        files.iter().for_each(|file| std::fs::write(file, "1").unwrap());
        let cache = cache();
        assert!(files.iter().all(|file| cache.get(file).unwrap().size() == Some(1)));
        // This blocks the thread.
        let waiting = watches(&cache).queue.lock();
        let open: Vec<_> = files.iter().map(|file| std::fs::File::create(file).unwrap()).collect();
        for _ in 0..=length / 2 {
            // In turn: the kernel merges equal notifications that follow each other.
            open.iter().for_each(|file| file.write_all_at(b"12345", 0).unwrap());
        }
        drop(waiting);
        assert!(!cache.settle());
        assert!(files.iter().all(|file| cache.get(file).unwrap().size() == Some(5)));
        assert_eq!(cache.counts().lost, 1);
        // It still works afterwards.
        std::fs::write(&files[0], "12").unwrap();
        assert!(cache.settle());
        assert_eq!(cache.get(&files[0]).unwrap().size(), Some(2));
        assert_eq!(cache.counts().lost, 1);
    }

    /// `settle` does not depend on the thread.
    #[cfg(target_os = "linux")]
    #[test]
    fn settle_thread_stopped_sees_every_change() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "").unwrap();
        let mut cache = cache();
        let watches = cache.watches.as_mut().unwrap();
        assert!(watches.start());
        watches.queue.watcher.stop();
        watches.thread.get_mut().unwrap().take().unwrap().join().unwrap();
        for length in 1..50 {
            std::fs::write(&file, vec![b'x'; length]).unwrap();
            assert!(cache.settle());
            assert_eq!(cache.get(&file).unwrap().size(), Some(length as u64));
        }
    }

    #[test]
    fn watch_cleared_cache_watches_nothing() {
        let temp = TempDir::new();
        for name in ["one", "two"] {
            std::fs::create_dir_all(temp.join(name).join("below")).unwrap();
        }
        let cache = cache();
        for path in ["one/below/x", "two/below/x", "one/x", "missing/x"] {
            assert_eq!(cache.exists(temp.join(path)), Ok(false));
        }
        assert!(cache.counts().watches > 4);
        cache.clear();
        let state = watches(&cache).lock();
        assert!(state.watched.is_empty() && state.directories.is_empty());
        assert!(state.steps.is_empty() && state.targets.is_empty() && state.paths.is_empty());
    }
}
