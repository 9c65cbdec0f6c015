//! Notifications of changes: which directories are watched for what, and what a notice invalidates.
//!
//! ```text
//! system → EventQueue, on its own thread → whoever asks next: apply → NameTable, CachedDir
//! ```
//!
//! A directory is watched together with every directory on the way to it, links included, as they
//! may get another name or another target. The *steps* of a place are all names on that way: when
//! something happens to one of them, other than to its content, the place is forgotten and watched
//! anew when it is asked for. The *home* is the directory that the way ends at: what happens to a
//! name in it makes that name unknown.
//!
//! Nothing is missed between looking and watching: a step is registered before it is looked at, in a
//! directory that is watched already; and what is asked while a notice is on its way is forgotten
//! when it arrives (`Directory::changes`). The thread only moves notices into a queue, and never
//! waits for a lock that is held while a place is forgotten.
//!
//! When notices are lost, all that was known is forgotten, and directories are watched anew when
//! they are asked for. A directory that cannot be watched is checked instead. Both are counted.

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

/// So many notices wait at most for somebody to ask; with more they count as lost.
const MAX_EVENTS: usize = 1 << 16;

/// A path with more links than the kernel follows is not watched.
const MAX_LINKS: usize = 40;

/// The notices of one cache, and what they are about.
#[derive(Debug)]
pub(super) struct Watches {
    queue: Arc<EventQueue>,
    thread: Option<JoinHandle<()>>,
    state: Mutex<WatchTables>,
    /// The most directories to watch.
    max: usize,
}

impl Watches {
    pub(super) fn new(max: Option<usize>) -> io::Result<Self> {
        let queue = Arc::new(EventQueue::new()?);
        let thread = {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new()
                .name("notifications".to_owned())
                .spawn(move || queue.run())?
        };
        let (thread, state, max) = (Some(thread), Mutex::default(), max.unwrap_or(usize::MAX));
        Ok(Self { queue, thread, state, max })
    }

    /// Returns whether notices wait to be applied.
    #[inline]
    pub(super) fn has_events(&self) -> bool {
        self.queue.pending.load(Ordering::Acquire)
    }

    /// Returns how many directories are watched.
    pub(super) fn len(&self) -> usize {
        self.lock().watched.len()
    }

    fn lock(&self) -> MutexGuard<'_, WatchTables> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Applies the notices that have arrived, unless another thread does that, or has a directory
    /// watched: nobody waits for that.
    pub(super) fn try_apply(&self, store: &Store) {
        if let Ok(mut state) = self.state.try_lock() {
            state.apply(&self.queue, store);
        }
    }

    /// Applies the notices of all that happened before this call. Returns whether there were all
    /// of them; if not, everything is forgotten.
    pub(super) fn settle(&self, store: &Store) -> bool {
        let all_arrived = self.queue.watcher.settle();
        let mut state = self.lock();
        if !all_arrived {
            state.lose(&self.queue, store);
            return false;
        }
        // Also what the thread has not come to yet.
        self.queue.fetch();
        state.apply(&self.queue, store)
    }

    /// Has a place watched, or marks it as one that cannot be.
    pub(super) fn watch(&self, store: &Store, cached_dir: &Arc<CachedDir>) {
        let mut state = self.lock();
        {
            // Somebody was faster; or it was evicted, and nobody would ever release it.
            let directory = cached_dir.peek();
            if directory.watch != WatchStatus::Unwatched || directory.evicted {
                return;
            }
        }
        let watcher = &self.queue.watcher;
        state.release(cached_dir.number, watcher);
        let way = state.follow(cached_dir, watcher, self.max);
        let mut directory = cached_dir.write();
        directory.forget();
        match way {
            PathWatch::Watched(error) => {
                directory.watch = WatchStatus::Watched;
                directory.error = error.map(|error| (error, 0));
            }
            // Asked again with the next question.
            PathWatch::Changing => drop(directory),
            PathWatch::Unwatched => {
                directory.watch = WatchStatus::Unavailable;
                drop(directory);
                state.release(cached_dir.number, watcher);
                store.counters.unwatched.add(1);
            }
        }
    }

    /// Stops watching for places that were evicted.
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
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed, and harms nobody any more.
            let _ = thread.join();
        }
    }
}

/// What came of following the way to a place.
enum PathWatch {
    /// It is watched, and leads there, or nowhere for a reason.
    Watched(Option<LookupError>),
    /// It was changed meanwhile.
    Changing,
    /// Some of it cannot be watched.
    Unwatched,
}

/// Something that happened.
#[derive(Debug)]
struct Event {
    directory: WatchId,
    /// The entry that it happened to; without one, it happened to the directory itself.
    name: Option<OsString>,
    /// Only its content changed.
    content: bool,
}

/// The system's watcher, and where notices wait.
#[derive(Debug)]
struct EventQueue {
    watcher: Watcher,
    waiting: Mutex<QueuedEvents>,
    /// Some wait.
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

    /// Moves notices into the queue until the watcher is stopped.
    fn run(&self) {
        while self.watcher.wait() {
            self.fetch();
        }
    }

    /// Moves what has arrived into the queue. Nobody else reads meanwhile, so that what one thread
    /// has read is in the queue when another finds nothing more to read.
    fn fetch(&self) {
        let mut waiting = self.lock();
        self.watcher.read(&mut |notification| waiting.take(notification));
        self.pending.store(waiting.lost || !waiting.events.is_empty(), Ordering::Release);
    }

    /// Hands out what waits, and whether some was lost.
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
            Notification::Directory(directory) => Event { directory, name: None, content: false },
            // Nobody knows what it was.
            Notification::Lost => return self.lose(),
        };
        // Everything will be forgotten: of what happens until then nothing need be known.
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

/// The way to one place.
#[derive(Debug, Default)]
struct WatchedPath {
    cached_dir: Weak<CachedDir>,
    watched: Vec<PathBuf>,
    steps: Vec<PathBuf>,
    target: Option<PathBuf>,
}

/// A directory that is watched.
#[derive(Debug)]
struct Watched {
    id: WatchId,
    /// So many places' ways go through it, or end there.
    users: usize,
    exact_names: bool,
}

/// What is watched, and for whom. No links are in these paths.
#[derive(Debug, Default)]
struct WatchTables {
    watched: HashMap<PathBuf, Watched>,
    /// Which directory a notice is about.
    directories: HashMap<WatchId, PathBuf>,
    steps: HashMap<PathBuf, HashSet<u64>>,
    targets: HashMap<PathBuf, HashSet<u64>>,
    paths: HashMap<u64, WatchedPath>,
}

impl WatchTables {
    /// Follows the way to a place, step by step, and watches it.
    fn follow(&mut self, cached_dir: &Arc<CachedDir>, watcher: &Watcher, max: usize) -> PathWatch {
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
                // Where the path begins, or begins anew.
                _ => {
                    here.push(step);
                    if rest.last().is_some_and(|next| next.has_root()) {
                        continue;
                    }
                    if !self.watch(number, &here, watcher, max) {
                        return PathWatch::Unwatched;
                    }
                    continue;
                }
            }
            // The name in a path may be spelt otherwise than the name in a notice.
            if !(cfg!(windows) || self.watched.get(&key(&here)).is_some_and(|it| it.exact_names)) {
                return PathWatch::Unwatched;
            }
            let path = here.join(&step);
            self.register_step(number, &path);
            match transect_sys::file::query_attributes(&path, FieldMask::FILE_ID, false) {
                Ok(found) if found.file_type() == FileType::Directory => {
                    here = path;
                    if !self.watch(number, &here, watcher, max) {
                        return PathWatch::Unwatched;
                    }
                }
                Ok(found) if found.file_type() == FileType::Symlink => {
                    links += 1;
                    let Ok(target) = std::fs::read_link(&path) else { return PathWatch::Changing };
                    if links > MAX_LINKS {
                        return end_of_path(cached_dir);
                    }
                    rest.extend(reversed(&target));
                }
                _ => return end_of_path(cached_dir),
            }
        }
        self.targets.entry(key(&here)).or_default().insert(number);
        let watched_path =
            self.paths.get_mut(&number).expect("BUG: the watched_path was just begun");
        watched_path.target = Some(key(&here));
        PathWatch::Watched(None)
    }

    fn register_step(&mut self, number: u64, path: &Path) {
        self.steps.entry(key(path)).or_default().insert(number);
        let watched_path = self.paths.get_mut(&number).expect("BUG: a step of no watched_path");
        watched_path.steps.push(key(path));
    }

    /// Watches a directory for a place; returns whether it is watched.
    fn watch(&mut self, number: u64, directory: &Path, watcher: &Watcher, max: usize) -> bool {
        let known = key(directory);
        if let Some(watched) = self.watched.get_mut(&known) {
            watched.users += 1;
        } else {
            let Reliability { local, exact_names } = transect_sys::host::reliability(directory);
            if !local || self.watched.len() >= max {
                return false;
            }
            let Ok(id) = watcher.watch(directory) else { return false };
            // It is watched by another name, which a bind mount gives it: notices would be taken for
            // those of that name only.
            if self.directories.contains_key(&id) {
                return false;
            }
            self.directories.insert(id, known.clone());
            self.watched.insert(known.clone(), Watched { id, users: 1, exact_names });
        }
        let watched_path = self.paths.get_mut(&number).expect("BUG: a watch for no watched_path");
        watched_path.watched.push(known);
        true
    }

    /// Stops watching for a place.
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

    /// Applies what waits; returns whether that was all that happened.
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
        // Nobody is interested in it any more.
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

    /// Makes a name unknown in every place that is the directory.
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

    /// Forgets a place whose way has changed.
    fn forget_dir(&mut self, number: u64, watcher: &Watcher, store: &Store) {
        let cached_dir =
            self.paths.get(&number).and_then(|watched_path| watched_path.cached_dir.upgrade());
        self.release(number, watcher);
        if let Some(cached_dir) = cached_dir {
            store.counters.invalidations.add(1);
            let mut directory = cached_dir.write();
            directory.forget();
            directory.watch = WatchStatus::Unwatched;
            store.dirs.add_memory(directory.growth());
        }
    }

    /// Forgets everything, as nobody knows what happened, and watches nothing.
    fn lose(&mut self, queue: &EventQueue, store: &Store) {
        store.counters.lost.add(1);
        let numbers: Vec<u64> = self.paths.keys().copied().collect();
        for number in numbers {
            self.forget_dir(number, &queue.watcher, store);
        }
        // What waits is about directories that are not watched any more.
        queue.drain();
    }
}

/// Returns that a way ends before the place, as the system says.
fn end_of_path(cached_dir: &CachedDir) -> PathWatch {
    match system::identity(cached_dir.path()).map_err(LookupError::from) {
        Err(error) if error.applies_below() => PathWatch::Watched(Some(error)),
        Err(_) => PathWatch::Unwatched,
        Ok(_) => PathWatch::Changing,
    }
}

/// Returns the components of a path, the last one first.
fn reversed(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<PathBuf> = parts.map(|part| PathBuf::from(part.as_os_str())).collect();
    parts.reverse();
    parts
}

/// Returns under what a path is kept. On Windows case makes no difference.
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
    use transect_testkit::TempDir;

    use super::*;
    use crate::{AttributeCache, CacheOptions, Level};

    fn cache() -> AttributeCache {
        CacheOptions::new(Level::Watched).open().unwrap()
    }

    fn watches(cache: &AttributeCache) -> &Watches {
        cache.watches.as_ref().unwrap()
    }

    /// Takes a notification as if the system had sent it.
    fn tell(cache: &AttributeCache, notification: Notification<'_>) {
        let queue = &watches(cache).queue;
        queue.lock().take(notification);
        queue.pending.store(true, Ordering::Release);
    }

    #[test]
    fn whatever_is_lost_everything_is_asked_again() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        let too_many = || {
            let id = watches(&cache).queue.watcher.watch(temp.path()).unwrap();
            for _ in 0..=MAX_EVENTS {
                let name = OsStr::new("nowhere");
                tell(&cache, Notification::Entry { directory: id, name, content: false });
            }
        };
        let losses: [&dyn Fn(); 2] = [&|| tell(&cache, Notification::Lost), &too_many];
        for (number, lose) in (1..).zip(losses) {
            assert!(cache.get(&file).is_ok() && cache.get(&file).is_ok());
            let queries = cache.counts().queries;
            lose();
            assert!(cache.get(&file).is_ok());
            let counts = cache.counts();
            assert_eq!((counts.lost, counts.queries), (number, queries + 1), "{counts:?}");
            // It is watched again.
            std::fs::write(&file, "12345").unwrap();
            assert!(cache.settle());
            assert_eq!(cache.get(&file).unwrap().size(), Some(5));
            assert_eq!(cache.counts().lost, number);
            std::fs::write(&file, "1").unwrap();
            assert!(cache.settle());
        }
        assert!(watches(&cache).queue.lock().events.is_empty());
    }

    #[test]
    fn what_is_lost_while_it_settles_is_said() {
        let cache = cache();
        tell(&cache, Notification::Lost);
        assert!(!cache.settle());
        assert!(cache.settle());
        assert_eq!(cache.counts().lost, 1);
    }

    #[test]
    fn a_notice_of_a_directory_that_is_not_watched_any_more_is_ignored() {
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
            tell(&cache, Notification::Entry { directory, name, content: false });
            tell(&cache, Notification::Directory(directory));
        }
        assert!(cache.settle() && cache.get(&file).is_ok());
        assert_eq!((cache.counts().queries, cache.counts().lost), (queries, 0));
    }

    /// More changes than the kernel's queue holds, while nobody reads.
    #[cfg(target_os = "linux")]
    #[test]
    fn settle_after_the_queue_overflowed_forgets_everything_and_returns_false() {
        use std::os::unix::fs::FileExt;
        const LENGTH: &str = "/proc/sys/fs/inotify/max_queued_events";
        let test = "settle_after_the_queue_overflowed_forgets_everything_and_returns_false";
        let length = std::fs::read_to_string(LENGTH).ok().and_then(|text| text.trim().parse().ok());
        let Some(length @ 0..1_000_000) = length else {
            return transect_testkit::loudly_skip(test, "the kernel's queue is too long to fill");
        };
        let temp = TempDir::new();
        let files = ["one", "two"].map(|name| temp.join(name));
        files.iter().for_each(|file| std::fs::write(file, "1").unwrap());
        let cache = cache();
        assert!(files.iter().all(|file| cache.get(file).unwrap().size() == Some(1)));
        // The thread waits for this lock.
        let waiting = watches(&cache).queue.lock();
        let open: Vec<_> = files.iter().map(|file| std::fs::File::create(file).unwrap()).collect();
        for _ in 0..=length / 2 {
            // In turns: the kernel keeps one of several equal notifications that follow each other.
            open.iter().for_each(|file| file.write_all_at(b"12345", 0).unwrap());
        }
        drop(waiting);
        assert!(!cache.settle());
        assert!(files.iter().all(|file| cache.get(file).unwrap().size() == Some(5)));
        assert_eq!(cache.counts().lost, 1);
        // And it goes on.
        std::fs::write(&files[0], "12").unwrap();
        assert!(cache.settle());
        assert_eq!(cache.get(&files[0]).unwrap().size(), Some(2));
        assert_eq!(cache.counts().lost, 1);
    }

    /// The thread is not needed for that, however long the machine lets it wait.
    #[cfg(target_os = "linux")]
    #[test]
    fn settle_while_the_thread_does_not_run_sees_every_change() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "").unwrap();
        let mut cache = cache();
        let watches = cache.watches.as_mut().unwrap();
        watches.queue.watcher.stop();
        watches.thread.take().unwrap().join().unwrap();
        for length in 1..50 {
            std::fs::write(&file, vec![b'x'; length]).unwrap();
            assert!(cache.settle());
            assert_eq!(cache.get(&file).unwrap().size(), Some(length as u64));
        }
    }

    #[test]
    fn what_is_not_asked_for_any_more_is_not_watched() {
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
