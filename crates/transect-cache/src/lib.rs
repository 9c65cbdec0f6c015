//! Attributes of files, asked once and answered a thousand times.
//!
//! Compilers, build tools and editors ask the same file system the same questions again and again:
//! is this file newer, which of two hundred directories holds this header. An [`AttributeCache`]
//! keeps the answers, in one of four [levels](Level) that say exactly what may have changed
//! meanwhile without being seen.
//!
//! ```
//! use transect_cache::{CacheOptions, Level};
//!
//! let here = std::env::current_dir()?;
//! let cache = CacheOptions::new(Level::Frozen).base(&here).open()?;
//! let size = cache.get("Cargo.toml")?.size();
//! assert_eq!(cache.get("Cargo.toml")?.size(), size, "from memory");
//! assert!(!cache.exists("no/such/file")?);
//!
//! let dirs = cache.search_dirs(["tests", "src"])?;
//! let found = cache.resolve("lib.rs", &dirs)?.expect("this crate has one");
//! assert_eq!(found.path, here.join("src/lib.rs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a question is
//!
//! A question is a path as it is spelt. The system follows links, `..` and mount points when it is
//! asked, and nothing of that is done again here: so an answer is what the system said of that very
//! path, and a name that is asked for the first time costs one system call (two at
//! [`Level::Checked`] if its directory was listed, more at [`Level::Watched`] in a new directory).
//! Directories are known by their split, too: `a/../b` and `b`, or two links to one directory, are
//! asked for separately and may, at [`Level::Frozen`], be answered as they were at different times.
//! Only what cannot matter is the same: repeated separators, and `.` on the way.
//!
//! Refusals are answers. *Denied* is kept as denied and never turns into *missing*; a loop of links,
//! a file in the place of a directory and a name that is too long stay what they are.
//!
//! # Listings
//!
//! Where many names of one directory are asked for that it does not hold, it is listed, and the rest
//! is answered without asking. Whether that pays is decided by [prices](CacheCosts): a listing is
//! made when what was spent without one would have paid for it, so that a single question in a
//! directory of a hundred thousand names costs no more than asking the system. Where a name may have
//! several spellings (FAT, NTFS, directories of ext4 that fold case, network file systems) a listing
//! is no proof that a name is missing: there it is asked for, and the answer kept under the spelling
//! that was asked.
//!
//! # Threads
//!
//! A cache is used by reference from any number of threads. Nobody waits for a question about
//! another directory; two threads that want the same directory listed list it once.

mod batch;
mod cached_dir;
mod cost;
mod counts;
mod dir_map;
mod lookup_error;
mod name_table;
mod options;
mod order;
mod record;
mod revalidation;
mod search;
mod split_path;
mod system;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transect_sys::{Attributes, ReaderKind};

pub use cost::CacheCosts;
pub use counts::CacheCounts;
pub use lookup_error::LookupError;
pub use options::{CacheOptions, Level};
pub use order::by_directory;
pub use revalidation::Revalidation;
pub use search::{Resolved, SearchDirs};

use cached_dir::{CachedDir, WatchStatus};
use counts::Counters;
use dir_map::DirMap;
use name_table::Hasher;
use record::RecordLayout;
use split_path::{PathScope, SplitPath};
use transect::Error;
use watch::Watches;

/// What is answered to a question about attributes.
pub type LookupResult = Result<Attributes, LookupError>;

/// Answers questions about attributes from memory where it can: see the [module](self).
#[derive(Debug)]
pub struct AttributeCache {
    options: CacheOptions,
    reader: ReaderKind,
    scope: PathScope,
    layout: RecordLayout,
    hasher: Hasher,
    dirs: DirMap,
    counters: Counters,
    /// What was learnt in an earlier epoch is not known any more.
    epoch: AtomicU64,
    revalidations: AtomicU64,
    frozen: AtomicBool,
    /// At [`Level::Watched`].
    watches: Option<Watches>,
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
        let hasher = Hasher::default();
        Ok(Self {
            reader: options.reader.unwrap_or_else(ReaderKind::best),
            scope: PathScope { base: options.base.clone(), roots: options.roots.clone() },
            layout: RecordLayout::new(options.want),
            dirs: DirMap::new(hasher.clone()),
            hasher,
            counters: Counters::default(),
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

    /// Begins a pass.
    pub fn revalidation(&self) -> Revalidation<'_> {
        let level = self.level();
        // What happens while it is frozen is learnt when it is thawed.
        if level == Level::Watched
            && let Some(watches) = self.watches.as_ref().filter(|watches| watches.has_events())
        {
            watches.try_apply(self);
        }
        let epoch = self.epoch.load(Ordering::Acquire);
        // Only what is checked again goes by the number.
        let number = match level {
            Level::Frozen | Level::Verified => 0,
            Level::Checked | Level::Watched => self.revalidations.fetch_add(1, Ordering::AcqRel),
        };
        Revalidation { cache: self, level, epoch, number }
    }

    /// Returns how many passes have begun.
    fn revalidations_begun(&self) -> u64 {
        self.revalidations.load(Ordering::Acquire)
    }

    /// Returns the attributes of what a path leads to: [`Revalidation::get`] in a pass of its own.
    ///
    /// # Errors
    /// Why there are none.
    pub fn get(&self, path: impl AsRef<Path>) -> LookupResult {
        self.revalidation().get(path)
    }

    /// Returns the attributes of a path itself: [`Revalidation::get_link`] in a pass of its own.
    ///
    /// # Errors
    /// Why there are none.
    pub fn get_link(&self, path: impl AsRef<Path>) -> LookupResult {
        self.revalidation().get_link(path)
    }

    /// Returns the attributes of many paths: [`Revalidation::get_many`] in a pass of its own.
    pub fn get_many<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.revalidation().get_many(paths)
    }

    /// Returns the attributes of many paths themselves: [`Revalidation::get_many_links`] in a pass of its
    /// own.
    pub fn get_many_links<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.revalidation().get_many_links(paths)
    }

    /// Returns whether a path leads to something: [`Revalidation::exists`] in a pass of its own.
    ///
    /// # Errors
    /// Why nobody knows.
    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool, LookupError> {
        self.revalidation().exists(path)
    }

    /// Returns the first of many directories that holds a name: [`Revalidation::resolve`] in a pass of its
    /// own.
    ///
    /// # Errors
    /// A directory does not let us look, or the name is absolute or none.
    pub fn resolve(
        &self,
        name: impl AsRef<Path>,
        search: &SearchDirs,
    ) -> Result<Option<Resolved>, LookupError> {
        self.revalidation().resolve(name, search)
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
            self.dirs.for_each(|cached_dir| self.forget_unwatched(cached_dir));
        } else {
            self.begin_epoch();
        }
        self.frozen.store(true, Ordering::Release);
    }

    /// Forgets what the system tells no changes of.
    fn forget_unwatched(&self, cached_dir: &CachedDir) {
        let mut directory = cached_dir.write();
        match directory.watch {
            WatchStatus::Watched => directory.table.forget_unwatched(self.layout),
            WatchStatus::Unwatched | WatchStatus::Unavailable => directory.forget(),
        }
        self.dirs.add_memory(directory.growth());
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
        self.watches.as_ref().is_none_or(|watches| watches.settle(self))
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
        self.counters.invalidations.add(1);
        self.dirs.for_each(|cached_dir| {
            if cached_dir.path().starts_with(&whole) || cached_dir.path() == split.directory {
                let mut directory = cached_dir.write();
                directory.forget();
                self.dirs.add_memory(directory.growth());
            }
        });
        Ok(())
    }

    /// Has a directory watched, if the system tells of changes and nobody asked it for those yet.
    /// Returns whether anything came of it.
    fn watch(&self, cached_dir: &Arc<CachedDir>) -> bool {
        let Some(watches) = &self.watches else { return false };
        let unwatched = cached_dir.peek().watch == WatchStatus::Unwatched;
        if unwatched {
            watches.watch(self, cached_dir);
        }
        unwatched
    }

    fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns what was done so far.
    pub fn counts(&self) -> CacheCounts {
        let (mut directories, mut names) = (0, 0);
        self.dirs.for_each(|cached_dir| {
            directories += 1;
            names += cached_dir.peek().table.len() as u64;
        });
        let watches = self.watches.as_ref().map_or(0, |watches| watches.len() as u64);
        CacheCounts { directories, names, watches, ..self.counters.read() }
    }

    /// Returns the bytes that all that is known takes.
    pub fn memory(&self) -> usize {
        self.dirs.memory()
    }

    /// Returns the directory that a path lies in, as it is spelt.
    fn cached_dir(&self, split: &SplitPath<'_>) -> Arc<CachedDir> {
        let cached_dir = self.dirs.get_or_insert(&split.directory, split.inside_roots);
        self.enforce_memory_limit();
        cached_dir
    }

    /// Evicts directories if there is a limit and it is exceeded.
    fn enforce_memory_limit(&self) {
        if let Some(max) = self.options.memory
            && self.dirs.memory() > max
        {
            // An eighth more, so that this is not done for every name.
            let evicted = self.evict(max - max / 8);
            self.counters.evictions.add(evicted as u64);
        }
    }

    fn evict(&self, bytes: usize) -> usize {
        let evicted = self.dirs.evict(bytes);
        if let Some(watches) = &self.watches {
            watches.release(&evicted);
        }
        evicted.len()
    }
}
