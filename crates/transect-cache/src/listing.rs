//! Listings: when a directory is listed or checked, and what is stored of it.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use transect_sys::{Attributes, FieldMask, FileType, NameBuffer};

use super::cached_dir::{CachedDir, CompleteListing, DirState, Freshness};
use super::lookup::LookupKind;
use super::lookup_error::LookupError;
use super::name_table::Lookup;
use super::options::Level;
use super::revalidation::Revalidation;
use super::split_path::{is_entry_name, split};
use super::system::{self, DirIdentity};

impl Revalidation<'_> {
    /// Returns whether [`prepare`](Self::prepare) would do nothing for a directory before one lookup.
    pub(super) fn is_prepared(&self, directory: &DirState) -> bool {
        let freshness = directory.freshness(self.level, self.epoch, self.number);
        match freshness {
            Freshness::Stale => false,
            Freshness::NamesOnly => true,
            Freshness::Complete => directory.exists() && !self.would_list(directory, 1),
        }
    }

    /// Returns whether [`prepare`](Self::prepare) would list a directory.
    pub(super) fn would_list(&self, directory: &DirState, missing: usize) -> bool {
        let costs = &self.cache.options.costs;
        directory.listing.is_none() && directory.account.allows_listing(costs, missing)
    }

    /// Checks or lists a directory, as needed before names in it are queried one by one, of which a listing
    /// may save `missing`. Returns whether another lookup in memory is worthwhile.
    pub(super) fn prepare(&self, cached_dir: &Arc<CachedDir>, missing: usize) -> bool {
        cached_dir.write().renew(self.epoch);
        if self.copy_error_of_parent(cached_dir) {
            return true;
        }
        let (freshness, listing, lists) = {
            let directory = cached_dir.read();
            let freshness = directory.freshness(self.level, self.epoch, self.number);
            (freshness, directory.listing, self.would_list(&directory, missing))
        };
        match (freshness, listing) {
            (Freshness::NamesOnly, _) | (Freshness::Complete, Some(_)) => false,
            (Freshness::Stale, Some(_)) => {
                self.check_listing(cached_dir);
                true
            }
            (_, None) if lists => {
                self.list(cached_dir, missing);
                true
            }
            (_, None) => false,
        }
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
        let name = self.hashed(name);
        let lookup = self.look_up(&above.peek(), name, LookupKind::Type);
        match lookup {
            Lookup::Failed(error) if error.applies_below() => {
                store_error(&mut cached_dir.write(), error, self.number + 1);
                true
            }
            _ => false,
        }
    }

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
    fn list(&self, cached_dir: &Arc<CachedDir>, missing: usize) {
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
        let (reader, want, path) = (self.cache.reader, self.cache.options.want, cached_dir.path());
        let max = |size| account.max_names(costs, size, missing);
        let each = |name: &OsStr, attributes: &Attributes| names.push(name, attributes, want);
        let extent =
            system::list(reader, path, want, max, each).and_then(|complete| match complete {
                // Something has changed the directory meanwhile; it fails if names in it cannot be looked up.
                Some((identity, _)) if system::identity(path)? != identity => Ok(None),
                complete => Ok(complete),
            });
        let mut directory = cached_dir.write();
        if !self.may_store(&directory, changes) {
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
        let bytes = names.iter().map(|(name, ..)| name.len()).sum();
        directory.table.reserve(names.types.len(), bytes, &self.cache.store.hasher);
        for (name, file_type, attributes) in names.iter() {
            let name = self.hashed(name);
            match attributes {
                Some(attributes) if freshness != Freshness::Stale => {
                    directory.table.insert_if_absent(name, self.cache.store.layout, attributes);
                }
                _ => directory.table.insert_listed(name, file_type),
            }
        }
    }
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
    names: NameBuffer,
    types: Vec<FileType>,
    /// Attributes that came with the listing, with the index of their entry.
    complete: Vec<(usize, Attributes)>,
}

impl ListedNames {
    fn push(&mut self, name: &OsStr, attributes: &Attributes, want: FieldMask) {
        if attributes.known().contains(want) {
            self.complete.push((self.types.len(), *attributes));
        }
        self.names.push(name);
        self.types.push(attributes.file_type());
    }

    fn len(&self) -> u64 {
        self.types.len() as u64
    }

    /// Iterates over names, types, and attributes where there are any.
    fn iter(&self) -> impl Iterator<Item = (&[u8], FileType, Option<&Attributes>)> {
        let mut complete = self.complete.iter().peekable();
        self.types.iter().enumerate().map(move |(index, &file_type)| {
            let attributes = complete.next_if(|(own, _)| *own == index);
            (self.names.bytes(index), file_type, attributes.map(|(_, attributes)| attributes))
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
