//! Being told of changes: which directories are watched for what, and what becomes of a notice.
//!
//! ```text
//! system → notify's thread → Queue → whoever asks next: apply → Table, Place
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
//! when it arrives (`Directory::changes`). Notices wait in a queue until somebody asks, so that the
//! thread that delivers them never waits for a lock that is held while a watch is added, which that
//! thread has to do.
//!
//! When notices are lost, all that was known is forgotten and the watcher is begun anew. A directory
//! that cannot be watched is checked instead. Both are counted.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{Config, Event, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};
use transect_sys::{FieldMask, FileId, FileType, Reliability};

use super::AttributeCache;
use super::place::{Place, Watch};
use super::refusal::Refusal;
use super::system;
use super::table::Name;

/// So many notices wait at most for somebody to ask; with more they count as lost.
const MOST_NOTICES: usize = 1 << 16;

/// A path with more links than the kernel follows is not watched.
const MOST_LINKS: usize = 40;

/// Nobody's notices take as long as that, unless they are lost.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The notices of one cache, and what they are about.
#[derive(Debug)]
pub(super) struct Watches {
    queue: Arc<Queue>,
    state: Mutex<State>,
    /// The most directories to watch.
    most: usize,
    cookies: Cookies,
}

impl Watches {
    pub(super) fn new(most: Option<usize>) -> Result<Self, String> {
        let cookies = Cookies::new().map_err(|error| error.to_string())?;
        let queue = Arc::new(Queue::new(cookies.folder.clone()));
        let state = Mutex::new(State::new(&queue).map_err(|error| error.to_string())?);
        Ok(Self { queue, state, most: most.unwrap_or(usize::MAX), cookies })
    }

    /// Returns whether notices wait to be applied.
    #[inline]
    pub(super) fn has_notices(&self) -> bool {
        self.queue.pending.load(Ordering::Acquire)
    }

    /// Returns how many directories are watched.
    pub(super) fn len(&self) -> usize {
        self.lock().watched.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Applies the notices that have arrived, unless somebody else is at it, or has a directory
    /// watched: nobody waits for that.
    pub(super) fn apply_some(&self, cache: &AttributeCache) {
        if let Ok(mut state) = self.state.try_lock() {
            state.apply(&self.queue, cache);
        }
    }

    /// Waits until all that happened before this call has been told, and applies it. Returns
    /// whether that could be had; if not, all is forgotten.
    pub(super) fn settle(&self, cache: &AttributeCache) -> bool {
        let came = self.cookies.drop_one().is_ok_and(|number| self.queue.wait_for(number));
        let mut state = self.lock();
        if came {
            return state.apply(&self.queue, cache);
        }
        state.lose(&self.queue, cache);
        false
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
        state.release(place.number);
        let way = state.follow(place, self.most);
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
                state.release(place.number);
                cache.counters.unwatched.add(1);
            }
        }
    }

    /// Stops watching for places that were evicted.
    pub(super) fn release(&self, places: &[Arc<Place>]) {
        let mut state = self.lock();
        places.iter().for_each(|place| state.release(place.number));
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

/// Something that happened to a path.
#[derive(Debug)]
struct Notice {
    path: PathBuf,
    /// Only its content changed.
    content: bool,
}

/// Where notices wait.
#[derive(Debug)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    pending: AtomicBool,
    /// Which watcher is heard: of those before it some may still have something to say.
    watcher: AtomicU64,
    /// The folder whose files are no notices, but the end of a wait.
    cookies: PathBuf,
}

#[derive(Debug, Default)]
struct Waiting {
    notices: Vec<Notice>,
    lost: bool,
    /// The number of the last cookie that came.
    cookie: u64,
}

impl Queue {
    fn new(cookies: PathBuf) -> Self {
        let (waiting, arrived) = (Mutex::default(), Condvar::new());
        Self { waiting, arrived, pending: false.into(), watcher: 0.into(), cookies }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("BUG: a thread panicked while it took a notice")
    }

    /// Takes what the system told a watcher, on the thread that hears it.
    fn take(&self, watcher: u64, event: notify::Result<Event>) {
        let mut waiting = self.lock();
        if watcher != self.watcher.load(Ordering::Relaxed) {
            return;
        }
        match event {
            Ok(event) if !event.need_rescan() => {
                let content = matches!(
                    event.kind,
                    EventKind::Modify(ModifyKind::Data(_)) | EventKind::Access(_)
                );
                for path in event.paths {
                    waiting.take(path, content, &self.cookies);
                }
            }
            // Lost by the system, or unreadable: nobody knows what it was.
            _ => waiting.lost = true,
        }
        if waiting.notices.len() > MOST_NOTICES {
            waiting.notices = Vec::new();
            waiting.lost = true;
        }
        self.pending.store(waiting.lost || !waiting.notices.is_empty(), Ordering::Release);
        self.arrived.notify_all();
    }

    /// Waits until a cookie has come. What came before it is in the queue then.
    fn wait_for(&self, cookie: u64) -> bool {
        let not_yet = |waiting: &mut Waiting| waiting.cookie < cookie && !waiting.lost;
        let (waiting, timeout) = self
            .arrived
            .wait_timeout_while(self.lock(), LONGEST_WAIT, not_yet)
            .expect("BUG: a thread panicked while it took a notice");
        drop(waiting);
        !timeout.timed_out()
    }

    /// Hands out what waits, and whether some was lost.
    fn drain(&self) -> (Vec<Notice>, bool) {
        let mut waiting = self.lock();
        self.pending.store(false, Ordering::Release);
        (std::mem::take(&mut waiting.notices), std::mem::take(&mut waiting.lost))
    }
}

impl Waiting {
    fn take(&mut self, path: PathBuf, content: bool, cookies: &Path) {
        let number =
            path.strip_prefix(cookies).ok().and_then(|name| name.to_str()?.parse::<u64>().ok());
        match number {
            Some(number) => self.cookie = self.cookie.max(number),
            None => self.notices.push(Notice { path, content }),
        }
    }
}

/// A folder of our own in which a file is made to see when news of it comes: on Linux all notices
/// stand in one queue, so that what happened earlier has come, too.
#[derive(Debug)]
struct Cookies {
    folder: PathBuf,
    next: AtomicU64,
}

impl Cookies {
    fn new() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let temporary = std::env::temp_dir();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("transect-cache-{}-{number}", std::process::id());
            let folder = temporary.join(name);
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder, next: AtomicU64::new(1) }),
                // Left behind by a process of the same number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn drop_one(&self) -> std::io::Result<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        std::fs::File::create_new(&path)?;
        std::fs::remove_file(path)?;
        Ok(number)
    }
}

impl Drop for Cookies {
    fn drop(&mut self) {
        // Nobody is left to be told that it could not be.
        let _ = std::fs::remove_dir_all(&self.folder);
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
    /// So many places' ways go through it, or end there.
    users: usize,
    id: Option<FileId>,
    exact_names: bool,
}

/// What is watched, and for whom. Paths are those that the system tells, not those that were asked:
/// no links are in them.
#[derive(Debug)]
struct State {
    watcher: RecommendedWatcher,
    /// It is heard no longer, and there was no other to be had.
    deaf: bool,
    watched: HashMap<PathBuf, Watched>,
    /// The system watches a directory once, whatever names it has.
    ids: HashMap<FileId, PathBuf>,
    steps: HashMap<PathBuf, HashSet<u64>>,
    homes: HashMap<PathBuf, HashSet<u64>>,
    chains: HashMap<u64, Chain>,
}

/// Starts a watcher, and hears no other from now on.
fn start(queue: &Arc<Queue>) -> notify::Result<RecommendedWatcher> {
    // Who writes through a mapping is not seen before the file is closed.
    let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
    let config = Config::default().with_event_kinds(kinds);
    let waiting = queue.lock();
    let number = queue.watcher.fetch_add(1, Ordering::Relaxed) + 1;
    drop(waiting);
    let told = Arc::clone(queue);
    let mut watcher = RecommendedWatcher::new(move |event| told.take(number, event), config)?;
    watcher.watch(&queue.cookies, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

impl State {
    fn new(queue: &Arc<Queue>) -> notify::Result<Self> {
        let (watched, ids, steps) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (homes, chains) = (HashMap::new(), HashMap::new());
        let (watcher, deaf) = (start(queue)?, false);
        Ok(Self { watcher, deaf, watched, ids, steps, homes, chains })
    }

    /// Follows the way to a place, step by step, and watches it.
    fn follow(&mut self, place: &Arc<Place>, most: usize) -> Way {
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
                    if !self.watch(number, &here, most) {
                        return Way::Unwatched;
                    }
                    continue;
                }
            }
            // What the name is found under may be spelt otherwise than what is told of it.
            if !(cfg!(windows) || self.watched.get(&key(&here)).is_some_and(|it| it.exact_names)) {
                return Way::Unwatched;
            }
            let path = here.join(&step);
            self.register_step(number, &path);
            match transect_sys::file::ask(&path, FieldMask::FILE_ID, false) {
                Ok(found) if found.file_type() == FileType::Directory => {
                    here = path;
                    if !self.watch(number, &here, most) {
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
    fn watch(&mut self, number: u64, directory: &Path, most: usize) -> bool {
        let known = key(directory);
        if let Some(watched) = self.watched.get_mut(&known) {
            watched.users += 1;
        } else {
            let Reliability { local, exact_names } = transect_sys::host::reliability(directory);
            let Ok(found) = transect_sys::file::ask(directory, FieldMask::FILE_ID, false) else {
                return false;
            };
            let id = found.file_id();
            // Watched a second time by another name, which a bind mount gives it, it would be told
            // of under that name only.
            let twice = id.is_some_and(|id| self.ids.contains_key(&id));
            if self.deaf || !local || twice || self.watched.len() >= most {
                return false;
            }
            if self.watcher.watch(directory, RecursiveMode::NonRecursive).is_err() {
                return false;
            }
            self.ids.extend(id.map(|id| (id, known.clone())));
            self.watched.insert(known.clone(), Watched { users: 1, id, exact_names });
        }
        let chain = self.chains.get_mut(&number).expect("BUG: a watch for no chain");
        chain.watched.push(known);
        true
    }

    /// Stops watching for a place.
    fn release(&mut self, number: u64) {
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
                let id = watched.id;
                self.watched.remove(directory);
                id.map(|id| self.ids.remove(&id));
                // It may be gone, and its watch with it.
                let _ = self.watcher.unwatch(directory);
            }
        }
    }

    /// Applies what waits; returns whether that was all that happened.
    fn apply(&mut self, queue: &Arc<Queue>, cache: &AttributeCache) -> bool {
        let (notices, lost) = queue.drain();
        if lost {
            self.lose(queue, cache);
        } else {
            notices.iter().for_each(|notice| self.apply_one(notice, cache));
        }
        !lost
    }

    fn apply_one(&mut self, notice: &Notice, cache: &AttributeCache) {
        let path = key(&notice.path);
        if let (Some(directory), Some(name)) = (path.parent(), notice.path.file_name()) {
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
        if !notice.content {
            let through = [&self.steps, &self.homes].map(|map| map.get(&path).cloned());
            for number in through.into_iter().flatten().flatten() {
                self.forget_place(number, cache);
            }
        }
    }

    /// Forgets a place whose way has changed.
    fn forget_place(&mut self, number: u64, cache: &AttributeCache) {
        let place = self.chains.get(&number).and_then(|chain| chain.place.upgrade());
        self.release(number);
        if let Some(place) = place {
            cache.counters.invalidations.add(1);
            let mut directory = place.change();
            directory.forget();
            directory.watch = Watch::Off;
            cache.memo.grow(directory.growth());
        }
    }

    /// Forgets everything, as nobody knows what happened, and begins anew.
    fn lose(&mut self, queue: &Arc<Queue>, cache: &AttributeCache) {
        cache.counters.lost.add(1);
        self.forget_all(cache);
        // What the old watcher still has to say is of no interest any more.
        queue.drain();
        match Self::new(queue) {
            Ok(new) => *self = new,
            // The old one is heard no longer: nothing can be watched.
            Err(_) => self.deaf = true,
        }
    }

    fn forget_all(&mut self, cache: &AttributeCache) {
        let numbers: Vec<u64> = self.chains.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.forget_place(number, cache));
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
    use notify::event::Flag;
    use transect_testkit::TempDir;

    use super::*;
    use crate::cache::{CacheOptions, Level};

    fn cache() -> AttributeCache {
        CacheOptions::new(Level::Watched).open().unwrap()
    }

    fn queue(cache: &AttributeCache) -> &Queue {
        &cache.watches.as_ref().unwrap().queue
    }

    /// Takes an event as if the system had told it.
    fn tell(cache: &AttributeCache, event: notify::Result<Event>) {
        let queue = queue(cache);
        queue.take(queue.watcher.load(Ordering::Relaxed), event);
    }

    fn rescan() -> notify::Result<Event> {
        Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))
    }

    #[test]
    fn whatever_is_lost_everything_is_asked_again() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        let losses: [&dyn Fn(); 3] = [
            &|| tell(&cache, rescan()),
            &|| tell(&cache, Err(notify::Error::generic("made up"))),
            &|| {
                for number in 0..=MOST_NOTICES {
                    let path = PathBuf::from(format!("/nowhere/{number}"));
                    tell(&cache, Ok(Event::new(EventKind::Any).add_path(path)));
                }
            },
        ];
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
        assert!(queue(&cache).lock().notices.is_empty());
    }

    #[test]
    fn what_is_lost_while_it_settles_is_said() {
        let cache = cache();
        tell(&cache, rescan());
        assert!(!cache.settle());
        assert!(cache.settle());
        assert_eq!(cache.counts().lost, 1);
    }

    #[test]
    fn a_watcher_that_was_replaced_is_not_heard() {
        let cache = cache();
        let before = queue(&cache).watcher.load(Ordering::Relaxed);
        tell(&cache, rescan());
        assert!(!cache.settle());
        let cookie = queue(&cache).cookies.join("1000000");
        queue(&cache).take(before, Ok(Event::new(EventKind::Any).add_path(cookie)));
        queue(&cache).take(before, rescan());
        assert!(queue(&cache).lock().cookie < 1000);
        assert!(cache.settle());
    }

    #[test]
    fn where_no_watcher_is_to_be_had_directories_are_checked() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, "1").unwrap();
        let cache = cache();
        cache.watches.as_ref().unwrap().lock().deaf = true;
        for content in ["12", "123"] {
            std::fs::write(&file, content).unwrap();
            assert_eq!(cache.get(&file).unwrap().size(), Some(content.len() as u64));
        }
        assert_eq!(cache.counts().unwatched, 1);
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
        let state = cache.watches.as_ref().unwrap().lock();
        assert!(state.watched.is_empty() && state.ids.is_empty() && state.chains.is_empty());
        assert!(state.steps.is_empty() && state.homes.is_empty());
    }

    #[test]
    fn the_folder_of_cookies_goes_with_the_cache() {
        let cache = cache();
        assert!(cache.settle());
        let folder = queue(&cache).cookies.clone();
        assert!(folder.exists());
        drop(cache);
        assert!(!folder.exists());
    }
}
