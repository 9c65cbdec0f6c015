//! Globs and types that callers of `ignore` choose: they decide before hidden names, and globs before files of rules.

use ::ignore::Match;
use ::ignore::overrides::Override;
use ::ignore::types::Types;
use transect_sys::{EntryRef, FileType};

use super::overruling::Overruling;
use crate::dir::Dir;

/// The globs and types. The matchers are those of the crate `ignore`, as in [`Globs`](super::globs::Globs).
#[derive(Clone, Debug)]
pub(crate) struct Overrides {
    pub(crate) globs: Override,
    pub(crate) types: Types,
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
        Self { globs: Override::empty(), types: Types::empty() }
    }

    pub(crate) fn are_none(&self) -> bool {
        self.globs.is_empty() && self.types.is_empty()
    }

    /// Judges an entry by the globs, else by the types.
    #[cold] // Most walks have none, and are to pay as little as possible.
    pub(crate) fn judge(&self, dir: &Dir, entry: EntryRef<'_>) -> Overruling {
        let is_dir = entry.file_type() == FileType::Directory;
        if !self.globs.is_empty() {
            match self.globs.matched(dir.path_of(entry.name), is_dir) {
                Match::Whitelist(_) => return Overruling::Show,
                Match::Ignore(_) => return Overruling::Exclude,
                Match::None => {}
            }
        }
        match self.types.matched(entry.name, is_dir) {
            Match::Whitelist(_) => Overruling::ShowHidden,
            Match::Ignore(_) => Overruling::Exclude,
            Match::None => Overruling::None,
        }
    }
}
