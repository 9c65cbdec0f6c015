//! Globs that decide before hidden names and files of rules.

use std::path::Path;

use crate::error::Error;
use crate::filter::invalid_glob;

/// Globs for [`WalkBuilder::overrides`](super::WalkBuilder::overrides). Of several that match, the last one decides.
#[derive(Clone, Debug)]
pub struct Override(pub(super) ::ignore::overrides::Override);

/// Collects the globs of an [`Override`].
#[derive(Clone, Debug)]
pub struct OverrideBuilder(::ignore::overrides::OverrideBuilder);

impl OverrideBuilder {
    /// Returns a builder without globs. A glob with a slash matches paths below `root`, which is spelled as in the paths of
    /// the walk.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self(::ignore::overrides::OverrideBuilder::new(root))
    }

    /// Adds a glob, written as a line of a `.gitignore` file, also with alternatives (`*.{c,h}`). The walk returns an entry
    /// that it matches, even a hidden one and one that rules exclude, but no file that no glob matches. Other directories
    /// are read as without globs. After a leading `!`, a glob leaves out what it matches, whatever rules say.
    ///
    /// # Errors
    /// If the glob is invalid.
    pub fn add(&mut self, glob: &str) -> Result<&mut Self, Error> {
        self.0.add(glob).map_err(|error| invalid_glob(glob, &error))?;
        Ok(self)
    }

    /// Sets whether globs that are added from now on ignore case.
    ///
    /// # Errors
    /// None. The type is that of the crate `ignore`.
    pub fn case_insensitive(&mut self, yes: bool) -> Result<&mut Self, Error> {
        self.0.case_insensitive(yes).map_err(|error| invalid_glob("", &error))?;
        Ok(self)
    }

    /// Compiles the globs.
    ///
    /// # Errors
    /// If all globs together are too large.
    pub fn build(&self) -> Result<Override, Error> {
        self.0.build().map(Override).map_err(|error| invalid_glob("", &error))
    }
}
