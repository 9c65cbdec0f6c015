//! What a cache is to be like.

use std::path::PathBuf;

use transect_sys::{FieldMask, ReaderKind};

use super::cost::CacheCosts;

/// What a cache promises of its answers. `docs/CACHE.md` says in a table what each catches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing is asked twice, and what changes meanwhile is not seen:
    /// [`AttributeCache::thaw`] ends that. For the load of a project.
    Frozen,
    /// A listing is believed while its directory is the same, unchanged by its times, which is asked
    /// once in every [pass](super::Revalidation). Attributes are always asked for. So it saves questions
    /// about names that are not there, and nothing else.
    #[default]
    Checked,
    /// As [`Level::Frozen`], but the system tells of changes. What happened before a call of
    /// [`AttributeCache::settle`] is seen after it. On Windows it makes a folder of its own in
    /// [`std::env::temp_dir`], for the time that the cache lives.
    Watched,
    /// Nothing is kept. For comparison.
    Verified,
}

impl Level {
    /// All levels.
    pub const ALL: &'static [Self] = &[Self::Frozen, Self::Checked, Self::Watched, Self::Verified];

    /// Returns the name, as users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frozen => "frozen",
            Self::Checked => "checked",
            Self::Watched => "watched",
            Self::Verified => "verified",
        }
    }
}

/// What a cache is to be like: plain fields, each with the documented default.
/// [`CacheOptions::open`] checks them.
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// What is promised of answers; by default [`Level::Checked`].
    pub level: Level,
    /// The attributes that are asked for and kept; by default type, mode, size, the times of the
    /// last change of content and attributes, and what identifies a file. All questions are
    /// answered with these and no others.
    pub want: FieldMask,
    /// What is answered for: paths that begin with one of these and do not lead out of it by `..`.
    /// By default everything. Links may lead out, as they do for the system: this is no fence.
    pub roots: Vec<PathBuf>,
    /// What relative paths are relative to. By default they are refused: what a process calls its
    /// current directory may change between two questions.
    pub base: Option<PathBuf>,
    /// The most bytes to take; when it is more, whole directories are forgotten that nobody asked
    /// about lately. By default there is no limit.
    pub memory: Option<usize>,
    /// The most directories to watch; by default what the system allows.
    pub watches: Option<usize>,
    /// How directories are read; by default the best reader that can be used here.
    pub reader: Option<ReaderKind>,
    /// What questions to the system cost here.
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
    /// Returns the default options at a level.
    pub fn new(level: Level) -> Self {
        Self { level, ..Self::default() }
    }

    /// Chooses the attributes.
    pub fn want(mut self, want: FieldMask) -> Self {
        self.want = want;
        self
    }

    /// Answers for this and what is below it, and for other roots already given.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Chooses what relative paths are relative to.
    pub fn base(mut self, base: impl Into<PathBuf>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Limits the memory.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Limits the directories that are watched.
    pub fn watches(mut self, directories: usize) -> Self {
        self.watches = Some(directories);
        self
    }

    /// Chooses the reader.
    pub fn reader(mut self, reader: ReaderKind) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Says what questions to the system cost.
    pub fn costs(mut self, costs: CacheCosts) -> Self {
        self.costs = costs;
        self
    }
}
