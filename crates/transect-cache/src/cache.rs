//! The attribute cache: its state, and the operations that affect all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transect::Error;
use transect_sys::ReaderKind;

use super::cached_dir::CachedDir;
use super::counts::CacheCounts;
use super::lookup_error::LookupError;
use super::options::{CacheOptions, Level};
use super::record::RecordLayout;
use super::split_path::{PathScope, SplitPath};
use super::store::Store;

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
}

impl AttributeCache {
    /// Returns the current level: that of the options, or [`Level::Frozen`] while frozen.
    pub fn level(&self) -> Level {
        if self.frozen.load(Ordering::Acquire) { Level::Frozen } else { self.options.level }
    }

    /// Switches to [`Level::Frozen`] until [`AttributeCache::thaw`]; a cache of that level stays as it is.
    ///
    /// Entries of [`Level::Checked`] are dropped, because they were checked for earlier lookups
    /// only.
    pub fn freeze(&self) {
        if self.options.level == Level::Frozen || self.level() == Level::Frozen {
            return;
        }
        self.begin_epoch();
        self.frozen.store(true, Ordering::Release);
    }

    /// Ends what [`AttributeCache::freeze`] began. Does nothing at [`Level::Frozen`], where every pass may be put between
    /// both: there, [`AttributeCache::clear`] makes changes seen.
    pub fn thaw(&self) {
        if self.frozen.swap(false, Ordering::AcqRel) {
            self.begin_epoch();
        }
    }

    /// Drops all cached directories.
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
        CacheCounts { directories, names, ..self.store.counters.read() }
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
        self.store.dirs.evict(bytes)
    }

    pub(super) fn revalidations_begun(&self) -> u64 {
        self.revalidations.load(Ordering::Acquire)
    }
}

impl CacheOptions {
    /// Checks the options and returns an empty cache.
    ///
    /// # Errors
    /// A root or a base that is not absolute, or a reader that is not available here.
    pub fn open(mut self) -> Result<AttributeCache, Error> {
        if let Some(reader) = self.reader
            && let Some(why) = reader.unavailable_reason()
        {
            return Err(Error::ReaderUnavailable(reader.as_str(), why));
        }
        for path in self.roots.iter_mut().chain(&mut self.base) {
            *path = absolute(path)?;
        }
        Ok(AttributeCache {
            reader: self.reader.unwrap_or_else(ReaderKind::best),
            scope: PathScope { base: self.base.clone(), roots: self.roots.clone() },
            store: Store::new(RecordLayout::new(self.want)),
            epoch: AtomicU64::new(1),
            revalidations: AtomicU64::new(0),
            frozen: AtomicBool::new(false),
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
