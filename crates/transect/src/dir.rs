//! A directory of a walk: a counted reference to its parent.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use transect_sys::{FileId, FileType, Volume};

use crate::filter::gitignore::IgnoreRules;
use crate::lock::lock;
use crate::path::{ends_with_separator, push_name};

/// A directory of a walk, with what the sink attached to it.
///
/// A directory stores its name and its parent; paths are built on demand. It lives until everything
/// below it has been visited.
///
/// The roots are the entries of a nameless directory, the *top*.
#[derive(Debug)]
pub struct Dir {
    parent: Option<Arc<Dir>>,
    name: Box<OsStr>,
    /// Depth of the entries in it: 0 in the top, 1 in a root.
    entry_depth: u32,
    /// The length of its path in bytes, with a separator at the end; 0 for the top.
    prefix_len: usize,
    /// The file system that holds it.
    pub(crate) volume: Volume,
    /// Its identity, if it was requested.
    pub(crate) id: Option<FileId>,
    /// The gitignore rules that apply in it, set by its first listing.
    pub(crate) ignore_rules: OnceLock<IgnoreRules>,
    /// Whether it was reached through a symbolic link.
    pub(crate) followed: bool,
    /// Entries that were listed and not found.
    missing: OnceLock<Mutex<Vec<Missing>>>,
    /// One for reading it, and one for each directory in it that is not finished.
    pending: AtomicUsize,
    /// What the sink attached.
    pub tag: Tag,
}

/// What a [`Sink`](crate::Sink) attaches to a directory when it [begins](crate::Sink::enter).
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Tag {
    /// Nothing.
    #[default]
    None,
    /// A number.
    Number(u32),
    /// Any other value.
    Value(Box<dyn Any + Send + Sync>),
}

impl Tag {
    /// Returns the number; `None` if another kind of value is attached.
    pub fn number(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the value; `None` if none of this type is attached.
    pub fn value<T: Any>(&self) -> Option<&T> {
        match self {
            Self::Value(value) => value.downcast_ref(),
            _ => None,
        }
    }
}

/// An entry that was listed and not found: its name, and its type in the listing.
pub(crate) type Missing = (Box<OsStr>, FileType);

/// The file system and identity of a directory, and whether a link leads to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirContext {
    pub(crate) volume: Volume,
    pub(crate) id: Option<FileId>,
    pub(crate) followed: bool,
}

impl Dir {
    pub(crate) fn top(tag: Tag) -> Arc<Self> {
        Self::new(None, OsString::new().into(), DirContext::default(), tag)
    }

    #[inline]
    pub(crate) fn new(
        parent: Option<Arc<Self>>,
        name: Box<OsStr>,
        context: DirContext,
        tag: Tag,
    ) -> Arc<Self> {
        let DirContext { volume, id, followed } = context;
        let (entry_depth, prefix_len) = parent.as_ref().map_or((0, 0), |parent| {
            let separator = usize::from(!ends_with_separator(name.as_encoded_bytes()));
            (parent.entry_depth + 1, parent.prefix_len + name.len() + separator)
        });
        Arc::new(Self {
            entry_depth,
            prefix_len,
            parent,
            name,
            volume,
            id,
            ignore_rules: OnceLock::new(),
            followed,
            missing: OnceLock::new(),
            pending: AtomicUsize::new(1),
            tag,
        })
    }

    /// Returns whether this is the nameless directory that holds the roots.
    pub fn is_top(&self) -> bool {
        self.parent.is_none()
    }

    /// Returns the directory above; `None` for the top.
    pub fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    /// Returns the name; for a root, the path as given.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the number of steps below the root; `None` for the top.
    pub fn depth(&self) -> Option<u32> {
        self.entry_depth.checked_sub(1)
    }

    /// Returns the depth of the entries in this directory: 0 in the top, 1 in a root.
    pub fn entry_depth(&self) -> u32 {
        self.entry_depth
    }

    /// Iterates over this directory and those above it, without the top.
    pub fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |dir| dir.parent.as_deref()).filter(|dir| !dir.is_top())
    }

    /// Returns the directory that a link in this one leads back to: this one, or one above it.
    pub(crate) fn loop_ancestor(&self, target: Option<FileId>) -> Option<&Self> {
        self.ancestors().find(|dir| dir.id.is_some() && dir.id == target)
    }

    /// Returns the path: the root as given, then the names below it.
    pub fn path(&self) -> PathBuf {
        let mut path = OsString::new();
        self.write_path(&mut path, 0);
        PathBuf::from(path)
    }

    /// Returns the path of an entry of this directory.
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        let mut path = OsString::new();
        self.write_path(&mut path, name.len());
        push_name(&mut path, name);
        PathBuf::from(path)
    }

    /// Appends the path and a separator: the prefix of the paths of all entries. Appends nothing
    /// for the top.
    ///
    /// Writes from the end backwards, as the ancestors come, so that no list of them is needed.
    pub(crate) fn write_prefix(&self, out: &mut Vec<u8>) {
        let mut end = out.len() + self.prefix_len;
        out.resize(end, std::path::MAIN_SEPARATOR as u8);
        for dir in self.ancestors() {
            let start = end - dir.own_prefix_len();
            let name = dir.name.as_encoded_bytes();
            out[start..start + name.len()].copy_from_slice(name);
            end = start;
        }
    }

    /// Returns the length of the name and of a separator behind it, unless it ends with one, as roots may.
    fn own_prefix_len(&self) -> usize {
        let above = self.parent.as_ref().map_or(0, |parent| parent.prefix_len);
        self.prefix_len - above
    }

    /// Replaces `path` by the path below the root: empty for the root itself.
    pub(crate) fn write_relative(&self, path: &mut PathBuf) {
        let mut names: Vec<&OsStr> = self.ancestors().map(Self::name).collect();
        names.pop(); // the root itself
        path.clear();
        path.extend(names.into_iter().rev());
    }

    /// Returns the length in bytes of the path below the root, with a separator after every name.
    pub(crate) fn relative_prefix_len(&self) -> usize {
        let root = self.ancestors().last().map_or(0, |root| root.prefix_len);
        self.prefix_len - root
    }

    /// Appends the path, and reserves `room` bytes for what follows it.
    fn write_path(&self, path: &mut OsString, room: usize) {
        let mut names: Vec<&OsStr> = Vec::with_capacity(self.entry_depth as usize);
        names.extend(self.ancestors().map(Self::name));
        path.reserve(room + names.iter().map(|name| name.len() + 1).sum::<usize>());
        names.into_iter().rev().for_each(|name| push_name(path, name));
    }

    /// Records an entry that was listed and not found.
    pub(crate) fn note_missing(&self, name: &OsStr, file_type: FileType) {
        let missing = self.missing.get_or_init(Mutex::default);
        lock(missing).push((name.into(), file_type));
    }

    /// Removes and returns the entries that were not found.
    pub(crate) fn take_missing(&self) -> Vec<Missing> {
        let Some(missing) = self.missing.get() else { return Vec::new() };
        std::mem::take(&mut *lock(missing))
    }

    /// Adds directories in this one that are not finished.
    pub(crate) fn add_pending(&self, directories: usize) {
        self.pending.fetch_add(directories, Ordering::Relaxed);
    }

    /// Replaces the part of the caller, which read this directory, by one for each directory in it that is not
    /// finished: at least one. Until these are passed on, the caller has the only part, so this is a plain write.
    pub(crate) fn hand_over(&self, directories: usize) {
        debug_assert!(directories > 0 && self.pending.load(Ordering::Relaxed) == 1);
        self.pending.store(directories, Ordering::Relaxed);
    }

    /// Finishes one part of the work, and returns whether it was the last one.
    ///
    /// Release and acquire: the thread that finishes the last part sees the values that all others
    /// attached.
    pub(crate) fn release_pending(&self) -> bool {
        self.pending.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Releases the ancestors in a loop: dropping each parent inside its child would overflow the stack
/// at ten thousand levels.
impl Drop for Dir {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(parent) = next.and_then(Arc::into_inner) {
            let mut parent = parent;
            next = parent.parent.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::strip_prefix_bytes;

    fn child(parent: &Arc<Dir>, name: &str) -> Arc<Dir> {
        let name = OsString::from(name).into();
        Dir::new(Some(Arc::clone(parent)), name, DirContext::default(), Tag::None)
    }

    #[test]
    #[cfg(windows)]
    fn paths_windows_root_kept_as_given() {
        let top = Dir::top(Tag::None);
        for (root, expected) in
            [("C:", r"C:a\b"), (r"C:\", r"C:\a\b"), ("C:/", r"C:/a\b"), (r"\\s\x", r"\\s\x\a\b")]
        {
            let dir = child(&child(&top, root), "a");
            assert_eq!(dir.path_of(OsStr::new("b")).as_os_str(), expected);
        }
    }

    #[test]
    #[cfg(unix)]
    fn paths_unix_root_kept_as_given() {
        let top = Dir::top(Tag::None);
        for (root, expected) in [("/", "/a/b"), (".", "./a/b"), ("x/", "x/a/b"), ("x", "x/a/b")] {
            let root = child(&top, root);
            let dir = child(&root, "a");
            assert_eq!(dir.path_of(OsStr::new("b")), PathBuf::from(expected));
            let mut prefix = b"kept:".to_vec();
            dir.write_prefix(&mut prefix);
            assert_eq!(prefix, format!("kept:{}", &expected[..expected.len() - 1]).as_bytes());
        }
        assert_eq!(top.path_of(OsStr::new("x")), PathBuf::from("x"));
        assert_eq!(top.depth(), None);
        assert_eq!(child(&top, "x").depth(), Some(0));
    }

    #[test]
    fn strip_prefix_bytes_starts_after_directory() {
        let top = Dir::top(Tag::None);
        let root = child(&top, "some/root");
        let dir = child(&child(&root, "one"), "four");
        assert_eq!((root.relative_prefix_len(), dir.relative_prefix_len()), (0, 9));
        let path: PathBuf = ["one", "four", "x", "y"].iter().collect();
        let expected: PathBuf = ["x", "y"].iter().collect();
        assert_eq!(strip_prefix_bytes(&path, dir.relative_prefix_len()), expected);
        assert_eq!(strip_prefix_bytes(&path, root.relative_prefix_len()), path);
    }

    #[test]
    fn drop_million_levels_no_stack_overflow() {
        let mut dir = Dir::top(Tag::None);
        for _ in 0..1_000_000 {
            dir = child(&dir, "d");
        }
        drop(dir);
    }
}
