//! Answers about single paths: from the tables of followed trees, and from the cache where these prove nothing.

use std::io;
use std::path::Path;

use transect::{FieldMask, FileType};
use transect_cache::{Level, LookupError, LookupResult};
use transect_live::{PathLookup, PathState};

use crate::CACHED_FIELDS;
use crate::protocol::{ResolvedName, path_from_bytes};
use crate::service::Service;

/// The attributes that a table has, of most entries.
const TABLE_FIELDS: FieldMask = transect_live::COLUMNS.union(FieldMask::NLINK);

/// The system's number of the error that a name does not exist.
const ENOENT: i32 = 2;

/// Returns the attributes of paths.
pub(crate) fn attributes(
    service: &Service,
    paths: &[&Path],
    want: FieldMask,
    follow: bool,
) -> Vec<LookupResult> {
    let mut answers = vec![None; paths.len()];
    look_up(service, paths, want, |lookup| {
        for (answer, path) in answers.iter_mut().zip(paths) {
            if answer.is_none() {
                *answer = result_of(lookup.get(path, want & CACHED_FIELDS, follow));
            }
        }
    });
    let is_left = |(_, answer): &(_, &Option<LookupResult>)| answer.is_none();
    let left: Vec<&Path> =
        paths.iter().copied().zip(&answers).filter(is_left).map(|(path, _)| path).collect();
    service.count_followed(paths.len() - left.len());
    let cache = service.cache();
    let mut cached =
        if follow { cache.get_many(&left) } else { cache.get_many_links(&left) }.into_iter();
    let next = |answer: Option<LookupResult>| {
        answer.or_else(|| cached.next()).expect("BUG: fewer answers than paths")
    };
    answers.into_iter().map(next).collect()
}

/// Returns whether paths exist, links followed.
pub(crate) fn exist(service: &Service, paths: &[&Path]) -> Vec<Result<bool, LookupError>> {
    let mut answers = vec![None; paths.len()];
    look_up(service, paths, FieldMask::empty(), |lookup| {
        for (answer, path) in answers.iter_mut().zip(paths) {
            if answer.is_none() {
                let result = result_of(lookup.get(path, FieldMask::empty(), true));
                *answer = result.map(|result| result.is_ok());
            }
        }
    });
    service.count_followed(answers.iter().flatten().count());
    let revalidation = service.cache().revalidation();
    let paths = paths.iter().zip(answers);
    paths.map(|(path, answer)| answer.map_or_else(|| revalidation.exists(path), Ok)).collect()
}

/// Searches directories for names, in one revalidation.
pub(crate) fn resolve(
    service: &Service,
    directories: &[&Path],
    names: &[&[u8]],
    want: FieldMask,
) -> Vec<Result<Option<ResolvedName>, LookupError>> {
    let search = match service.cache().search_dirs(directories) {
        Ok(search) => search,
        Err(error) => return vec![Err(error); names.len()],
    };
    let mut answers = vec![None; names.len()];
    look_up(service, directories, want, |lookup| {
        for (answer, name) in answers.iter_mut().zip(names) {
            if answer.is_none() {
                *answer = find(lookup, directories, path_from_bytes(name), want & CACHED_FIELDS);
            }
        }
    });
    service.count_followed(answers.iter().flatten().count());
    let revalidation = service.cache().revalidation();
    let of_cache = |name| {
        let found = revalidation.resolve(path_from_bytes(name), &search)?;
        Ok(found
            .map(|found| ResolvedName { index: found.index as u32, attributes: found.attributes }))
    };
    let names = names.iter().zip(answers);
    names.map(|(name, answer)| answer.map_or_else(|| of_cache(name), Ok)).collect()
}

/// Lets `look_up` answer from each followed tree that has one of the paths, unless the level of the cache promises something else
/// or the tables lack a wanted attribute. Each tree applies all earlier changes once.
fn look_up(
    service: &Service,
    paths: &[&Path],
    want: FieldMask,
    mut look_up: impl FnMut(&mut PathLookup<'_>),
) {
    let want = want & CACHED_FIELDS;
    let is_frozen_or_verified = matches!(service.cache().level(), Level::Frozen | Level::Verified);
    if is_frozen_or_verified || !TABLE_FIELDS.contains(want) {
        return;
    }
    for tree in service.trees.read() {
        let root = tree.root();
        if paths.iter().any(|path| path.starts_with(root)) && service.is_inside_roots(root) {
            // Whatever the reason is why it does not answer: the cache does.
            let _ = tree.look_up(!want.is_empty(), |mut lookup| look_up(&mut lookup));
        }
    }
}

/// Returns an answer of the cache; `None` if the table proves nothing.
fn result_of(state: PathState) -> Option<LookupResult> {
    match state {
        PathState::Exists(attributes) => Some(Ok(attributes)),
        PathState::Missing => Some(Err(io::Error::from_raw_os_error(ENOENT).into())),
        _ => None,
    }
}

/// Returns the first directory that contains a name which is not a directory; `None` if the table proves nothing about one
/// before it.
fn find(
    lookup: &mut PathLookup<'_>,
    directories: &[&Path],
    name: &Path,
    want: FieldMask,
) -> Option<Option<ResolvedName>> {
    if name.as_os_str().is_empty() || name.is_absolute() {
        return None;
    }
    for (index, directory) in (0..).zip(directories) {
        match lookup.get(&directory.join(name), want, true) {
            PathState::Exists(attributes) if attributes.file_type() != FileType::Directory => {
                return Some(Some(ResolvedName { index, attributes }));
            }
            PathState::Exists(_) | PathState::Missing => {}
            _ => return None,
        }
    }
    Some(None)
}
