//! Single paths in the table of a live tree.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use transect::table::{Row, Table};
use transect::{Attributes, FieldMask, FileType};
use transect_sys::host::{effective_user_id, reliability};

use crate::mirror::Mirror;

/// The longest name of the file systems whose names are exact, and the longest path of Linux.
const MAX_NAME_BYTES: usize = 255;
const MAX_PATH_BYTES: usize = 4095;

/// What the table has for a path.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PathState {
    /// An entry with these attributes.
    Exists(Attributes),
    /// Nothing has this name.
    Missing,
    /// Only the file system has the answer: the path is not in the tree, or not as spelled; it leads through a link, a mount
    /// point, or a directory that is not watched, was not read, or may not be searched; or an attribute is not known, as
    /// that of a file with several names.
    Unknown,
}

/// Looks up paths in the table of a [`SharedTree`](crate::SharedTree).
#[derive(Debug)]
pub struct PathLookup<'t> {
    mirror: &'t Mirror,
    /// The mount points below the root: no notification reports a mount.
    mounts: Vec<PathBuf>,
    user: Option<u32>,
    /// The last directory: many paths have the same.
    last: Vec<u8>,
    place: Place,
    /// The root and the directories below it that led to the last one: the next one may be in them, too.
    chain: Vec<Row>,
    /// Whether a name that is not in it does not exist, once that was needed.
    has_exact_names: Option<bool>,
}

/// Where a directory is in the table.
#[derive(Clone, Copy, Debug)]
enum Place {
    Row(Row),
    Missing,
    Unknown,
}

impl<'t> PathLookup<'t> {
    pub(crate) fn new(mirror: &'t Mirror, mounts: &[PathBuf]) -> Self {
        let is_below = |mount: &&PathBuf| **mount != mirror.root && mount.starts_with(&mirror.root);
        let mounts = mounts.iter().filter(is_below).cloned().collect();
        let (last, place, chain) = (Vec::new(), Place::Unknown, Vec::new());
        let (user, has_exact_names) = (effective_user_id(), None);
        Self { mirror, mounts, user, last, place, chain, has_exact_names }
    }

    /// Returns what has a path, with the attributes that are wanted; with `follow`, of the target of a link.
    pub fn get(&mut self, path: &Path, want: FieldMask, follow: bool) -> PathState {
        let bytes = path.as_os_str().as_encoded_bytes();
        let is_mounted = |mount: &PathBuf| path.starts_with(mount);
        let Some(end) = bytes.iter().rposition(|&byte| byte == b'/') else {
            return PathState::Unknown;
        };
        if bytes.len() > MAX_PATH_BYTES || self.mounts.iter().any(is_mounted) {
            return PathState::Unknown;
        }
        // `.` and `..` are not names of entries, and neither is nothing after a separator.
        let is_last = |name: &&OsStr| name.as_encoded_bytes() == &bytes[end + 1..];
        let Some(name) = path.file_name().filter(is_last) else {
            return PathState::Unknown;
        };
        let directory = &bytes[..end];
        if directory != self.last || self.last.is_empty() {
            self.last.clear();
            self.last.extend_from_slice(directory);
            self.place = self.place_of(path.parent().unwrap_or(Path::new("/")));
            self.has_exact_names = None;
        }
        match self.place {
            Place::Row(row) => match self.table().child(row, name) {
                Some(entry) => self.entry(entry, want, follow),
                None if self.is_absent(path, name) => PathState::Missing,
                None => PathState::Unknown,
            },
            Place::Missing if may_be_absent(name) => PathState::Missing,
            Place::Missing | Place::Unknown => PathState::Unknown,
        }
    }

    fn table(&self) -> &'t Table {
        &self.mirror.table
    }

    fn place_of(&mut self, directory: &Path) -> Place {
        let table = self.table();
        let Ok(below) = directory.strip_prefix(&self.mirror.root) else { return Place::Unknown };
        if self.chain.is_empty() {
            let root = table.roots().next().filter(|&root| self.may_search(root));
            self.chain.extend(root);
        }
        let Some(&root) = self.chain.first() else { return Place::Unknown };
        let (mut row, mut depth) = (root, 0);
        for component in below.components() {
            let Component::Normal(name) = component else { return Place::Unknown };
            depth += 1;
            if let Some(&known) = self.chain.get(depth).filter(|&&known| table.name(known) == name)
            {
                row = known;
                continue;
            }
            self.chain.truncate(depth);
            match table.child(row, name) {
                Some(child) if self.may_search(child) => row = child,
                None if may_be_absent(name) && reliability(&table.path(row)).exact_names => {
                    return Place::Missing;
                }
                _ => return Place::Unknown,
            }
            self.chain.push(row);
        }
        Place::Row(row)
    }

    /// Returns whether a row is a directory whose entries, and whose own attributes, are known.
    fn is_followed(&self, row: Row) -> bool {
        let id = self.table().directory_id(row);
        id.is_some_and(|id| self.mirror.places.is_watched(id))
            && self.table().unread_reason(row).is_none()
    }

    /// Returns whether a directory is followed, and its mode certainly permits this process to query its entries.
    fn may_search(&self, row: Row) -> bool {
        let attributes = self.table().attributes(row);
        self.is_followed(row)
            && attributes.mode().is_some_and(|mode| {
                let is_own = self.user.is_some() && attributes.uid() == self.user;
                mode & 0o111 == 0o111 || is_own && mode & 0o100 != 0
            })
    }

    fn is_absent(&mut self, path: &Path, name: &OsStr) -> bool {
        let directory = path.parent().unwrap_or(path);
        let exact_names = || reliability(directory).exact_names;
        may_be_absent(name) && *self.has_exact_names.get_or_insert_with(exact_names)
    }

    fn entry(&self, row: Row, want: FieldMask, follow: bool) -> PathState {
        let table = self.table();
        let mut attributes = table.attributes(row);
        let is_known = match attributes.file_type() {
            FileType::Directory => self.is_followed(row),
            FileType::Symlink if follow => false,
            // A file that has several names may have been changed by one that is outside of the tree.
            _ if !want.is_empty() => match table.link_count(row) {
                Some(1) => {
                    attributes.set_nlink(1);
                    true
                }
                _ => false,
            },
            _ => true,
        };
        match is_known && attributes.known().contains(want) {
            true => PathState::Exists(attributes),
            false => PathState::Unknown,
        }
    }
}

/// Returns whether the system reports that a name does not exist, and not that it is invalid.
fn may_be_absent(name: &OsStr) -> bool {
    name.len() <= MAX_NAME_BYTES && !name.as_encoded_bytes().contains(&0)
}
