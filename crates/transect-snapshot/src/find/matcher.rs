//! Judges entries that are in no snapshot.

use std::fmt;

use transect::Attributes;

use super::names::matches_alone;
use super::search::{NameMatcher, Search};

/// Judges entries one by one, as a search of a snapshot does.
pub struct Matcher<'s> {
    search: &'s Search,
    names: NameMatcher<'s>,
    folded: Vec<u8>,
}

impl<'s> Matcher<'s> {
    /// Returns what judges entries by a search.
    pub fn new(search: &'s Search) -> Self {
        Self { search, names: NameMatcher::new(search), folded: Vec::new() }
    }

    /// Returns whether the search finds an entry. `directory` ends with a separator, and is empty for a root.
    pub fn accepts(&mut self, directory: &[u8], name: &[u8], attributes: &Attributes) -> bool {
        let Self { search, names, folded } = self;
        matches_alone(name, names, folded)
            && (search.filter.selects_everything() || search.filter.accepts(attributes))
            && (!search.needs_paths() || search.accepts_path(directory, name))
    }
}

impl fmt::Debug for Matcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher").field("search", self.search).finish_non_exhaustive()
    }
}
