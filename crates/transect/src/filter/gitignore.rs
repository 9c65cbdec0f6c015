//! The rules of `.gitignore` files.
//!
//! A directory without a file of rules shares the rules of the nearest directory above that has
//! one. No paths are stored, except that of a root below rules above it.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::Error;
use crate::path::strip_prefix_bytes;

/// The name of the files of rules.
pub(super) const RULES_FILE: &str = ".gitignore";

/// The name that is always ignored.
pub(super) const REPOSITORY_DIR: &str = ".git";

/// The maximum size of a file of rules.
const MAX_RULES_BYTES: u64 = 16 << 20;

/// Returns an error if rules are to be applied and this build cannot.
pub(super) fn check_supported(_is_applied: bool) -> Result<(), Error> {
    Ok(())
}

/// The gitignore rules that apply in a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules(Option<Arc<RulesFile>>);

#[derive(Debug)]
struct RulesFile {
    matcher: Gitignore,
    /// The path from the directory of the rules to the root; empty at or below a root.
    to_root: PathBuf,
    /// The length in bytes of the path from the root to the directory of the rules, with a
    /// separator at the end.
    root_prefix_len: usize,
    parent: IgnoreRules,
}

impl IgnoreRules {
    /// Returns the rules in the directories above an entry, up to the repository that holds it, and
    /// the first error. Outside a repository there are none.
    ///
    /// `entry` is a canonical path.
    pub(super) fn above(entry: &Path) -> (Self, Option<io::Error>) {
        let Some(repository) = entry.ancestors().find(|dir| dir.join(REPOSITORY_DIR).exists())
        else {
            return (Self::default(), None);
        };
        let between = entry.ancestors().skip(1).take_while(|dir| dir.starts_with(repository));
        let mut files: Vec<(&Path, &str)> = between.map(|dir| (dir, RULES_FILE)).collect();
        files.push((repository, ".git/info/exclude"));
        let (mut ignore_rules, mut failed) = (Self::default(), None);
        for (dir, file) in files.into_iter().rev() {
            let to_root = entry.strip_prefix(dir).unwrap_or(Path::new(""));
            let (matcher, error) = read_rules(&dir.join(file));
            ignore_rules = ignore_rules.with(matcher, to_root, 0);
            failed = failed.or(error);
        }
        (ignore_rules, failed)
    }

    /// Adds the rules in a directory, `root_prefix_len` bytes below its root. Returns them with an
    /// error in reading them.
    pub(super) fn add_rules_in(
        self,
        dir: &Path,
        root_prefix_len: usize,
    ) -> (Self, Option<io::Error>) {
        let (matcher, failed) = read_rules(&dir.join(RULES_FILE));
        (self.with(matcher, Path::new(""), root_prefix_len), failed)
    }

    fn with(self, matcher: Option<Gitignore>, to_root: &Path, root_prefix_len: usize) -> Self {
        let Some(matcher) = matcher else { return self };
        Self(Some(Arc::new(RulesFile {
            matcher,
            to_root: to_root.into(),
            root_prefix_len,
            parent: self,
        })))
    }

    /// Returns whether the rules exclude an entry below a root. `path` starts at the root.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        self.decide(is_dir, |rules| match rules.is_above_root() {
            true => Some(rules.to_root.join(path).into()),
            false => Some(strip_prefix_bytes(path, rules.root_prefix_len).into()),
        })
    }

    /// Returns whether the rules above a root exclude the root itself.
    pub(super) fn ignores_root(&self, is_dir: bool) -> bool {
        self.decide(is_dir, |rules| rules.is_above_root().then(|| rules.to_root.as_path().into()))
    }

    /// Finds the nearest rules that match a path. `path_of` returns the path relative to their
    /// directory.
    fn decide<'a>(
        &'a self,
        is_dir: bool,
        path_of: impl Fn(&'a RulesFile) -> Option<Cow<'a, Path>>,
    ) -> bool {
        let nearest_first =
            std::iter::successors(self.0.as_deref(), |rules| rules.parent.0.as_deref());
        for rules in nearest_first {
            let Some(path) = path_of(rules) else { continue };
            match rules.matcher.matched(path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

impl RulesFile {
    fn is_above_root(&self) -> bool {
        !self.to_root.as_os_str().is_empty()
    }
}

/// Reads a file of rules; `None` if it does not exist or is empty. Invalid lines are ignored.
fn read_rules(file: &Path) -> (Option<Gitignore>, Option<io::Error>) {
    let text = match read_file(file) {
        Ok(Some(text)) => text,
        Ok(None) => return (None, None),
        Err(error) => return (None, Some(error)),
    };
    let (mut builder, mut failed) = (GitignoreBuilder::new("."), None);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    for line in text.split(|&byte| byte == b'\n') {
        match std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
            // Like git, ignore a line that does not parse.
            Ok(line) => drop(builder.add_line(None, line)),
            Err(error) => failed = Some(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
    let rules = builder.build().ok().filter(|rules| !rules.is_empty());
    (rules, failed)
}

/// Reads a regular file; `None` if it does not exist. Opening a named pipe would wait for its
/// writer.
#[expect(clippy::disallowed_methods, reason = "a file of rules, not an entry of the walk")]
fn read_file(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if is_not_found(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = Vec::new();
    std::fs::File::open(file)?.take(MAX_RULES_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_RULES_BYTES {
        let reason = format!("rules of more than {MAX_RULES_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(Some(text))
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: each directory had its own rules with its path, so 30,000 levels took 12 GB.
    #[test]
    fn ignore_rules_directory_without_file_shares_parent() {
        let mut builder = GitignoreBuilder::new(".");
        builder.add_line(None, "*.log").unwrap();
        let rules = builder.build().unwrap();
        let parent = IgnoreRules::default().with(Some(rules), Path::new(""), 0);
        let below = parent.clone().with(None, Path::new(""), 5);
        assert!(Arc::ptr_eq(&parent.0.unwrap(), below.0.as_ref().unwrap()));
        assert!(below.ignores(Path::new("some/x.log"), false));
    }
}
