//! A revalidation: a group of lookups, and how one of them is answered.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use transect_sys::{Attributes, FieldMask, FileType};

use super::cached_dir::{CachedDir, CompleteListing, DirState, Freshness};
use super::lookup_error::LookupError;
use super::name_table::{HashedName, TableLookup};
use super::options::Level;
use super::split_path::{SplitPath, is_entry_name, split};
use super::system::{self, DirIdentity, ListDir, ListOutcome};
use super::{AttributeCache, LookupResult};

/// A group of lookups, such as those of one build. At [`Level::Checked`], each directory is checked
/// at most once in it. Changes made before it began are seen; changes made later may or may not be.
#[derive(Debug)]
pub struct Revalidation<'a> {
    pub(super) cache: &'a AttributeCache,
    pub(super) level: Level,
    pub(super) epoch: u64,
    /// How many revalidations had begun before this one.
    pub(super) number: u64,
}

/// The kind of a lookup.
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

/// The result of a lookup in memory.
#[derive(Clone, Debug)]
pub(super) enum Lookup {
    Attributes(Attributes),
    Exists(FileType),
    Failed(LookupError),
    Unknown,
}

impl Lookup {
    /// Returns whether this answers a lookup.
    pub(super) fn answers(&self, kind: LookupKind) -> bool {
        match self {
            Self::Attributes(_) | Self::Failed(_) => true,
            Self::Exists(_) => kind == LookupKind::Type,
            Self::Unknown => false,
        }
    }

    /// Returns the attributes or the error.
    pub(super) fn into_result(self) -> LookupResult {
        match self {
            Self::Attributes(attributes) => Ok(attributes),
            Self::Failed(error) => Err(error),
            Self::Exists(_) | Self::Unknown => unreachable!("BUG: this answers nothing"),
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
    /// Begins a group of lookups; at [`Level::Checked`], each directory is checked at most once in it.
    pub fn revalidation(&self) -> Revalidation<'_> {
        let level = self.level();
        // While the cache is frozen, events wait until it is thawed.
        if level == Level::Watched
            && let Some(watches) = self.watches.as_ref().filter(|watches| watches.has_events())
        {
            watches.try_apply(&self.store);
        }
        let epoch = self.epoch.load(Ordering::Acquire);
        // Only levels that check directories compare this number.
        let number = match level {
            Level::Frozen | Level::Verified => 0,
            Level::Checked | Level::Watched => self.revalidations.fetch_add(1, Ordering::AcqRel),
        };
        Revalidation { cache: self, level, epoch, number }
    }

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
        if let Some(lookup) = self.look_up_cached(path, kind) {
            self.cache.store.counters.hits.add(1);
            return Ok(lookup);
        }
        let split = self.cache.scope.split(path)?;
        Ok(self.look_up_split(&split, kind))
    }

    /// Answers from memory, if the path is written in the form of the keys.
    #[inline]
    fn look_up_cached(&self, path: &Path, kind: LookupKind) -> Option<Lookup> {
        if self.level == Level::Verified {
            return None;
        }
        let (directory, name) = split(path)?;
        let cached_dir =
            self.cache.store.dirs.get(directory).filter(|cached_dir| cached_dir.inside_roots)?;
        let lookup =
            self.look_up(&cached_dir.read(), HashedName::new(name, &self.cache.store.hasher), kind);
        lookup.answers(kind).then_some(lookup)
    }

    fn look_up_split(&self, split: &SplitPath<'_>, kind: LookupKind) -> Lookup {
        if self.level == Level::Verified {
            self.cache.store.counters.misses.add(1);
            return self.query(&split.path, kind.follows()).into();
        }
        let cached_dir = self.cache.cached_dir(split);
        self.answer(
            &cached_dir,
            HashedName::new(split.name, &self.cache.store.hasher),
            &split.path,
            kind,
        )
    }

    /// Answers a lookup of a name in a directory; the system is queried with `path`.
    pub(super) fn answer(
        &self,
        cached_dir: &Arc<CachedDir>,
        name: HashedName<'_>,
        path: &Path,
        kind: LookupKind,
    ) -> Lookup {
        let mut lookup = self.look_up(&cached_dir.read(), name, kind);
        if !lookup.answers(kind) && self.prepare(cached_dir, 1) {
            lookup = self.look_up(&cached_dir.read(), name, kind);
        }
        if lookup.answers(kind) {
            self.cache.store.counters.hits.add(1);
            return lookup;
        }
        self.cache.store.counters.misses.add(1);
        self.query_and_store(cached_dir, name, path, kind.follows()).into()
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
            // The targets of links are not watched.
            Freshness::Watched
                if follow && table.find_type(name, layout) == Some(FileType::Symlink) =>
            {
                Lookup::Unknown
            }
            Freshness::Complete | Freshness::Watched => match table.find(name, layout, follow) {
                TableLookup::Attributes(attributes)
                    if freshness == Freshness::Watched
                        && attributes.file_type() == FileType::Directory =>
                {
                    Lookup::Exists(FileType::Directory)
                }
                TableLookup::Attributes(attributes) => Lookup::Attributes(attributes),
                TableLookup::Exists(file_type) => Lookup::Exists(file_type),
                TableLookup::Failed(error) => Lookup::Failed(error),
                TableLookup::Unknown => Lookup::Unknown,
                TableLookup::Absent => absent(directory, name),
            },
        }
    }

    /// Watches, checks or lists a directory, as needed before `wanted` names in it are queried one
    /// by one. Returns whether another lookup in memory is worthwhile.
    pub(super) fn prepare(&self, cached_dir: &Arc<CachedDir>, wanted: usize) -> bool {
        cached_dir.write().renew(self.epoch);
        let watched = self.cache.watch(cached_dir, wanted);
        if self.copy_error_of_parent(cached_dir) {
            return true;
        }
        let (freshness, listing, affords) = {
            let directory = cached_dir.read();
            let freshness = directory.freshness(self.level, self.epoch, self.number);
            let affords = directory.account.allows_listing(&self.cache.options.costs, wanted);
            (freshness, directory.listing, affords)
        };
        let prepared = match (freshness, listing) {
            (Freshness::NamesOnly, _) | (Freshness::Complete | Freshness::Watched, Some(_)) => {
                false
            }
            (Freshness::Stale, Some(_)) => {
                self.check_listing(cached_dir);
                true
            }
            (_, None) if affords => {
                self.list(cached_dir, wanted);
                true
            }
            (_, None) => false,
        };
        watched || prepared
    }

    /// Stores that a directory does not exist if that follows from its cached parent. Returns
    /// whether it did.
    fn copy_error_of_parent(&self, cached_dir: &CachedDir) -> bool {
        // At the other levels the path was just resolved, or nothing is stored.
        if !matches!(self.level, Level::Frozen | Level::Checked) {
            return false;
        }
        let above = split(cached_dir.path()).filter(|(_, name)| is_entry_name(name));
        let Some((above, name)) = above else { return false };
        let Some(above) = self.cache.store.dirs.get(above) else { return false };
        let name = HashedName::new(name, &self.cache.store.hasher);
        let lookup = self.look_up(&above.peek(), name, LookupKind::Type);
        match lookup {
            Lookup::Failed(error) if error.applies_below() => {
                store_error(&mut cached_dir.write(), error, self.number + 1);
                true
            }
            _ => false,
        }
    }

    /// Checks whether a listing is still valid.
    fn check_listing(&self, cached_dir: &Arc<CachedDir>) {
        let _lister = cached_dir.lock_listing();
        let Some(listing) = cached_dir.read().listing else { return };
        if listing.checked > self.number {
            return;
        }
        let begun = self.cache.revalidations_begun();
        let now = (!listing.racy).then(|| {
            self.cache.store.counters.checks.add(1);
            system::identity(cached_dir.path())
        });
        let mut directory = cached_dir.write();
        match now {
            Some(Ok(now)) if now == listing.identity && now.is_known() => {
                if let Some(listing) = &mut directory.listing {
                    listing.checked = begun;
                }
            }
            now => {
                self.cache.store.counters.outdated.add(1);
                directory.forget();
                if let Some(Err(error)) = now {
                    store_error(&mut directory, error.into(), begun);
                }
                self.cache.store.dirs.add_memory(directory.growth());
            }
        }
    }

    /// Lists a directory if that is worth its cost.
    fn list(&self, cached_dir: &Arc<CachedDir>, wanted: usize) {
        let _lister = cached_dir.lock_listing();
        let (changes, mut account) = {
            let directory = cached_dir.read();
            if directory.listing.is_some() {
                return;
            }
            (directory.changes, directory.account)
        };
        let (begun, clock) = (self.cache.revalidations_begun(), SystemTime::now());
        let costs = &self.cache.options.costs;
        let mut names = ListedNames::default();
        let extent = ListDir {
            path: cached_dir.path(),
            want: self.cache.options.want,
            max: &mut |size| account.max_names(costs, size, wanted),
            each: &mut |name, attributes| names.push(name, attributes, self.cache.options.want),
        }
        .run(self.cache.reader);
        // Nothing has changed the directory meanwhile, and names in it can be looked up.
        let extent = extent.and_then(|extent| match extent {
            ListOutcome::Complete { identity, exact_names } => {
                let unchanged = system::identity(cached_dir.path())? == identity;
                Ok(unchanged.then_some((identity, exact_names)))
            }
            ListOutcome::TooMany => Ok(None),
        });
        let mut directory = cached_dir.write();
        if directory.evicted || !directory.is_of_epoch(self.epoch) || directory.changes != changes {
            return;
        }
        match extent {
            Ok(Some((identity, exact_names))) => {
                self.cache.store.counters.listings.add(1);
                account.listed(costs, names.len());
                let racy = is_racy(identity, clock);
                self.store_listing(&mut directory, &names);
                let checked = begun;
                directory.listing = Some(CompleteListing { identity, exact_names, racy, checked });
            }
            Ok(None) => {
                self.cache.store.counters.listings_given_up.add(1);
                if names.len() > 0 {
                    account.record_given_up(costs, names.len());
                }
            }
            Err(error) => {
                self.cache.store.counters.listings_given_up.add(1);
                account.record_unlistable();
                store_error(&mut directory, error.into(), begun);
            }
        }
        directory.account = account;
        self.cache.store.dirs.add_memory(directory.growth());
        drop(directory);
        self.cache.enforce_memory_limit();
    }

    fn store_listing(&self, directory: &mut DirState, names: &ListedNames) {
        let freshness = directory.freshness(self.level, self.epoch, self.number);
        directory.table.reserve(names.entries.len(), names.bytes.len(), &self.cache.store.hasher);
        for (name, file_type, attributes) in names.iter() {
            let name = HashedName::new(name, &self.cache.store.hasher);
            match attributes {
                Some(attributes) if freshness != Freshness::Stale => {
                    directory.table.insert_if_absent(name, self.cache.store.layout, attributes);
                }
                _ => directory.table.insert_listed(name, file_type),
            }
        }
    }

    /// Queries a name in a directory, and stores the result if the level permits.
    pub(super) fn query_and_store(
        &self,
        cached_dir: &Arc<CachedDir>,
        name: HashedName<'_>,
        path: &Path,
        follow: bool,
    ) -> LookupResult {
        let changes = cached_dir.read().changes;
        let own = self.query(path, false);
        self.store(cached_dir, changes, name, &own);
        if follow && own.as_ref().is_ok_and(|own| own.file_type() == FileType::Symlink) {
            return self.query_target(cached_dir, changes, name, path);
        }
        own
    }

    /// Queries the target of a link.
    pub(super) fn query_target(
        &self,
        cached_dir: &Arc<CachedDir>,
        changes: u64,
        name: HashedName<'_>,
        path: &Path,
    ) -> LookupResult {
        let target = self.query(path, true);
        // Targets are not watched, so only a frozen cache stores them.
        if self.level == Level::Frozen {
            let mut directory = cached_dir.write();
            if self.may_store(&directory, changes) {
                directory.table.insert_target(name, self.cache.store.layout, &target);
                self.cache.store.dirs.add_memory(directory.growth());
            }
        }
        target
    }

    /// Stores the result of a query that began when the directory had changed `changes` times,
    /// unless it may be outdated.
    pub(super) fn store(
        &self,
        cached_dir: &Arc<CachedDir>,
        changes: u64,
        name: HashedName<'_>,
        own: &LookupResult,
    ) {
        let missing = own.as_ref().is_err_and(|error| error.is_missing());
        let mut directory = cached_dir.write();
        if missing && is_entry_name(name.bytes) {
            directory.account.spend(&self.cache.options.costs, 1);
        }
        let freshness = directory.freshness(self.level, self.epoch, self.number);
        let lasting = match freshness {
            Freshness::Complete => true,
            // `.` and `..` stand for a directory whose changes are events of another one.
            Freshness::Watched => is_entry_name(name.bytes),
            Freshness::NamesOnly | Freshness::Stale => false,
        };
        if lasting && self.may_store(&directory, changes) {
            directory.table.insert(name, self.cache.store.layout, own);
            let growth = directory.growth();
            drop(directory);
            self.cache.store.dirs.add_memory(growth);
            self.cache.enforce_memory_limit();
        }
    }

    fn may_store(&self, directory: &DirState, changes: u64) -> bool {
        !directory.evicted && directory.is_of_epoch(self.epoch) && directory.changes == changes
    }

    /// Queries the system, and counts it.
    pub(super) fn query(&self, path: &Path, follow: bool) -> LookupResult {
        self.cache.store.counters.queries.add(1);
        let mut attributes =
            transect_sys::file::query_attributes(path, self.cache.options.want, follow)?;
        // Return the same fields as from memory.
        attributes.retain(self.cache.options.want);
        Ok(attributes)
    }
}

/// Returns the result for a name that is not in the table.
fn absent(directory: &DirState, name: HashedName<'_>) -> Lookup {
    let certain = directory.has_all_names()
        && is_entry_name(name.bytes)
        && name.bytes.len() <= MAX_NAME_BYTES;
    if certain { Lookup::Failed(LookupError::MISSING) } else { Lookup::Unknown }
}

/// Stores the error of a directory if it is also the error of everything in it.
fn store_error(directory: &mut DirState, error: LookupError, begun: u64) {
    if error.applies_below() {
        directory.error = Some((error, begun));
    }
}

/// The names of a listing, until the directory can be locked for writing.
#[derive(Default)]
struct ListedNames {
    bytes: Vec<u8>,
    /// The end of each name, and its type.
    entries: Vec<(u32, FileType)>,
    /// Attributes that came with the listing, with the index of their entry.
    complete: Vec<(u32, Attributes)>,
}

impl ListedNames {
    fn push(&mut self, name: &OsStr, attributes: &Attributes, want: FieldMask) {
        if attributes.known().contains(want) {
            self.complete.push((self.entries.len() as u32, *attributes));
        }
        self.bytes.extend_from_slice(name.as_encoded_bytes());
        self.entries.push((self.bytes.len() as u32, attributes.file_type()));
    }

    fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Iterates over names, types, and attributes where there are any.
    fn iter(&self) -> impl Iterator<Item = (&[u8], FileType, Option<&Attributes>)> {
        let mut complete = self.complete.iter().peekable();
        let mut start = 0;
        (0..).zip(&self.entries).map(move |(index, &(end, file_type))| {
            let name = &self.bytes[start..end as usize];
            start = end as usize;
            let attributes = complete.next_if(|(own, _)| *own == index);
            (name, file_type, attributes.map(|(_, attributes)| attributes))
        })
    }
}

/// Two changes within this many nanoseconds may get the same time: a tick of the slowest kernel's
/// clock is 10 ms.
const TICK: i64 = 20_000_000;

/// The same where times are whole seconds or, on FAT, every second one.
const COARSE_TICK: i64 = 2_000_000_000;

/// Returns whether a change after a listing made at `clock` might not show in the directory's
/// times, because its last change was so recent that the next would get the same time. git calls
/// such files racily clean.
fn is_racy(identity: DirIdentity, clock: SystemTime) -> bool {
    let Some(changed) = identity.mtime.max(identity.ctime) else { return true };
    let coarse =
        [identity.mtime, identity.ctime].iter().flatten().all(|time| time % 1_000_000_000 == 0);
    let tick = if coarse { COARSE_TICK } else { TICK };
    let clock = clock.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
    changed.saturating_add(tick) >= clock
}
