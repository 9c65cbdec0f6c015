//! Filters by name alone: extensions, regular expressions, hidden names.

use std::ffi::OsStr;
use std::path::Path;

use super::regexes::Regexes;
use crate::error::Error;

/// Compiled filters by name.
#[derive(Debug)]
pub(super) struct Names {
    extensions: Vec<String>,
    ignore_case: bool,
    regexes: Regexes,
}

impl Names {
    pub(super) fn compile(
        extensions: &[String],
        regexes: &[String],
        ignore_case: bool,
    ) -> Result<Self, Error> {
        let regexes = Regexes::compile(regexes, ignore_case)?;
        let extensions = extensions.iter().map(|it| it.trim_start_matches('.').to_owned());
        Ok(Self { extensions: extensions.collect(), ignore_case, regexes })
    }

    /// Returns whether a name has one of the extensions, and matches one of the expressions.
    pub(super) fn matches(&self, name: &OsStr) -> bool {
        (self.extensions.is_empty() || self.has_extension(name))
            && self.regexes.matches(name.as_encoded_bytes())
    }

    /// Several dots are possible: `a.tar.gz` has the extensions `gz` and `tar.gz`.
    fn has_extension(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        self.extensions.iter().any(|extension| {
            let Some(stem) = name.len().checked_sub(extension.len() + 1) else { return false };
            let (stem, end) = name.split_at(stem);
            let [b'.', end @ ..] = end else { return false };
            !stem.is_empty()
                && match self.ignore_case {
                    true => end.eq_ignore_ascii_case(extension.as_bytes()),
                    false => end == extension.as_bytes(),
                }
        })
    }
}

pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Returns the name of a root; empty for `.`, `..` and `/`, which have none.
pub(super) fn of_root(root: &OsStr) -> &OsStr {
    Path::new(root).file_name().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(compiled: &Names, names: &[&'static str]) -> Vec<&'static str> {
        names.iter().copied().filter(|name| compiled.matches(OsStr::new(name))).collect()
    }

    fn of(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn names_any_extension_matches() {
        let all = ["a.c", "b.H", "c.tar.gz", ".c", "c", "d.cc", "e."];
        let filters =
            |words: &[&str], ignore_case| Names::compile(&of(words), &[], ignore_case).unwrap();
        assert_eq!(matches(&filters(&["c", ".h"], false), &all), ["a.c"]);
        assert_eq!(matches(&filters(&["C", "h"], true), &all), ["a.c", "b.H"]);
        assert_eq!(matches(&filters(&["gz"], false), &all), ["c.tar.gz"]);
        assert_eq!(matches(&filters(&["tar.gz"], false), &all), ["c.tar.gz"]);
    }

    #[test]
    #[cfg(feature = "filters")]
    fn names_regex_matches_anywhere_and_both_filters_apply() {
        let all = ["test_a.rs", "a_test.rs", "TEST.rs", "test.c", "\u{e4}.rs"];
        let compile =
            |regexes: &[&str], ignore_case| Names::compile(&of(&["rs"]), &of(regexes), ignore_case);
        let filters = |regexes: &[&str], ignore_case| compile(regexes, ignore_case).unwrap();
        assert_eq!(matches(&filters(&["test"], false), &all), ["test_a.rs", "a_test.rs"]);
        assert_eq!(matches(&filters(&["^test"], true), &all), ["test_a.rs", "TEST.rs"]);
        assert_eq!(
            matches(&filters(&[r"^.\.rs$", "^TEST"], false), &all),
            ["TEST.rs", "\u{e4}.rs"]
        );
        let invalid = compile(&["a", "(b"], false).unwrap_err().to_string();
        assert_eq!(invalid, "cannot parse pattern '(b': unclosed group");
    }

    #[test]
    fn names_of_roots() {
        assert_eq!(of_root(OsStr::new("a/b.c/")), "b.c");
        assert_eq!(of_root(OsStr::new("..")), "");
        assert!(is_hidden(OsStr::new(".git")) && !is_hidden(OsStr::new("a.b")));
    }
}
