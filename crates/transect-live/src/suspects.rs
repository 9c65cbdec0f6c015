//! Where something may have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use transect::table::DirectoryId;

/// Directories in which something may have changed.
pub(crate) type Suspects = BTreeMap<DirectoryId, Names>;

/// Names that may have changed; with none, the directory itself.
#[derive(Clone, Debug)]
pub(crate) enum Names {
    These(BTreeSet<OsString>),
    /// All names, unless the times of the directory prove that it has the same ones as when it was listed.
    AllUnlessProved,
    All,
}

impl Default for Names {
    fn default() -> Self {
        Self::These(BTreeSet::new())
    }
}

impl Names {
    pub(crate) fn extend(&mut self, others: Self) {
        match (self, others) {
            (Self::These(names), Self::These(others)) => names.extend(others),
            (Self::AllUnlessProved, Self::AllUnlessProved) => {}
            // What was named has to be queried in any case.
            (all, _) => *all = Self::All,
        }
    }
}
