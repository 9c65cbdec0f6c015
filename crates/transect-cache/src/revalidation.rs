//! A revalidation: a group of lookups.

use std::sync::atomic::Ordering;

use super::AttributeCache;
use super::name_table::HashedName;
use super::options::Level;

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

impl AttributeCache {
    /// Begins a group of lookups; at [`Level::Checked`], each directory is checked at most once in it.
    pub fn revalidation(&self) -> Revalidation<'_> {
        let level = self.level();
        let epoch = self.epoch.load(Ordering::Acquire);
        // Only the level that checks directories compares this number.
        let number = match level {
            Level::Frozen | Level::Verified => 0,
            Level::Checked => self.revalidations.fetch_add(1, Ordering::AcqRel),
        };
        Revalidation { cache: self, level, epoch, number }
    }
}

impl<'a> Revalidation<'a> {
    /// Returns a name as tables find it.
    #[inline]
    pub(super) fn hashed<'n>(&self, name: &'n [u8]) -> HashedName<'n>
    where
        'a: 'n,
    {
        HashedName::new(name, &self.cache.store.hasher)
    }
}
