//! Globs.

use std::borrow::Cow;
use std::path::Path;

use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};
use transect_sys::{FileType, Verdict};

use crate::error::Error;

/// Compiled globs: including ones, and excluding ones, which begin with `!`.
#[derive(Debug)]
pub(super) struct Globs {
    all: Override,
    /// The globs that match names: a root has a name, but no path below a root.
    name_only: Override,
}

impl Globs {
    pub(super) fn compile(globs: &[String], ignore_case: bool) -> Result<Self, Error> {
        let build = |is_meant: fn(&str) -> bool| {
            let mut builder = OverrideBuilder::new(".");
            let invalid = |error| invalid_glob(&globs.join(" "), &error);
            builder.case_insensitive(ignore_case).map_err(invalid)?;
            for glob in globs.iter().filter(|glob| is_meant(glob)) {
                if glob.trim_start_matches('!').is_empty() {
                    return Err(Error::InvalidPattern(glob.clone(), "it is empty".to_owned()));
                }
                builder.add(&escape_gitignore(glob)).map_err(|error| invalid_glob(glob, &error))?;
            }
            builder.build().map_err(invalid)
        };
        Ok(Self { all: build(|_| true)?, name_only: build(is_name_only)? })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Judges an entry by its path below its root.
    pub(super) fn judge(&self, path: &Path, file_type: FileType) -> Verdict {
        if self.is_empty() {
            return Verdict::Keep;
        }
        let matched = |is_dir| match self.all.matched(path, is_dir) {
            Match::Whitelist(_) => Verdict::Keep,
            Match::Ignore(_) => Verdict::Drop,
            Match::None => self.unmatched(is_dir),
        };
        match file_type {
            FileType::Directory => matched(true),
            // It may be a directory: it passes if either type would.
            FileType::Unknown if matched(false) == Verdict::Drop => matched(true),
            _ => matched(false),
        }
    }

    /// Judges a root by its name, as an entry of the directory that holds it.
    ///
    /// `.`, `..`, `a/..` and `/` have no name of their own; the caller means "here". They are
    /// always read. An including glob never delivers them for matching `.`, and an excluding one
    /// that matches `.` keeps them from being delivered: `!.*` excludes hidden entries, not
    /// everything below the current directory.
    pub(super) fn judge_root(&self, root: &Path, file_type: FileType) -> Verdict {
        let is_dir = file_type == FileType::Directory;
        let name = root.file_name();
        let name_matches = self.name_only.matched(name.unwrap_or(".".as_ref()), is_dir);
        match (name_matches, name) {
            (Match::Whitelist(_), Some(_)) => Verdict::Keep,
            (Match::Ignore(_), Some(_)) => Verdict::Drop,
            (Match::None, _) => self.unmatched(is_dir),
            (_, None) => Verdict::DescendOnly,
        }
    }

    /// Judges an entry that no glob matches: with including globs it is dropped, unless it is a
    /// directory.
    fn unmatched(&self, is_dir: bool) -> Verdict {
        match self.all.num_whitelists() {
            0 => Verdict::Keep,
            _ if is_dir => Verdict::DescendOnly,
            _ => Verdict::Drop,
        }
    }
}

/// Returns whether a glob matches names, not paths: it has no slash, except at its end (only
/// directories) or in a leading `**/` (at any depth).
fn is_name_only(glob: &str) -> bool {
    let glob = glob.strip_prefix('!').unwrap_or(glob);
    let glob = glob.trim_start_matches("**/");
    !glob.strip_suffix('/').unwrap_or(glob).contains('/')
}

/// Escapes characters that are special only in a gitignore file: a leading `#`, and trailing
/// blanks. Unescaped, both would match more than the user typed; a comment matches everything.
fn escape_gitignore(glob: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(glob);
    if glob.starts_with('#') {
        line.to_mut().insert(0, '\\');
    }
    if let Some(last) = glob.chars().next_back().filter(|last| last.is_whitespace()) {
        let line = line.to_mut();
        line.pop();
        let escapes = line.chars().rev().take_while(|&before| before == '\\').count();
        if escapes % 2 == 1 {
            line.pop();
        }
        line.extend(['[', last, ']']);
    }
    line
}

/// Returns the error for a glob: with the reason alone, as the message names the glob already.
pub(crate) fn invalid_glob(glob: &str, error: &ignore::Error) -> Error {
    let text = error.to_string();
    let reason = text.rsplit_once("': ").map_or(&*text, |(_, reason)| reason);
    Error::InvalidPattern(glob.to_owned(), reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(globs: &[&str]) -> Globs {
        let globs: Vec<String> = globs.iter().map(|&glob| glob.to_owned()).collect();
        Globs::compile(&globs, false).unwrap()
    }

    #[test]
    fn globs_gitignore_special_characters_taken_literally() {
        for (glob, name) in [
            ("#notes", "#notes"),
            ("a ", "a "),
            (r"a\ ", "a "),
            ("a\t", "a\t"),
            ("\\a\t", "a\t"),
            (" ", " "),
        ] {
            let globs = compile(&[glob]);
            assert_eq!(globs.judge(Path::new(name), FileType::File), Verdict::Keep, "{glob:?}");
            for other in ["a", "notes", "anything"] {
                let verdict = globs.judge(Path::new(other), FileType::File);
                assert_eq!(verdict, Verdict::Drop, "{glob:?} and {other}");
            }
        }
        for glob in ["", "!", "!!"] {
            assert!(Globs::compile(&[glob.to_owned()], false).is_err(), "{glob:?}");
        }
    }

    #[test]
    fn globs_root_judged_as_entry_of_its_name() {
        use Verdict::{DescendOnly, Drop, Keep};
        for (globs, root, verdict) in [
            (&["*.tmp"][..], "victim", DescendOnly),
            (&["vic*"], "victim", Keep),
            (&["vic*"], "a/victim/", Keep),
            (&["**/victim"], "victim", Keep),
            (&["victim/"], "victim", Keep),
            (&["!*"], "victim", Drop),
            (&["!victim/"], "victim", Drop),
            (&["*", "!victim"], "victim", Drop),
            (&["!*", "victim"], "victim", Keep),
            (&["!other"], "victim", Keep),
            // Globs for paths below a root, which the root itself does not have.
            (&["/victim"], "victim", DescendOnly),
            (&["/*"], "victim", DescendOnly),
            (&["victim/**"], "victim", DescendOnly),
            (&["!/victim"], "victim", Keep),
            (&["!victim/**"], "victim", Keep),
            // Roots without a name.
            (&["*"], ".", DescendOnly),
            (&[".*"], "..", DescendOnly),
            (&["!*"], ".", DescendOnly),
            // The matcher does not take `.` for a name on Windows.
            #[cfg(unix)]
            (&["!.*"], "a/..", DescendOnly),
            (&["!*.o"], ".", Keep),
            (&["*.o"], "/", DescendOnly),
        ] {
            let globs_compiled = compile(globs);
            let got = globs_compiled.judge_root(Path::new(root), FileType::Directory);
            assert_eq!(got, verdict, "{globs:?} and {root}");
        }
        for (globs, verdict) in [(&["*.rs"][..], Keep), (&["*.c"], Drop), (&["/a.rs"], Drop)] {
            let got = compile(globs).judge_root(Path::new("dir/a.rs"), FileType::File);
            assert_eq!(got, verdict, "{globs:?}");
        }
    }
}
