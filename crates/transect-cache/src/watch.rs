//! Notifications of changes: which directories are watched for what, and what a notice invalidates.
//!
//! ```text
//! system → Feed, on its own thread → whoever asks next: apply → Table, Place
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

use super::AttributeCache;
use super::place::{Place, Watch};
use super::refusal::Refusal;
use super::system;
use super::table::Name;

/// So many notices wait at most for somebody to ask; with more they count as lost.
const MOST_NOTICES: usize = 1 << 16;

/// A path with more links than the kernel follows is not watched.
const MOST_LINKS: usize = 40;

/// The notices of one cache, and what they are about.
#[derive(Debug)]
pub(super) struct Watches {
    feed: Arc<Feed>,
    thread: Option<JoinHandle<()>>,
    state: Mutex<State>,
    /// The most directories to watch.
    most: usize,
}

impl Watches {
    pub(super) fn new(most: Option<usize>) -> io::Result<Self> {
        let feed = Arc::new(Feed::new()?);
        let thread = {
            let feed = Arc::clone(&feed);
            std::thread::Builder::new()
                .name("notifications".to_owned())
                .spawn(move || feed.run())?
        };
        let (thread, state, most) = (Some(thread), Mutex::default(), most.unwrap_or(usize::MAX));
        Ok(Self { feed, thread, state, most })
    }

    /// Returns whether notices wait to be applied.
    #[inline]
    pub(super) fn has_notices(&self) -> bool {
        self.feed.pending.load(Ordering::Acquire)
    }

    /// Returns how many directories are watched.
    pub(super) fn len(&self) -> usize {
        self.lock().watched.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Applies the notices that have arrived, unless another thread does that, or has a directory
    /// watched: nobody waits for that.
    pub(super) fn apply_some(&self, cache: &AttributeCache) {
        if let Ok(mut state) = self.state.try_lock() {
            state.apply(&self.feed, cache);
        }
    }

    /// Applies the notices of all that happened before this call. Returns whether there were all
    /// of them; if not, everything is forgotten.
    pub(super) fn settle(&self, cache: &AttributeCache) -> bool {
        let all_arrived = self.feed.watcher.settle();
        let mut state = self.lock();
        if !all_arrived {
            state.lose(&self.feed, cache);
            return false;
        }
        // Also what the thread has not come to yet.
        self.feed.fetch();
        state.apply(&self.feed, cache)
    }

    /// Has a place watched, or marks it as one that cannot be.
    pub(super) fn watch(&self, cache: &AttributeCache, place: &Arc<Place>) {
        let mut state = self.lock();
        {
            // Somebody was faster; or it was evicted, and nobody would ever release it.
            let directory = place.peek();
            if directory.watch != Watch::Off || directory.retired {
                return;
            }
        }
        let watcher = &self.feed.watcher;
        state.release(place.number, watcher);
        let way = state.follow(place, watcher, self.most);
        let mut directory = place.change();
        directory.forget();
        match way {
            Way::Watched(refusal) => {
                directory.watch = Watch::On;
                directory.refusal = refusal.map(|refusal| (refusal, 0));
            }
            // Asked again with the next question.
            Way::Changing => drop(directory),
            Way::Unwatched => {
                directory.watch = Watch::Refused;
                drop(directory);
                state.release(place.number, watcher);
                cache.counters.unwatched.add(1);
            }
        }
    }

    /// Stops watching for places that were evicted.
    pub(super) fn release(&self, places: &[Arc<Place>]) {
        let mut state = self.lock();
        places.iter().for_each(|place| state.release(place.number, &self.feed.watcher));
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.feed.watcher.stop();
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed, and harms nobody any more.
            let _ = thread.join();
        }
    }
}

/// What came of following the way to a place.
enum Way {
    /// It is watched, and leads there, or nowhere for a reason.
    Watched(Option<Refusal>),
    /// It was changed meanwhile.
    Changing,
    /// Some of it cannot be watched.
    Unwatched,
}

/// Something that happened.
#[derive(Debug)]
struct Notice {
    directory: WatchId,
    /// The entry that it happened to; without one, it happened to the directory itself.
    name: Option<OsString>,
    /// Only its content changed.
    content: bool,
}

/// The system's watcher, and where notices wait.
#[derive(Debug)]
struct Feed {
    watcher: Watcher,
    waiting: Mutex<Waiting>,
    /// Some wait.
    pending: AtomicBool,
}

#[derive(Debug, Default)]
struct Waiting {
    notices: Vec<Notice>,
    lost: bool,
}

impl Feed {
    fn new() -> io::Result<Self> {
        Ok(Self { watcher: Watcher::new()?, waiting: Mutex::default(), pending: false.into() })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("BUG: a thread panicked while it took a notice")
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
        self.pending.store(waiting.lost || !waiting.notices.is_empty(), Ordering::Release);
    }

    /// Hands out what waits, and whether some was lost.
    fn drain(&self) -> (Vec<Notice>, bool) {
        let mut waiting = self.lock();
        self.pending.store(false, Ordering::Release);
        (std::mem::take(&mut waiting.notices), std::mem::take(&mut waiting.lost))
    }
}

impl Waiting {
    fn take(&mut self, notification: Notification<'_>) {
        let notice = match notification {
            Notification::Entry { directory, name, content } => {
                Notice { directory, name: Some(name.to_owned()), content }
            }
            Notification::Directory(directory) => Notice { directory, name: None, content: false },
            // Nobody knows what it was.
            Notification::Lost => return self.lose(),
        };
        // Everything will be forgotten: of what happens until then nothing need be known.
        if !self.lost {
            self.notices.push(notice);
        }
        if self.notices.len() > MOST_NOTICES {
            self.lose();
        }
    }

    fn lose(&mut self) {
        *self = Self { notices: Vec::new(), lost: true };
    }
}

/// The way to one place.
#[derive(Debug, Default)]
struct Chain {
    place: Weak<Place>,
    watched: Vec<PathBuf>,
    steps: Vec<PathBuf>,
    home: Option<PathBuf>,
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
struct State {
    watched: HashMap<PathBuf, Watched>,
    /// Which directory a notice is about.
    directories: HashMap<WatchId, PathBuf>,
    steps: HashMap<PathBuf, HashSet<u64>>,
    homes: HashMap<PathBuf, HashSet<u64>>,
    chains: HashMap<u64, Chain>,
}

impl State {
    /// Follows the way to a place, step by step, and watches it.
    fn follow(&mut self, place: &Arc<Place>, watcher: &Watcher, most: usize) -> Way {
        let number = place.number;
        self.chains.insert(number, Chain { place: Arc::downgrade(place), ..Chain::default() });
        let mut here = PathBuf::new();
        let mut rest = reversed(place.path());
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
                    if !self.watch(number, &here, watcher, most) {
                        return Way::Unwatched;
                    }
                    continue;
                }
            }
            // The name in a path may be spelt otherwise than the name in a notice.
            if !(cfg!(windows) || self.watched.get(&key(&here)).is_some_and(|it| it.exact_names)) {
                return Way::Unwatched;
            }
            let path = here.join(&step);
            self.register_step(number, &path);
            match transect_sys::file::query_attributes(&path, FieldMask::FILE_ID, false) {
                Ok(found) if found.file_type() == FileType::Directory => {
                    here = path;
                    if !self.watch(number, &here, watcher, most) {
                        return Way::Unwatched;
                    }
                }
                Ok(found) if found.file_type() == FileType::Symlink => {
                    links += 1;
                    let Ok(target) = std::fs::read_link(&path) else { return Way::Changing };
                    if links > MOST_LINKS {
                        return nowhere(place);
                    }
                    rest.extend(reversed(&target));
                }
                _ => return nowhere(place),
            }
        }
        self.homes.entry(key(&here)).or_default().insert(number);
        let chain = self.chains.get_mut(&number).expect("BUG: the chain was just begun");
        chain.home = Some(key(&here));
        Way::Watched(None)
    }

    fn register_step(&mut self, number: u64, path: &Path) {
        self.steps.entry(key(path)).or_default().insert(number);
        let chain = self.chains.get_mut(&number).expect("BUG: a step of no chain");
        chain.steps.push(key(path));
    }

    /// Watches a directory for a place; returns whether it is watched.
    fn watch(&mut self, number: u64, directory: &Path, watcher: &Watcher, most: usize) -> bool {
        let known = key(directory);
        if let Some(watched) = self.watched.get_mut(&known) {
            watched.users += 1;
        } else {
            let Reliability { local, exact_names } = transect_sys::host::reliability(directory);
            if !local || self.watched.len() >= most {
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
        let chain = self.chains.get_mut(&number).expect("BUG: a watch for no chain");
        chain.watched.push(known);
        true
    }

    /// Stops watching for a place.
    fn release(&mut self, number: u64, watcher: &Watcher) {
        let Some(chain) = self.chains.remove(&number) else { return };
        for step in &chain.steps {
            leave(&mut self.steps, step, number);
        }
        if let Some(home) = &chain.home {
            leave(&mut self.homes, home, number);
        }
        for directory in &chain.watched {
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
    fn apply(&mut self, feed: &Feed, cache: &AttributeCache) -> bool {
        let (notices, lost) = feed.drain();
        if lost {
            self.lose(feed, cache);
        } else {
            for notice in &notices {
                self.apply_one(notice, &feed.watcher, cache);
            }
        }
        !lost
    }

    fn apply_one(&mut self, notice: &Notice, watcher: &Watcher, cache: &AttributeCache) {
        // Nobody is interested in it any more.
        let Some(directory) = self.directories.get(&notice.directory) else { return };
        let path = match &notice.name {
            None => directory.clone(),
            Some(name) => {
                self.forget_name(directory, name, cache);
                key(&directory.join(name))
            }
        };
        if !notice.content {
            let through = [&self.steps, &self.homes].map(|map| map.get(&path).cloned());
            for number in through.into_iter().flatten().flatten() {
                self.forget_place(number, watcher, cache);
            }
        }
    }

    /// Makes a name unknown in every place that is the directory.
    fn forget_name(&self, directory: &Path, name: &OsStr, cache: &AttributeCache) {
        let exact = self.watched.get(directory).is_some_and(|it| it.exact_names);
        let homes = self.homes.get(directory).into_iter().flatten();
        for place in homes.filter_map(|number| self.chains.get(number)?.place.upgrade()) {
            cache.counters.invalidations.add(1);
            let mut known = place.change();
            if exact {
                let name = Name::new(name.as_encoded_bytes(), &cache.hasher);
                known.forget_name(name, cache.layout);
            } else {
                known.forget();
            }
            cache.memo.grow(known.growth());
        }
    }

    /// Forgets a place whose way has changed.
    fn forget_place(&mut self, number: u64, watcher: &Watcher, cache: &AttributeCache) {
        let place = self.chains.get(&number).and_then(|chain| chain.place.upgrade());
        self.release(number, watcher);
        if let Some(place) = place {
            cache.counters.invalidations.add(1);
            let mut directory = place.change();
            directory.forget();
            directory.watch = Watch::Off;
            cache.memo.grow(directory.growth());
        }
    }

    /// Forgets everything, as nobody knows what happened, and watches nothing.
    fn lose(&mut self, feed: &Feed, cache: &AttributeCache) {
        cache.counters.lost.add(1);
        let numbers: Vec<u64> = self.chains.keys().copied().collect();
        for number in numbers {
            self.forget_place(number, &feed.watcher, cache);
        }
        // What waits is about directories that are not watched any more.
        feed.drain();
    }
}

/// Returns that a way ends before the place, as the system says.
fn nowhere(place: &Place) -> Way {
    match system::identity(place.path()).map_err(Refusal::from) {
        Err(refusal) if refusal.holds_below() => Way::Watched(Some(refusal)),
        Err(_) => Way::Unwatched,
        Ok(_) => Way::Changing,
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

fn leave(map: &mut HashMap<PathBuf, HashSet<u64>>, path: &Path, number: u64) {
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
    use crate::{CacheOptions, Level};

    fn cache() -> AttributeCache {
        CacheOptions::new(Level::Watched).open().unwrap()
    }

    fn watches(cache: &AttributeCache) -> &Watches {
        cache.watches.as_ref().unwrap()
    }

    /// Takes a notification as if the system had sent it.
    fn tell(cache: &AttributeCache, notification: Notification<'_>) {
        let feed = &watches(cache).feed;
        feed.lock().take(notification);
        feed.pending.store(true, Ordering::Release);
    }

    #[test]
    fn whatever_is_lost_everything_is_asked_again() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        let too_many = || {
            let id = watches(&cache).feed.watcher.watch(temp.path()).unwrap();
            for _ in 0..=MOST_NOTICES {
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
        assert!(watches(&cache).feed.lock().notices.is_empty());
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
        let waiting = watches(&cache).feed.lock();
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
        watches.feed.watcher.stop();
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
        assert!(state.steps.is_empty() && state.homes.is_empty() && state.chains.is_empty());
    }
}
