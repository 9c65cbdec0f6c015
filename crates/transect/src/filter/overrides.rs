//! Globs of callers of `ignore`, which decide before the files of rules.

use std::path::Path;

use ::ignore::Match;
use ::ignore::overrides::Override;

/// What callers of `ignore` override the files of rules with. The matchers are that crate's, as those of
/// [`Globs`](super::globs::Globs).
#[derive(Clone, Debug)]
pub(crate) struct Overrides {
    pub(crate) globs: Override,
}

/// Matchers cannot be compared: each is equal only to itself.
impl PartialEq for Overrides {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Overrides {}

impl Overrides {
    pub(crate) fn none() -> Self {
        Self { globs: Override::empty() }
    }

    pub(crate) fn are_none(&self) -> bool {
        self.globs.is_empty()
    }

    /// Returns whether the globs show an entry or exclude it; `None` if they leave that to the files of rules. `path`
    /// begins with the root as given.
    pub(super) fn by_glob(&self, path: &Path, is_dir: bool) -> Option<bool> {
        is_shown(&self.globs.matched(path, is_dir))
    }
}

fn is_shown<T>(matched: &Match<T>) -> Option<bool> {
    match matched {
        Match::None => None,
        Match::Ignore(_) => Some(false),
        Match::Whitelist(_) => Some(true),
    }
}
