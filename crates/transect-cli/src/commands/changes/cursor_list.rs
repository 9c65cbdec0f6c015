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

/// Returns the list for a program. The changes only name what to look at: what is there now is listed.
///
/// # Errors
/// A directory cannot be read; for rsync, a directory took the place of another one: what was in that is not known, so rsync
/// could not remove it.
pub(super) fn list(root: &Path, changes: &[Change], tool: ListFor) -> Result<Vec<u8>, CliError> {
    let mut places = Places::new();
    for change in changes {
        let is_new = change.kind != ChangeKind::Modified;
        let place = add(&mut places, root, &change.path, is_new)?;
        let (left, now) = match &change.from {
            Some(from) => (from, add(&mut places, root, from, true)?),
            None => (&change.path, place),
        };
        let was_directory = change.from.is_some()
            || change.kind == ChangeKind::Removed && change.file_type == FileType::Directory;
        if tool == ListFor::Rsync && was_directory && now == Place::Directory {
            return Err(CliError::Failed(format!(
                "'{}' is another directory now, and the changes do not say what was in it; copy everything with `rsync -a --delete`",
                left.display()
            )));
        }
    }
    match tool {
        ListFor::Restic => for_restic(root, &places),
        _ => Ok(for_rsync(&places)),
    }
}

/// Adds a path, and everything in a directory that is new. Returns what is there.
fn add(places: &mut Places, root: &Path, path: &Path, is_new: bool) -> Result<Place, CliError> {
    let place = place_of(path);
    if place == Place::Gone {
        // rsync needs the directory of what is gone.
        let mut gone = path;
        while let Some(above) = gone.parent().filter(|it| it.starts_with(root) && *it != root)
            && place_of(above) != Place::Directory
        {
            gone = above;
        }
        places.insert(key(root, gone), place_of(gone));
        return Ok(place);
    }
    places.insert(key(root, path), place);
    if place == Place::Directory && is_new {
        for entry in transect::walk(path).same_file_system(true).min_depth(1) {
            let entry = entry?;
            let is_directory = entry.file_type() == FileType::Directory;
            let place = if is_directory { Place::Directory } else { Place::Other };
            places.insert(key(root, &entry.path()), place);
        }
    }
    Ok(place)
}

fn place_of(path: &Path) -> Place {
    match query_attributes(path, FieldMask::empty(), false) {
        Ok(found) if found.file_type() == FileType::Directory => Place::Directory,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Place::Gone
        }
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

/// rsync removes everything in a directory that is gone or something else now, and takes the root for all files in it.
fn for_rsync(places: &Places) -> Vec<u8> {
    let (mut out, mut without) = (Vec::new(), None::<&[u8]>);
    for (key, &place) in places.iter().filter(|(key, _)| !key.is_empty()) {
        if without.is_some_and(|above| key.starts_with(above)) {
            continue;
        }
        without = (place != Place::Directory).then_some(key);
        push_for_rsync(&mut out, &path_of(key));
    }
    out
}

/// restic stores everything in a directory that is listed, and the attributes of those above: of a directory with entries, one
/// of these is listed.
fn for_restic(root: &Path, places: &Places) -> Result<Vec<u8>, CliError> {
    let mut out = Vec::new();
    let there: Vec<_> = places.iter().filter(|(_, place)| **place != Place::Gone).collect();
    for (number, (key, place)) in there.iter().enumerate() {
        let next = there.get(number + 1);
        if next.is_some_and(|(next, _)| next.starts_with(key)) || key.is_empty() {
            continue;
        }
        let mut path = root.join(transect_sys::name_from_bytes(path_of(key)));
        let mut is_directory = **place == Place::Directory;
        while is_directory && let Some(entry) = first_in(&path)? {
            is_directory = entry.file_type() == FileType::Directory;
            path = entry.path();
        }
        out.extend(path_of(&self::key(root, &path)));
        out.push(0);
    }
    Ok(out)
}

fn first_in(directory: &Path) -> Result<Option<DirEntry>, CliError> {
    let mut entries = transect::walk(directory).min_depth(1).max_depth(1).threads(1).into_iter();
    Ok(entries.next().transpose()?)
}
