//! The attribute cache: its state, and what changes all of it at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transect::Error;
use transect_sys::ReaderKind;

use super::cached_dir::{CachedDir, WatchStatus};
use super::counts::CacheCounts;
use super::lookup_error::LookupError;
use super::options::{CacheOptions, Level};
use super::record::RecordLayout;
use super::split_path::{PathScope, SplitPath};
use super::store::Store;
use super::watch::Watches;

/// Answers questions about attributes from memory where it can: see the [crate](crate).
#[derive(Debug)]
pub struct AttributeCache {
    pub(super) options: CacheOptions,
    pub(super) reader: ReaderKind,
    pub(super) scope: PathScope,
    pub(super) store: Store,
    /// What was learnt in an earlier epoch is not known any more.
    pub(super) epoch: AtomicU64,
    pub(super) revalidations: AtomicU64,
    frozen: AtomicBool,
    /// At [`Level::Watched`].
    pub(super) watches: Option<Watches>,
}

impl AttributeCache {
    fn new(options: CacheOptions) -> Result<Self, Error> {
        let watches = match options.level {
            Level::Watched => {
                let watches = Watches::new(options.watches);
                Some(watches.map_err(|error| Error::NoNotifications(error.to_string()))?)
            }
            _ => None,
        };
        Ok(Self {
            reader: options.reader.unwrap_or_else(ReaderKind::best),
            scope: PathScope { base: options.base.clone(), roots: options.roots.clone() },
            store: Store::new(RecordLayout::new(options.want)),
            epoch: AtomicU64::new(1),
            revalidations: AtomicU64::new(0),
            frozen: AtomicBool::new(false),
            watches,
            options,
        })
    }

    /// Returns the level at which questions are answered now.
    pub fn level(&self) -> Level {
        if self.frozen.load(Ordering::Acquire) { Level::Frozen } else { self.options.level }
    }

    /// Answers at [`Level::Frozen`] from now on, until [`AttributeCache::thaw`].
    ///
    /// What was known at [`Level::Checked`] is forgotten, as it was checked for earlier questions
    /// only. What was known at [`Level::Watched`] is settled first, and stays.
    pub fn freeze(&self) {
        if self.options.level == Level::Frozen || self.level() == Level::Frozen {
            return;
        }
        if self.watches.is_some() {
            self.settle();
            self.store.dirs.for_each(|cached_dir| self.forget_unwatched(cached_dir));
        } else {
            self.begin_epoch();
        }
        self.frozen.store(true, Ordering::Release);
    }

    /// Forgets what the system tells no changes of.
    fn forget_unwatched(&self, cached_dir: &CachedDir) {
        let mut directory = cached_dir.write();
        match directory.watch {
            WatchStatus::Watched => directory.table.forget_unwatched(self.store.layout),
            WatchStatus::Unwatched | WatchStatus::Unavailable => directory.forget(),
        }
        self.store.dirs.add_memory(directory.growth());
    }

    /// At [`Level::Watched`], takes note of all changes that were made before this call, so that what
    /// is asked after it is answered as it was at the call, or later. Returns whether that was
    /// possible: if notifications were lost, all that was known is forgotten instead, and asked
    /// anew. At other levels there is nothing to do.
    ///
    /// Linux has reported a change before the call that made it returns, so this does not wait.
    /// Windows keeps a queue for each directory, and this waits for one of them: a change elsewhere
    /// may be known a moment later.
    pub fn settle(&self) -> bool {
        self.watches.as_ref().is_none_or(|watches| watches.settle(&self.store))
    }

    /// Answers at the level of the options again. Where that is [`Level::Frozen`], all is forgotten
    /// and frozen anew.
    pub fn thaw(&self) {
        let was_frozen = self.frozen.swap(false, Ordering::AcqRel);
        if self.options.level == Level::Frozen || was_frozen && self.watches.is_none() {
            self.begin_epoch();
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.begin_epoch();
        self.evict(0);
    }

    /// Forgets a path and, if it is a directory, all that is below it: in the split given, and in
    /// all that begin with it.
    ///
    /// # Errors
    /// The path is one that nothing is ever known of.
    pub fn invalidate(&self, path: impl AsRef<Path>) -> Result<(), LookupError> {
        let split = self.scope.split(path.as_ref())?;
        let whole: PathBuf = split.path.components().collect();
        self.store.counters.invalidations.add(1);
        self.store.dirs.for_each(|cached_dir| {
            if cached_dir.path().starts_with(&whole) || cached_dir.path() == split.directory {
                let mut directory = cached_dir.write();
                directory.forget();
                self.store.dirs.add_memory(directory.growth());
            }
        });
        Ok(())
    }

    /// Has a directory watched, if the system tells of changes and nobody asked it for those yet.
    /// Returns whether anything came of it.
    pub(super) fn watch(&self, cached_dir: &Arc<CachedDir>) -> bool {
        let Some(watches) = &self.watches else { return false };
        let unwatched = cached_dir.peek().watch == WatchStatus::Unwatched;
        if unwatched {
            watches.watch(&self.store, cached_dir);
        }
        unwatched
    }

    fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns what was done so far.
    pub fn counts(&self) -> CacheCounts {
        let (mut directories, mut names) = (0, 0);
        self.store.dirs.for_each(|cached_dir| {
            directories += 1;
            names += cached_dir.peek().table.len() as u64;
        });
        let watches = self.watches.as_ref().map_or(0, |watches| watches.len() as u64);
        CacheCounts { directories, names, watches, ..self.store.counters.read() }
    }

    /// Returns the bytes that all that is known takes.
    pub fn memory(&self) -> usize {
        self.store.dirs.memory()
    }

    /// Returns the directory that a path lies in, as it is spelt.
    pub(super) fn cached_dir(&self, split: &SplitPath<'_>) -> Arc<CachedDir> {
        let cached_dir = self.store.dirs.get_or_insert(&split.directory, split.inside_roots);
        self.enforce_memory_limit();
        cached_dir
    }

    /// Evicts directories if there is a limit and it is exceeded.
    pub(super) fn enforce_memory_limit(&self) {
        if let Some(max) = self.options.memory
            && self.store.dirs.memory() > max
        {
            // An eighth more, so that this is not done for every name.
            let evicted = self.evict(max - max / 8);
            self.store.counters.evictions.add(evicted as u64);
        }
    }

    fn evict(&self, bytes: usize) -> usize {
        let evicted = self.store.dirs.evict(bytes);
        if let Some(watches) = &self.watches {
            watches.release(&evicted);
        }
        evicted.len()
    }

    /// Returns how many passes have begun.
    pub(super) fn revalidations_begun(&self) -> u64 {
        self.revalidations.load(Ordering::Acquire)
    }
}

impl CacheOptions {
    /// Checks the options and returns a cache that knows nothing yet.
    ///
    /// # Errors
    /// A root or a base that is not absolute, a reader that cannot be used here, or
    /// [`Level::Watched`] where nobody tells of changes.
    pub fn open(mut self) -> Result<AttributeCache, Error> {
        if let Some(reader) = self.reader
            && let Some(why) = reader.unavailable_reason()
        {
            return Err(Error::ReaderUnavailable(reader.as_str(), why));
        }
        for path in self.roots.iter_mut().chain(&mut self.base) {
            *path = absolute(path)?;
        }
        AttributeCache::new(self)
    }
}

/// Returns a path as directories are kept under it.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    if path.is_absolute() {
        Ok(path.components().collect())
    } else {
        Err(Error::NotAbsolute(path.to_path_buf()))
    }
}
