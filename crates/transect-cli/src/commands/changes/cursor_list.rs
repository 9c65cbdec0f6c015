//! `transect changes --since CURSOR --for`: what changed in a followed tree, as a list of paths for a program that copies
//! files.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use transect::{DirEntry, FieldMask, FileType};
use transect_live::{Change, ChangeKind};
use transect_sys::file::query_attributes;

use super::list::push_for_rsync;
use crate::args::ListFor;
use transect_program::CliError;

/// What is at a path now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Gone,
    Directory,
    Other,
}

/// The paths below the root, the names ended by NULs: these sort a directory right before everything in it.
type Places = BTreeMap<Vec<u8>, Place>;

/// What changed, as a program reads it.
#[derive(Default)]
pub(super) struct CursorList {
    places: Places,
    /// Directories that cannot be read.
    pub(super) errors: Vec<transect::Error>,
}

impl CursorList {
    /// Collects what is there now at the paths of the changes.
    ///
    /// # Errors
    /// For rsync, a directory took the place of another one: what was in that is not known, so rsync could not remove it.
    pub(super) fn new(root: &Path, changes: &[Change], tool: ListFor) -> Result<Self, CliError> {
        let mut list = Self::default();
        for change in changes {
            let is_new = change.kind != ChangeKind::Modified;
            let mut left = (&change.path, list.add(root, &change.path, is_new));
            if let Some(from) = &change.from {
                left = (from, list.add(root, from, true));
            }
            let was_directory = change.from.is_some()
                || change.kind == ChangeKind::Removed && change.file_type == FileType::Directory;
            if tool == ListFor::Rsync && was_directory && left.1 == Place::Directory {
                return Err(CliError::Failed(format!(
                    "'{}' is another directory now, and the changes do not say what was in it; copy everything with `rsync -a --delete`",
                    left.0.display()
                )));
            }
        }
        Ok(list)
    }

    /// Adds a path, and everything in a directory that is new. Returns what is there.
    fn add(&mut self, root: &Path, path: &Path, is_new: bool) -> Place {
        // rsync needs the directory of what is gone; and what a link leads to is not in the tree.
        let mut above = root.to_owned();
        for name in path.strip_prefix(root).unwrap_or(path) {
            let holder = key(root, &above);
            above.push(name);
            let place = place_of(&above);
            if place != Place::Directory {
                // The directory that holds it has another time, too.
                if !holder.is_empty() && place == Place::Gone {
                    self.places.insert(holder, Place::Directory);
                }
                self.places.insert(key(root, &above), place);
                return if above == path { place } else { Place::Gone };
            }
        }
        self.places.insert(key(root, path), Place::Directory);
        if is_new {
            for entry in transect::walk(path).same_file_system(true).min_depth(1) {
                match entry {
                    Ok(entry) => {
                        let is_directory = entry.file_type() == FileType::Directory;
                        let place = if is_directory { Place::Directory } else { Place::Other };
                        self.places.insert(key(root, &entry.path()), place);
                    }
                    Err(error) => self.errors.push(error),
                }
            }
        }
        Place::Directory
    }

    /// Returns the list for a program.
    pub(super) fn text(&mut self, root: &Path, tool: ListFor) -> Vec<u8> {
        match tool {
            ListFor::Restic => self.for_restic(root),
            _ => for_rsync(&self.places),
        }
    }

    /// restic stores everything in a directory that is listed, and the attributes of those above: of a directory with entries,
    /// one of these is listed.
    fn for_restic(&mut self, root: &Path) -> Vec<u8> {
        let mut out = Vec::new();
        let there: Vec<_> =
            self.places.iter().filter(|(_, place)| **place != Place::Gone).collect();
        for (number, (key, place)) in there.iter().enumerate() {
            let mut is_directory = **place == Place::Directory;
            let next = there.get(number + 1);
            if is_directory && next.is_some_and(|(next, _)| next.starts_with(key)) || key.is_empty()
            {
                continue;
            }
            let mut path = root.join(transect_sys::name_from_bytes(path_of(key)));
            while is_directory {
                match first_in(&path) {
                    Some(Ok(entry)) => {
                        is_directory = entry.file_type() == FileType::Directory;
                        path = entry.path();
                    }
                    Some(Err(error)) => {
                        self.errors.push(error);
                        break;
                    }
                    None => break,
                }
            }
            out.extend(path_of(&self::key(root, &path)));
            out.push(0);
        }
        out
    }
}

fn place_of(path: &Path) -> Place {
    match query_attributes(path, FieldMask::empty(), false) {
        Ok(found) if found.file_type() == FileType::Directory => Place::Directory,
        Err(error) if error.kind() == ErrorKind::NotFound => Place::Gone,
        // Whatever the error is, the program that copies will report it.
        _ => Place::Other,
    }
}

fn key(root: &Path, path: &Path) -> Vec<u8> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut key = Vec::new();
    for name in below {
        key.extend_from_slice(name.as_encoded_bytes());
        key.push(0);
    }
    key
}

/// Returns the path of a key, without the NUL at the end.
fn path_of(key: &[u8]) -> Vec<u8> {
    let names = key.strip_suffix(b"\0").unwrap_or(key);
    names.iter().map(|&byte| if byte == 0 { b'/' } else { byte }).collect()
}

/// rsync removes everything in a directory that is gone or something else now.
fn for_rsync(places: &Places) -> Vec<u8> {
    let (mut out, mut without) = (Vec::new(), None::<&[u8]>);
    for (key, &place) in places {
        if without.is_some_and(|above| key.starts_with(above)) {
            continue;
        }
        without = (place != Place::Directory).then_some(key);
        let path = path_of(key);
        push_for_rsync(&mut out, if path.is_empty() { b"." } else { &path });
    }
    out
}

fn first_in(directory: &Path) -> Option<Result<DirEntry, transect::Error>> {
    transect::walk(directory).min_depth(1).max_depth(1).threads(1).into_iter().next()
}
