//! A build without the feature `filters`: patterns are refused when a walk is planned.

use std::path::Path;

use transect_sys::{FileType, Verdict};

use crate::error::Error;

/// No globs, and no regular expressions.
#[derive(Debug)]
pub(crate) struct NoPatterns;

impl NoPatterns {
    pub(crate) fn compile(patterns: &[String], _: bool) -> Result<Self, Error> {
        patterns.first().map_or(Ok(Self), |pattern| Err(Error::without_filters(pattern)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    pub(crate) fn judge(&self, _: &Path, _: FileType) -> Verdict {
        Verdict::Keep
    }

    pub(crate) fn judge_root(&self, _: &Path, _: FileType) -> Verdict {
        Verdict::Keep
    }

    pub(crate) fn matches(&self, _: &[u8]) -> bool {
        true
    }
}

pub(crate) mod globs {
    pub(crate) use super::NoPatterns as Globs;
}

pub(crate) mod regexes {
    pub(crate) use super::NoPatterns as Regexes;
}

pub(crate) mod overrides {
    use transect_sys::EntryRef;

    use crate::dir::Dir;
    use crate::filter::overruling::Overruling;

    /// No overrides.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) enum Overrides {}

    impl Overrides {
        pub(crate) fn judge(&self, _: &Dir, _: EntryRef<'_>) -> Overruling {
            match *self {}
        }
    }
}

pub(crate) mod gitignore {
    use std::borrow::Cow;
    use std::ffi::OsStr;
    use std::io;
    use std::path::{Path, PathBuf};

    use crate::error::Error;

    #[derive(Debug)]
    pub(crate) struct RulesFiles(());

    impl RulesFiles {
        pub(crate) fn new(
            gitignore: bool,
            names: &[String],
            paths: &[PathBuf],
        ) -> Result<Self, Error> {
            let name = names.first().map(String::as_str).or(gitignore.then_some(".gitignore"));
            let path = paths.first().map(|path| path.to_string_lossy());
            match name.map(Cow::Borrowed).or(path) {
                Some(name) => Err(Error::without_filters(&name)),
                None => Ok(Self(())),
            }
        }

        pub(crate) fn are_used(&self) -> bool {
            false
        }

        pub(crate) fn may_be(&self, _: &OsStr) -> bool {
            false
        }

        pub(crate) fn always_ignore(&self, _: &OsStr) -> bool {
            false
        }

        pub(crate) fn above(&self, _: &Path) -> (IgnoreRules, Option<io::Error>) {
            (IgnoreRules(()), None)
        }

        pub(crate) fn add_rules_in(
            &self,
            above: IgnoreRules,
            _: &Path,
            _: usize,
        ) -> (IgnoreRules, Option<io::Error>) {
            (above, None)
        }
    }

    #[derive(Clone, Debug, Default)]
    pub(crate) struct IgnoreRules(());

    impl IgnoreRules {
        pub(crate) fn ignores(&self, _: &Path, _: bool) -> bool {
            false
        }

        pub(crate) fn ignores_root(&self, _: &Path, _: bool) -> bool {
            false
        }
    }
}
