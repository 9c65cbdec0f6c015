//! Queries of single names, and which of their results are stored.

use std::path::Path;
use std::sync::Arc;

use transect_sys::FileType;

use super::LookupResult;
use super::cached_dir::{CachedDir, DirState, Freshness};
use super::name_table::HashedName;
use super::options::Level;
use super::revalidation::Revalidation;
use super::split_path::is_entry_name;

impl Revalidation<'_> {
    /// Queries a name in a directory that had changed `changes` times, and stores the result if the level permits.
    pub(super) fn query_and_store(
        &self,
        cached_dir: &Arc<CachedDir>,
        changes: u64,
        name: HashedName<'_>,
        path: &Path,
        follow: bool,
    ) -> LookupResult {
        let own = self.query(path, false);
        self.store(cached_dir, changes, name, &own);
        if follow && own.as_ref().is_ok_and(|own| own.file_type() == FileType::Symlink) {
            return self.query_target(cached_dir, changes, name, path);
        }
        own
    }

    pub(super) fn query_target(
        &self,
        cached_dir: &Arc<CachedDir>,
        changes: u64,
        name: HashedName<'_>,
        path: &Path,
    ) -> LookupResult {
        let target = self.query(path, true);
        // Only a frozen cache stores targets.
        if self.level == Level::Frozen {
            let mut directory = cached_dir.write();
            if self.may_store(&directory, changes) {
                directory.table.insert_target(name, self.cache.store.layout, &target);
                self.cache.store.dirs.add_memory(directory.growth());
            }
        }
        target
    }

    /// Makes room for names whose attributes are about to be stored.
    pub(super) fn reserve<'n>(
        &self,
        cached_dir: &CachedDir,
        names: impl ExactSizeIterator<Item = &'n [u8]> + Clone,
    ) {
        let mut directory = cached_dir.write();
        let freshness = directory.freshness(self.level, self.epoch, self.number);
        if freshness == Freshness::Complete && self.may_store(&directory, directory.changes) {
            let bytes = names.clone().map(<[u8]>::len).sum();
            directory.table.reserve(names.len(), bytes, &self.cache.store.hasher);
        }
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
        if freshness == Freshness::Complete && self.may_store(&directory, changes) {
            directory.table.insert(name, self.cache.store.layout, own);
            let growth = directory.growth();
            drop(directory);
            self.cache.store.dirs.add_memory(growth);
            self.cache.enforce_memory_limit();
        }
    }

    /// Returns whether a result may be stored that was queried when the directory had changed `changes` times.
    pub(super) fn may_store(&self, directory: &DirState, changes: u64) -> bool {
        !directory.evicted && directory.epoch == self.epoch && directory.changes == changes
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
