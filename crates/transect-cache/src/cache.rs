//! The attribute cache: its state, and the operations that affect all of it.

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

/// A cache of file attributes: see [the crate](crate).
#[derive(Debug)]
pub struct AttributeCache {
    pub(super) options: CacheOptions,
    pub(super) reader: ReaderKind,
    pub(super) scope: PathScope,
    pub(super) store: Store,
    /// The current epoch. Entries of an earlier epoch are invalid.
    pub(super) epoch: AtomicU64,
    /// The number of revalidations begun so far.
    pub(super) revalidations: AtomicU64,
    frozen: AtomicBool,
    /// `Some` at [`Level::Watched`].
    pub(super) watches: Option<Watches>,
}

impl AttributeCache {
    /// Returns the current level: that of the options, or [`Level::Frozen`] while frozen.
    pub fn level(&self) -> Level {
        if self.frozen.load(Ordering::Acquire) { Level::Frozen } else { self.options.level }
    }

    /// Switches to [`Level::Frozen`] until [`AttributeCache::thaw`]; a cache of that level stays as it is.
    ///
    /// Entries of [`Level::Checked`] are dropped, because they were checked for earlier lookups
    /// only. Entries of [`Level::Watched`] are settled first, and kept.
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

    /// Drops entries whose changes no notification reports.
    fn forget_unwatched(&self, cached_dir: &CachedDir) {
        let mut directory = cached_dir.write();
        match directory.watch {
            WatchStatus::Watched => directory.table.forget_unwatched(self.store.layout),
            WatchStatus::Unwatched | WatchStatus::Unavailable => directory.forget(),
        }
        self.store.dirs.add_memory(directory.growth());
    }

    /// At [`Level::Watched`], applies all changes made before this call, so that later lookups are
    /// answered as of this call or later. Returns false if notifications were lost: then everything
    /// is dropped instead and queried anew. Does nothing at other levels, and returns true.
    ///
    /// Linux reports a change before the call that made it returns, so this does not wait. Windows
    /// keeps a queue for each directory, and this waits for the notifications of two files that it
    /// creates one after the other. By then, those of earlier changes have arrived, if the system
    /// keeps the order in which reads complete: tests do not rely on that.
    pub fn settle(&self) -> bool {
        self.watches.as_ref().is_none_or(|watches| watches.settle(&self.store))
    }

    /// Ends what [`AttributeCache::freeze`] began. Does nothing at [`Level::Frozen`], where every pass may be put between
    /// both: there, [`AttributeCache::clear`] makes changes seen.
    pub fn thaw(&self) {
        if !self.frozen.swap(false, Ordering::AcqRel) {
            return;
        }
        if self.watches.is_none() {
            self.begin_epoch();
        } else {
            self.store.dirs.for_each(|cached_dir| self.forget_unwatched(cached_dir));
        }
    }

    /// Drops all cached directories, and ends their watches.
    pub fn clear(&self) {
        self.begin_epoch();
        self.evict(0);
    }

    /// Drops a path and, if it is a directory, everything below it. Only entries whose path begins
    /// with this path as written are dropped.
    ///
    /// # Errors
    /// The path can never be in the cache: it is outside the roots, relative without a base, empty,
    /// or contains a NUL.
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

    /// Watches a directory in which `wanted` names are about to be queried, if the level requires
    /// it, it was not tried yet, and it pays. Returns whether it was tried now.
    pub(super) fn watch(&self, cached_dir: &Arc<CachedDir>, wanted: usize) -> bool {
        let Some(watches) = &self.watches else { return false };
        let lookups = {
            let mut directory = cached_dir.write();
            if directory.watch != WatchStatus::Unwatched {
                return false;
            }
            let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
            directory.unwatched_lookups = directory.unwatched_lookups.saturating_add(wanted);
            u64::from(directory.unwatched_lookups)
        };
        let queries = self.store.counters.queries.get() + wanted as u64;
        let pays = self.options.costs.should_watch(lookups, queries);
        if pays {
            watches.watch(&self.store, cached_dir);
        }
        pays
    }

    fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns what the cache has done so far, and what it holds now.
    pub fn counts(&self) -> CacheCounts {
        let (mut directories, mut names) = (0, 0);
        self.store.dirs.for_each(|cached_dir| {
            directories += 1;
            names += cached_dir.peek().table.len() as u64;
        });
        let watches = self.watches.as_ref().map_or(0, |watches| watches.len() as u64);
        CacheCounts { directories, names, watches, ..self.store.counters.read() }
    }

    /// Returns the size of all entries in bytes.
    pub fn memory(&self) -> usize {
        self.store.dirs.memory()
    }

    /// Returns the directory of a path, new or not.
    pub(super) fn cached_dir(&self, split: &SplitPath<'_>) -> Arc<CachedDir> {
        let cached_dir = self.store.dirs.get_or_insert(&split.directory, split.inside_roots);
        self.enforce_memory_limit();
        cached_dir
    }

    pub(super) fn enforce_memory_limit(&self) {
        if let Some(max) = self.options.memory
            && self.store.dirs.memory() > max
        {
            // An eighth more than necessary, so that not every new name evicts.
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

    pub(super) fn revalidations_begun(&self) -> u64 {
        self.revalidations.load(Ordering::Acquire)
    }
}

impl CacheOptions {
    /// Checks the options and returns an empty cache.
    ///
    /// # Errors
    /// A root or a base that is not absolute, a reader that is not available here, or
    /// [`Level::Watched`] on a system without change notifications.
    pub fn open(mut self) -> Result<AttributeCache, Error> {
        if let Some(reader) = self.reader
            && let Some(why) = reader.unavailable_reason()
        {
            return Err(Error::ReaderUnavailable(reader.as_str(), why));
        }
        for path in self.roots.iter_mut().chain(&mut self.base) {
            *path = absolute(path)?;
        }
        let watches = (self.level == Level::Watched).then(|| Watches::new(self.watches));
        let watches =
            watches.transpose().map_err(|error| Error::NoNotifications(error.to_string()))?;
        Ok(AttributeCache {
            reader: self.reader.unwrap_or_else(ReaderKind::best),
            scope: PathScope { base: self.base.clone(), roots: self.roots.clone() },
            store: Store::new(RecordLayout::new(self.want)),
            epoch: AtomicU64::new(1),
            revalidations: AtomicU64::new(0),
            frozen: AtomicBool::new(false),
            watches,
            options: self,
        })
    }
}

/// Returns a path in the form that keys have.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    if path.is_absolute() {
        Ok(path.components().collect())
    } else {
        Err(Error::NotAbsolute(path.to_path_buf()))
    }
}
