//! Finds the first of many directories that contains a name: include paths, library paths, module
//! paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect_sys::{Attributes, FileType};

use super::cached_dir::CachedDir;
use super::lookup::LookupKind;
use super::lookup_error::LookupError;
use super::name_table::{HashedName, Lookup};
use super::options::Level;
use super::revalidation::Revalidation;
use super::split_path::{key, split};
use super::{AttributeCache, LookupResult};

/// Directories to search, in this order. Made by [`AttributeCache::search_dirs`] once for many
/// names.
#[derive(Clone, Debug)]
pub struct SearchDirs {
    dirs: Vec<(PathBuf, Arc<CachedDir>)>,
}

/// Where a name was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resolved {
    /// The index of the directory that contains it.
    pub index: usize,
    /// The directory as it was given, joined with the name.
    pub path: PathBuf,
    /// The attributes of that path, links followed.
    pub attributes: Attributes,
}

impl AttributeCache {
    /// Prepares directories to be searched by this cache.
    ///
    /// # Errors
    /// A directory is outside the roots, or relative without a base.
    pub fn search_dirs<P: AsRef<Path>>(
        &self,
        dirs: impl IntoIterator<Item = P>,
    ) -> Result<SearchDirs, LookupError> {
        let cached_dir = |dir: P| -> Result<_, LookupError> {
            let dir = dir.as_ref();
            // Many searches begin in the same directories.
            if dir.is_absolute()
                && let Some(known) = self.store.dirs.get(key(dir)).filter(|dir| dir.inside_roots)
            {
                return Ok((dir.to_owned(), known));
            }
            // The separator at the end makes it the directory itself, not an entry of its parent.
            let dir = dir.join("");
            let split = self.scope.split(&dir)?;
            let cached_dir = self.cached_dir(&split);
            Ok((split.path.into_owned(), cached_dir))
        };
        Ok(SearchDirs { dirs: dirs.into_iter().map(cached_dir).collect::<Result<_, _>>()? })
    }

    /// Returns the first of many directories that contains a name: [`Revalidation::resolve`] in a
    /// revalidation of its own.
    ///
    /// # Errors
    /// See [`Revalidation::resolve`].
    pub fn resolve(
        &self,
        name: impl AsRef<Path>,
        search: &SearchDirs,
    ) -> Result<Option<Resolved>, LookupError> {
        self.revalidation().resolve(name, search)
    }
}

impl Revalidation<'_> {
    /// Returns the first directory that contains a name which is not a directory, links followed,
    /// as compilers search for headers. The name may have several components.
    ///
    /// Directories that are searched often are listed, so that most names they do not contain need
    /// no query.
    ///
    /// # Errors
    /// A directory before the first match cannot be searched, so it may contain the name. Or the
    /// name is absolute or empty.
    pub fn resolve(
        &self,
        name: impl AsRef<Path>,
        search: &SearchDirs,
    ) -> Result<Option<Resolved>, LookupError> {
        let path = name.as_ref();
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_empty() || path.is_absolute() || memchr::memchr(0, bytes).is_some() {
            return Err(LookupError::NUL);
        }
        let single = split(path).is_none() && self.level != Level::Verified;
        let name = self.hashed(bytes);
        for (index, (dir, cached_dir)) in search.dirs.iter().enumerate() {
            let found = if single && cached_dir.inside_roots {
                self.find_in_dir(cached_dir, dir, path, name)?
            } else {
                self.file_or_none(self.get(dir.join(path)))?
            };
            if let Some(attributes) = found {
                return Ok(Some(Resolved { index, path: dir.join(path), attributes }));
            }
        }
        Ok(None)
    }

    #[inline]
    fn find_in_dir(
        &self,
        cached_dir: &Arc<CachedDir>,
        dir: &Path,
        path: &Path,
        name: HashedName<'_>,
    ) -> Result<Option<Attributes>, LookupError> {
        let known = cached_dir.read();
        match self.look_up(&known, name, LookupKind::Type) {
            Lookup::Failed(error) if !error.is_missing() => {}
            Lookup::Failed(_) | Lookup::Exists(FileType::Directory) => {
                self.cache.store.counters.hits.add(1);
                return Ok(None);
            }
            _ => {}
        }
        let evicted = known.evicted;
        drop(known);
        let path = dir.join(path);
        if evicted {
            return self.file_or_none(self.get(path));
        }
        let kind = LookupKind::Attributes { follow: true };
        let lookup = self.answer(cached_dir, name, &path, kind);
        self.file_or_none(lookup.into_result())
    }

    /// Turns a missing name, or a directory, into `None`.
    fn file_or_none(&self, answer: LookupResult) -> Result<Option<Attributes>, LookupError> {
        match answer {
            Ok(attributes) if attributes.file_type() == FileType::Directory => Ok(None),
            Ok(attributes) => Ok(Some(attributes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
