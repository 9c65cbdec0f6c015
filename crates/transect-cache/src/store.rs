//! The data of a cache.

use super::counts::Counters;
use super::dir_map::DirMap;
use super::name_table::Hasher;
use super::record::RecordLayout;

/// The cached directories, with the data for reading and changing them.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) layout: RecordLayout,
    pub(super) hasher: Hasher,
    pub(super) dirs: DirMap,
    pub(super) counters: Counters,
}

impl Store {
    pub(super) fn new(layout: RecordLayout) -> Self {
        let hasher = Hasher::default();
        Self { layout, dirs: DirMap::new(hasher.clone()), hasher, counters: Counters::default() }
    }
}
