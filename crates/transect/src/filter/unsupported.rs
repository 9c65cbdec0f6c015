//! A build without the feature `filters`: patterns are refused when a walk is planned.

pub(crate) mod globs {
    use std::path::Path;

    use transect_sys::{FileType, Verdict};

    use crate::error::Error;

    /// No globs.
    #[derive(Debug)]
    pub(crate) struct Globs;

    impl Globs {
        pub(crate) fn compile(globs: &[String], _: bool) -> Result<Self, Error> {
            globs.first().map_or(Ok(Self), |glob| Err(Error::without_filters(glob)))
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
    }
}

pub(crate) mod regexes {
    use crate::error::Error;

    /// No regular expressions.
    #[derive(Debug)]
    pub(crate) struct Regexes;

    impl Regexes {
        pub(crate) fn compile(regexes: &[String], _: bool) -> Result<Self, Error> {
            regexes.first().map_or(Ok(Self), |regex| Err(Error::without_filters(regex)))
        }

        pub(crate) fn matches(&self, _: &[u8]) -> bool {
            true
        }
    }
}

pub(crate) mod gitignore {
    use std::ffi::OsStr;
    use std::io;
    use std::path::Path;

    use crate::error::Error;

    /// No files of rules.
    #[derive(Debug)]
    pub(crate) struct RulesFiles(());

    impl RulesFiles {
        pub(crate) fn new(gitignore: bool, names: &[String]) -> Result<Self, Error> {
            match names.first().map(String::as_str).or(gitignore.then_some(".gitignore")) {
                Some(name) => Err(Error::without_filters(name)),
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

    /// No rules.
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
