//! The order of a sorted walk: how the entries of one directory are compared.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use crate::dir::Dir;

type Compare = dyn Fn(&Dir, &OsStr, &OsStr) -> Ordering + Send + Sync;

/// The order of the entries of one directory: by name, or by a closure of the caller.
#[derive(Clone, Default)]
pub(crate) struct SiblingOrder(Option<Arc<Compare>>);

impl SiblingOrder {
    /// Returns the order by a closure, which receives the directory and two names of entries in it.
    #[cfg(feature = "filters")]
    pub(crate) fn by(
        compare: impl Fn(&Dir, &OsStr, &OsStr) -> Ordering + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(compare)))
    }

    /// Compares two entries of a directory. Names that a closure does not tell apart are in the order of names: the
    /// entries of a directory and the directories to be read, which are sorted apart, must agree.
    pub(crate) fn compare(&self, dir: &Dir, one: &OsStr, other: &OsStr) -> Ordering {
        let by_closure =
            self.0.as_ref().map_or(Ordering::Equal, |compare| compare(dir, one, other));
        by_closure.then_with(|| one.cmp(other))
    }
}

impl fmt::Debug for SiblingOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SiblingOrder")
    }
}
