//! Lookups of one path: in memory, then in the system.

use std::path::Path;
use std::sync::Arc;

use transect_sys::FileType;

use super::cached_dir::{CachedDir, DirState, Freshness};
use super::lookup_error::LookupError;
use super::name_table::{HashedName, Lookup};
use super::options::Level;
use super::revalidation::Revalidation;
use super::split_path::{is_entry_name, split_plain};
use super::{AttributeCache, LookupResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookupKind {
    /// The attributes of a path, or of the target of a link.
    Attributes { follow: bool },
    /// The type, links followed.
    Type,
}

impl LookupKind {
    pub(super) fn follows(self) -> bool {
        !matches!(self, Self::Attributes { follow: false })
    }
}

impl Lookup {
    pub(super) fn answers(&self, kind: LookupKind) -> bool {
        match self {
            Self::Attributes(_) | Self::Failed(_) => true,
            Self::Exists(_) => kind == LookupKind::Type,
            Self::Unknown | Self::Absent => false,
        }
    }

    pub(super) fn into_result(self) -> LookupResult {
        match self {
            Self::Attributes(attributes) => Ok(attributes),
            Self::Failed(error) => Err(error),
            _ => unreachable!("BUG: this answers nothing"),
        }
    }
}

impl From<LookupResult> for Lookup {
    fn from(answer: LookupResult) -> Self {
        answer.map_or_else(Self::Failed, Self::Attributes)
    }
}

/// The longest name that counts as missing because a listing does not contain it. For longer names
/// the system reports that they are too long.
const MAX_NAME_BYTES: usize = 255;

impl AttributeCache {
    /// Returns the attributes of a path, links followed: [`Revalidation::get`] in a revalidation of
    /// its own.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn get(&self, path: impl AsRef<Path>) -> LookupResult {
        self.revalidation().get(path)
    }

    /// Returns the attributes of a path, the last link not followed: [`Revalidation::get_link`] in
    /// a revalidation of its own.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn get_link(&self, path: impl AsRef<Path>) -> LookupResult {
        self.revalidation().get_link(path)
    }

    /// Returns the attributes of many paths: [`Revalidation::get_many`] in a revalidation of its
    /// own.
    pub fn get_many<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.revalidation().get_many(paths)
    }

    /// Returns the attributes of many paths, links not followed: [`Revalidation::get_many_links`]
    /// in a revalidation of its own.
    pub fn get_many_links<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.revalidation().get_many_links(paths)
    }

    /// Returns whether a path exists: [`Revalidation::exists`] in a revalidation of its own.
    ///
    /// # Errors
    /// Whether it exists is not known: see [`Revalidation::exists`].
    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool, LookupError> {
        self.revalidation().exists(path)
    }
}

impl Revalidation<'_> {
    /// Returns the attributes of a path, links followed, as `stat` does.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn get(&self, path: impl AsRef<Path>) -> LookupResult {
        self.attributes(path.as_ref(), true)
    }

    /// Returns the attributes of a path, the last link not followed, as `lstat` does.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn get_link(&self, path: impl AsRef<Path>) -> LookupResult {
        self.attributes(path.as_ref(), false)
    }

    /// Returns whether a path exists, links followed.
    ///
    /// # Errors
    /// Whether it exists is not known: a directory in its path denies access, or its links form a
    /// loop. A missing path is not an error.
    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool, LookupError> {
        match self.look_up_path(path.as_ref(), LookupKind::Type)? {
            Lookup::Failed(error) if error.is_missing() => Ok(false),
            Lookup::Failed(error) => Err(error),
            _ => Ok(true),
        }
    }

    fn attributes(&self, path: &Path, follow: bool) -> LookupResult {
        self.look_up_path(path, LookupKind::Attributes { follow })?.into_result()
    }

    fn look_up_path(&self, path: &Path, kind: LookupKind) -> Result<Lookup, LookupError> {
        if self.level != Level::Verified
            && let Some((cached_dir, name)) = self.find_cached_dir(path)
        {
            return Ok(self.answer(&cached_dir, self.hashed(name), path, kind));
        }
        let split = self.cache.scope.split(path)?;
        if self.level == Level::Verified {
            self.cache.store.counters.misses.add(1);
            return Ok(self.query(&split.path, kind.follows()).into());
        }
        let cached_dir = self.cache.cached_dir(&split);
        Ok(self.answer(&cached_dir, self.hashed(split.name), &split.path, kind))
    }

    /// Returns the cached directory of a path that is written in the form of the keys, and the name in it.
    #[inline]
    pub(super) fn find_cached_dir<'p>(&self, path: &'p Path) -> Option<(Arc<CachedDir>, &'p [u8])> {
        let (directory, name) = split_plain(path)?;
        let cached_dir = self.cache.store.dirs.get(directory)?;
        cached_dir.inside_roots.then_some((cached_dir, name))
    }

    /// Answers a lookup of a name in a directory; the system is queried with `path`.
    pub(super) fn answer(
        &self,
        cached_dir: &Arc<CachedDir>,
        name: HashedName<'_>,
        path: &Path,
        kind: LookupKind,
    ) -> Lookup {
        let (mut lookup, mut changes, prepares) = {
            let directory = cached_dir.read();
            let lookup = self.look_up(&directory, name, kind);
            let prepares = !lookup.answers(kind) && !self.is_prepared(&directory);
            (lookup, directory.changes, prepares)
        };
        if prepares {
            self.prepare(cached_dir, 1);
            let directory = cached_dir.read();
            lookup = self.look_up(&directory, name, kind);
            changes = directory.changes;
        }
        if lookup.answers(kind) {
            self.cache.store.counters.hits.add(1);
            return lookup;
        }
        self.cache.store.counters.misses.add(1);
        self.query_and_store(cached_dir, changes, name, path, kind.follows()).into()
    }

    /// Looks up a name in memory.
    #[inline]
    pub(super) fn look_up(
        &self,
        directory: &DirState,
        name: HashedName<'_>,
        kind: LookupKind,
    ) -> Lookup {
        let freshness = directory.freshness(self.level, self.epoch, self.number);
        let error = directory.error(freshness, self.epoch, self.number);
        match error {
            None => self.look_up_in_existing(directory, freshness, name, kind),
            // While frozen, a result does not change, even if the directory is gone by now.
            Some(error) if freshness == Freshness::Complete => {
                let kept = self.look_up_in_existing(directory, freshness, name, kind);
                if kept.answers(kind) { kept } else { Lookup::Failed(error) }
            }
            Some(error) => Lookup::Failed(error),
        }
    }

    /// Looks up a name in the table of a directory that has no error.
    #[inline]
    fn look_up_in_existing(
        &self,
        directory: &DirState,
        freshness: Freshness,
        name: HashedName<'_>,
        kind: LookupKind,
    ) -> Lookup {
        let (table, layout, follow) = (&directory.table, self.cache.store.layout, kind.follows());
        match freshness {
            Freshness::Stale => Lookup::Unknown,
            Freshness::NamesOnly => match table.find_type(name, layout) {
                None => absent(directory, name),
                Some(FileType::Symlink | FileType::Unknown) if follow => Lookup::Unknown,
                Some(file_type) => Lookup::Exists(file_type),
            },
            Freshness::Complete => match table.find(name, layout, follow) {
                Lookup::Absent => absent(directory, name),
                found => found,
            },
        }
    }
}

/// Returns the result for a name that is not in the table.
fn absent(directory: &DirState, name: HashedName<'_>) -> Lookup {
    let certain = directory.listing.is_some_and(|listing| listing.exact_names)
        && is_entry_name(name.bytes)
        && name.bytes.len() <= MAX_NAME_BYTES;
    if certain { Lookup::Failed(LookupError::MISSING) } else { Lookup::Unknown }
}
