//! The content of a directory, to compare with an earlier state.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An entry, with everything that a transform must preserve or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) content: Content,
    mode: u32,
    /// The extended attribute `user.note`.
    note: Option<Vec<u8>>,
    /// The first path of the same file in this folder.
    same_as: PathBuf,
    /// Distinguishes an untouched file from a new one with the same content.
    state: (u64, i64, i64),
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Directory,
    File(Vec<u8>),
    Other,
}

impl Node {
    /// Returns whether it is the same file, untouched.
    pub(crate) fn is_untouched(&self, before: &Self) -> bool {
        match self.content {
            Content::Directory => before.content == Content::Directory,
            // `same_as` is ignored: further names are replaced one after the other.
            _ => {
                self.content == before.content
                    && self.mode == before.mode
                    && self.note == before.note
                    && self.state == before.state
            }
        }
    }

    /// Returns whether it equals the result of a run without faults.
    pub(crate) fn is_like(&self, wanted: &Self) -> bool {
        match self.content {
            Content::Directory => wanted.content == Content::Directory,
            _ => {
                (&self.content, self.mode, &self.note)
                    == (&wanted.content, wanted.mode, &wanted.note)
            }
        }
    }

    /// Returns whether it is the same file, with any content.
    pub(crate) fn is_same_file(&self, before: &Self) -> bool {
        self.state.0 == before.state.0
    }

    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

/// All entries of a folder by their paths in it.
pub(crate) type Snapshot = BTreeMap<PathBuf, Node>;

pub(crate) fn snapshot(folder: &Path) -> Snapshot {
    let mut found = BTreeMap::new();
    let mut first = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let is = path.symlink_metadata().unwrap();
            let content = if is.is_dir() {
                pending.push(path.clone());
                Content::Directory
            } else if is.is_file() {
                Content::File(std::fs::read(&path).unwrap())
            } else {
                Content::Other
            };
            let mut value = [0; 64];
            let note = rustix::fs::lgetxattr(&path, "user.note", &mut value).ok();
            let inside = path.strip_prefix(folder).unwrap().to_owned();
            let same_as = first.entry(is.ino()).or_insert_with(|| inside.clone()).clone();
            let node = Node {
                content,
                mode: is.mode() & 0o7777,
                note: note.map(|length| value[..length].to_vec()),
                same_as,
                state: (is.ino(), is.mtime(), is.mtime_nsec()),
            };
            found.insert(inside, node);
        }
    }
    found
}
