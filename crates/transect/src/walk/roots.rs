//! The roots, and which of them lie inside others.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use transect_sys::FileId;

/// The roots as directory entries: the directory that holds each, and its name there. A walk checks
/// them to count a root once that it also reaches from another root.
#[derive(Debug, Default)]
pub(super) struct RootEntries {
    names: HashSet<OsString>,
    entries: HashSet<(FileId, OsString)>,
    /// For each root, whether an earlier one is the same entry.
    repeated: Vec<bool>,
}

impl RootEntries {
    /// Looks up the roots; `identity` returns the id of the directory at a path. A single root
    /// needs no lookup, nor do roots that are read `apart`.
    pub(super) fn new(
        roots: &[PathBuf],
        apart: bool,
        mut identity: impl FnMut(&Path) -> Option<FileId>,
    ) -> Self {
        let mut this = Self { repeated: vec![false; roots.len()], ..Self::default() };
        if apart || roots.len() < 2 {
            return this;
        }
        for (index, root) in roots.iter().enumerate() {
            if let Some((parent, name)) = parent_and_name(root)
                && let Some(parent) = identity(&parent)
            {
                this.names.insert(name.clone());
                this.repeated[index] = !this.entries.insert((parent, name));
            }
        }
        this
    }

    /// Returns whether an earlier root is the same entry.
    pub(super) fn is_repeated(&self, index: usize) -> bool {
        self.repeated[index]
    }

    pub(super) fn distinct(&self) -> usize {
        self.repeated.iter().filter(|&&repeated| !repeated).count()
    }

    /// Returns whether there is more than one root, so that one may lie inside another.
    #[inline]
    pub(super) fn has_several(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns whether a root has this name.
    pub(super) fn may_contain(&self, name: &OsStr) -> bool {
        self.names.contains(name)
    }

    /// Returns whether this entry of this directory is a root.
    pub(super) fn contains_entry(&self, parent: Option<FileId>, name: &OsStr) -> bool {
        parent.is_some_and(|parent| self.entries.contains(&(parent, name.to_owned())))
    }
}

/// Returns the directory that holds a root, and the name of the root in it. A link is itself the
/// root, not its target. `/` lies in itself.
fn parent_and_name(root: &Path) -> Option<(PathBuf, OsString)> {
    let path = match (root.parent(), root.file_name()) {
        (Some(parent), Some(name)) if !resolves_link(root) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            parent.canonicalize().ok()?.join(name)
        }
        _ => root.canonicalize().ok()?,
    };
    let name = transect_sys::host::stored_name(&path).unwrap_or_else(|| OsString::from("/"));
    Some((path.parent().unwrap_or(&path).to_owned(), name))
}

/// Returns whether a path resolves a link at its end: `link/` and `link/.`.
fn resolves_link(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    bytes.last().is_some_and(|&byte| std::path::is_separator(byte.into()))
}
