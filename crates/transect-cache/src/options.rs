//! The options of a cache.

use std::path::PathBuf;

use transect_sys::{FieldMask, ReaderKind, options};

use super::cost::CacheCosts;

transect_sys::words! {
    /// What a cache guarantees. `docs/CACHE.md` lists which changes each level detects.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Level {
        /// Nothing is queried twice, and changes are not seen until
        /// [`AttributeCache::clear`](super::AttributeCache::clear). For loading a project.
        Frozen = "frozen",
        /// A listing is used while its directory is unchanged, by identity and times; that is queried
        /// once in every [revalidation](super::Revalidation). Attributes are always queried. This level
        /// saves queries of missing names, and nothing else.
        #[default]
        Checked = "checked",
        /// Nothing is cached. For comparison.
        Verified = "verified",
    }
}

options! {
    /// The options of a cache. [`CacheOptions::open`] checks them.
    #[derive(Clone, Debug)]
    pub struct CacheOptions {
        /// Sets the attributes to query and cache. By default: type, mode, size, the times of the last
        /// change of content and attributes, and the file id. Every result has these fields and no
        /// others.
        want: FieldMask = FieldMask,
        /// Sets the memory limit in bytes. If it is exceeded, directories that were not used lately are
        /// evicted. No limit by default.
        memory: Option<usize> = usize,
        /// Sets the reader of directories; by default the best one available.
        reader: Option<ReaderKind> = ReaderKind,
        /// Sets the largest number of threads that one call of `get_many` uses; by default as many as the
        /// latency of the device is worth.
        threads: Option<usize> = usize,
        /// Sets the costs of queries on this system.
        costs: CacheCosts = CacheCosts,
        ;
        /// What the cache guarantees; [`Level::Checked`] by default.
        pub level: Level,
        /// Where lookups are allowed: in paths that begin with one of these and do not leave it through
        /// `..`. Everywhere by default. Links may lead out: the roots are not a security boundary.
        pub roots: Vec<PathBuf>,
        /// The directory that relative paths refer to. By default relative paths are refused, because
        /// the current directory of a process may change between two lookups.
        pub base: Option<PathBuf>,
    }
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
            reader: None,
            threads: None,
            costs: CacheCosts::default(),
        }
    }
}

impl CacheOptions {
    /// Returns the default options with a level.
    pub fn new(level: Level) -> Self {
        Self { level, ..Self::default() }
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
}
