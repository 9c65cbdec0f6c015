//! The options of a cache.

use std::path::PathBuf;

use transect_sys::{FieldMask, ReaderKind};

use super::cost::CacheCosts;

transect_sys::words! {
    /// What a cache guarantees. `docs/CACHE.md` lists which changes each level detects.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Level {
        /// Nothing is queried twice, and changes are not seen until
        /// [`AttributeCache::thaw`](super::AttributeCache::thaw). For loading a project.
        Frozen = "frozen",
        /// A listing is used while its directory is unchanged, by identity and times; that is queried
        /// once in every [revalidation](super::Revalidation). Attributes are always queried. This level
        /// saves queries of missing names, and nothing else.
        #[default]
        Checked = "checked",
        /// Like [`Level::Frozen`], but the system reports changes. Changes made before a call of
        /// [`AttributeCache::settle`](super::AttributeCache::settle) are seen after it. On Windows this
        /// level creates a directory in [`std::env::temp_dir`] that lives as long as the cache.
        Watched = "watched",
        /// Nothing is cached. For comparison.
        Verified = "verified",
    }
}

/// The options of a cache: plain fields with documented defaults. [`CacheOptions::open`] checks
/// them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheOptions {
    /// What the cache guarantees; [`Level::Checked`] by default.
    pub level: Level,
    /// The attributes to query and cache. By default: type, mode, size, the times of the last
    /// change of content and attributes, and the file id. Every result has these fields and no
    /// others.
    pub want: FieldMask,
    /// Where lookups are allowed: in paths that begin with one of these and do not leave it through
    /// `..`. Everywhere by default. Links may lead out: the roots are not a security boundary.
    pub roots: Vec<PathBuf>,
    /// The directory that relative paths refer to. By default relative paths are refused, because
    /// the current directory of a process may change between two lookups.
    pub base: Option<PathBuf>,
    /// The memory limit in bytes. If it is exceeded, directories that were not used lately are
    /// evicted. No limit by default.
    pub memory: Option<usize>,
    /// The largest number of directories to watch; by default what the system allows.
    pub watches: Option<usize>,
    /// The reader of directories; by default the best one available.
    pub reader: Option<ReaderKind>,
    /// The costs of queries on this system.
    pub costs: CacheCosts,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            level: Level::default(),
            want: FieldMask::MODE
                | FieldMask::SIZE
                | FieldMask::MTIME
                | FieldMask::CTIME
                | FieldMask::FILE_ID,
            roots: Vec::new(),
            base: None,
            memory: None,
            watches: None,
            reader: None,
            costs: CacheCosts::default(),
        }
    }
}

impl CacheOptions {
    /// Returns the default options with a level.
    pub fn new(level: Level) -> Self {
        Self { level, ..Self::default() }
    }

    /// Sets the attributes to query and cache.
    pub fn want(mut self, want: FieldMask) -> Self {
        self.want = want;
        self
    }

    /// Adds a directory below which the cache answers. Without one, it answers for all paths.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Sets the directory that relative paths refer to.
    pub fn base(mut self, base: impl Into<PathBuf>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Sets the memory limit in bytes.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the largest number of directories to watch.
    pub fn watches(mut self, directories: usize) -> Self {
        self.watches = Some(directories);
        self
    }

    /// Sets the reader of directories.
    pub fn reader(mut self, reader: ReaderKind) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Sets the costs of queries.
    pub fn costs(mut self, costs: CacheCosts) -> Self {
        self.costs = costs;
        self
    }
}
