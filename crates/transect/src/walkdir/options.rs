//! The options of a walk.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::entry::DirEntry;

type Compare = Box<dyn FnMut(&DirEntry, &DirEntry) -> Ordering + Send + Sync>;

/// Options of a walk in depth-first order.
pub struct WalkDir {
    pub(super) root: PathBuf,
    pub(super) min_depth: usize,
    pub(super) max_depth: usize,
    pub(super) follow_links: bool,
    pub(super) follow_root_links: bool,
    pub(super) same_file_system: bool,
    pub(super) contents_first: bool,
    pub(super) compare: Option<Compare>,
}

impl WalkDir {
    /// Describes a walk that begins with the entry `root` itself, at depth 0.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self {
            root: root.as_ref().to_owned(),
            min_depth: 0,
            max_depth: usize::MAX,
            follow_links: false,
            follow_root_links: true,
            same_file_system: false,
            contents_first: false,
            compare: None,
        }
    }

    /// Sets the depth from which on entries are returned; at most the greatest depth.
    pub fn min_depth(mut self, depth: usize) -> Self {
        self.min_depth = depth.min(self.max_depth);
        self
    }

    /// Sets the greatest depth of entries; at least the least depth.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth.max(self.min_depth);
        self
    }

    /// Sets whether entries are those that links lead to. A link to a directory above it is an error, and so
    /// is one that leads nowhere.
    pub fn follow_links(mut self, yes: bool) -> Self {
        self.follow_links = yes;
        self
    }

    /// Sets whether a root that is a link to a directory is entered; true unless set.
    pub fn follow_root_links(mut self, yes: bool) -> Self {
        self.follow_root_links = yes;
        self
    }

    /// Has no effect: at most 32 directories are open.
    pub fn max_open(self, _: usize) -> Self {
        self
    }

    /// Sets the order of the entries of one directory.
    pub fn sort_by(
        mut self,
        compare: impl FnMut(&DirEntry, &DirEntry) -> Ordering + Send + Sync + 'static,
    ) -> Self {
        self.compare = Some(Box::new(compare));
        self
    }

    /// Sets the order of the entries of one directory by a key.
    pub fn sort_by_key<K: Ord>(
        self,
        mut key: impl FnMut(&DirEntry) -> K + Send + Sync + 'static,
    ) -> Self {
        self.sort_by(move |one, other| key(one).cmp(&key(other)))
    }

    /// Sorts the entries of one directory by name.
    pub fn sort_by_file_name(self) -> Self {
        self.sort_by(|one, other| OsStr::cmp(one.file_name(), other.file_name()))
    }

    /// Sets whether a directory is returned after its entries.
    pub fn contents_first(mut self, yes: bool) -> Self {
        self.contents_first = yes;
        self
    }

    /// Sets whether directories of other file systems than the root's are returned and not entered.
    pub fn same_file_system(mut self, yes: bool) -> Self {
        self.same_file_system = yes;
        self
    }
}
