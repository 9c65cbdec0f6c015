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
    use std::io;
    use std::path::Path;

    use crate::error::Error;

    pub(crate) const RULES_FILE: &str = ".gitignore";
    pub(crate) const REPOSITORY_DIR: &str = ".git";

    /// Returns an error if rules are to be applied.
    pub(crate) fn check_supported(is_applied: bool) -> Result<(), Error> {
        if is_applied { Err(Error::without_filters(RULES_FILE)) } else { Ok(()) }
    }

    /// No rules.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct IgnoreRules(());

    impl IgnoreRules {
        pub(crate) fn above(_: &Path) -> (Self, Option<io::Error>) {
            (Self(()), None)
        }

        pub(crate) fn add_rules_in(self, _: &Path, _: usize) -> (Self, Option<io::Error>) {
            (self, None)
        }

        pub(crate) fn ignores(&self, _: &Path, _: bool) -> bool {
            false
        }

        pub(crate) fn ignores_root(&self, _: &Path, _: bool) -> bool {
            false
        }
    }
}
