//! The rules of `.gitignore` files.
//!
//! A directory without a file of rules shares the rules of the nearest directory above that has
//! one. No paths are stored, except that of a root below rules above it.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use super::wildmatch::Pattern;
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
    rules: Rules,
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
            let (rules, error) = read_rules(&dir.join(file), file != RULES_FILE);
            ignore_rules = ignore_rules.with(rules, to_root, 0);
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
        let (rules, failed) = read_rules(&dir.join(RULES_FILE), false);
        (self.with(rules, Path::new(""), root_prefix_len), failed)
    }

    fn with(self, rules: Rules, to_root: &Path, root_prefix_len: usize) -> Self {
        if rules.0.is_empty() {
            return self;
        }
        Self(Some(Arc::new(RulesFile {
            rules,
            to_root: to_root.into(),
            root_prefix_len,
            parent: self,
        })))
    }

    /// Returns whether the rules exclude an entry below a root. `path` starts at the root.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let path_of = |file: &RulesFile| match file.is_above_root() {
            true => with_slashes(file.to_root.join(path).into()),
            false => with_slashes(strip_prefix_bytes(path, file.root_prefix_len).into()),
        };
        RulesFile::ignore(self.nearest_first(), path, is_dir, path_of)
    }

    /// Returns whether the rules above a root exclude the root itself.
    pub(super) fn ignores_root(&self, root: &Path, is_dir: bool) -> bool {
        let above = self.nearest_first().filter(|file| file.is_above_root());
        RulesFile::ignore(above, root, is_dir, |file| with_slashes(file.to_root.as_path().into()))
    }

    fn nearest_first(&self) -> impl Iterator<Item = &RulesFile> {
        std::iter::successors(self.0.as_deref(), |file| file.parent.0.as_deref())
    }
}

impl RulesFile {
    fn is_above_root(&self) -> bool {
        !self.to_root.as_os_str().is_empty()
    }

    /// Finds the last rule that matches an entry, in the first file that has one, and returns whether
    /// it excludes the entry. `path_of` returns the path relative to the directory of a file.
    fn ignore<'a, 'p>(
        files: impl Iterator<Item = &'a Self>,
        entry: &Path,
        is_dir: bool,
        path_of: impl Fn(&'a Self) -> Cow<'p, [u8]>,
    ) -> bool {
        let name = entry.file_name().unwrap_or_default().as_encoded_bytes();
        for file in files {
            let mut path = None;
            let last = file.rules.last_match(name, |rule| match rule {
                Rule { directories_only: true, .. } if !is_dir => false,
                Rule { names_only: true, pattern, .. } => pattern.matches(name),
                Rule { pattern, .. } => pattern.matches(path.get_or_insert_with(|| path_of(file))),
            });
            if let Some(rule) = last {
                return !rule.is_negated;
            }
        }
        false
    }
}

/// The rules of a file, sorted by [`Key`]: an entry is compared with those of three keys.
#[derive(Debug, Default)]
struct Rules(Box<[Rule]>);

/// What the name of an entry must have for a rule to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Anything,
    FirstByte(u8),
    LastByte(u8),
}

impl Rules {
    fn parse(text: &[u8]) -> Self {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        let rules = text.split(|&byte| byte == b'\n').filter_map(Rule::parse).enumerate();
        let mut rules: Vec<Rule> = rules.map(|(number, rule)| Rule { number, ..rule }).collect();
        rules.sort_by_key(|rule| (rule.key, rule.number));
        Self(rules.into())
    }

    /// Returns the last rule of the file that matches an entry of this name.
    fn last_match(&self, name: &[u8], mut matches: impl FnMut(&Rule) -> bool) -> Option<&Rule> {
        let first = name.first().copied().map(Key::FirstByte);
        let last = name.last().copied().map(Key::LastByte);
        let keys = [Some(Key::Anything), first, last].into_iter().flatten();
        let last = keys.filter_map(|key| self.of(key).iter().rev().find(|rule| matches(rule)));
        last.max_by_key(|rule| rule.number)
    }

    fn of(&self, key: Key) -> &[Rule] {
        let rules = &self.0[self.0.partition_point(|rule| rule.key < key)..];
        &rules[..rules.partition_point(|rule| rule.key == key)]
    }
}

/// One line of a file of rules.
#[derive(Debug)]
struct Rule {
    key: Key,
    /// Its place in the file: the last rule that matches decides.
    number: usize,
    pattern: Pattern,
    /// It excludes nothing, but ends the search (`!`).
    is_negated: bool,
    /// It matches directories only (a slash at the end).
    directories_only: bool,
    /// It matches names at any depth, not paths (no other slash).
    names_only: bool,
}

impl Rule {
    /// Parses a line; `None` if it can match nothing: a blank line, a comment, an invalid pattern.
    fn parse(line: &[u8]) -> Option<Self> {
        if line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // For git, a line ends at a NUL byte.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = trim_spaces(line);
        let (is_negated, line) = strip(line.strip_prefix(b"!"), line);
        let (directories_only, line) = strip(line.strip_suffix(b"/"), line);
        let names_only = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        let pattern = Pattern::parse(line).filter(|_| !line.is_empty())?;
        let first = pattern.first().filter(|_| names_only);
        let key = match (pattern.last(), first) {
            (Some(last), _) => Key::LastByte(last),
            (None, Some(first)) => Key::FirstByte(first),
            (None, None) => Key::Anything,
        };
        Some(Self { key, number: 0, pattern, is_negated, directories_only, names_only })
    }
}

/// Returns whether something was stripped, and what remains.
fn strip<'l>(stripped: Option<&'l [u8]>, line: &'l [u8]) -> (bool, &'l [u8]) {
    (stripped.is_some(), stripped.unwrap_or(line))
}

/// Removes the spaces at the end of a line. A backslash keeps the one after it.
fn trim_spaces(line: &[u8]) -> &[u8] {
    let is_not = |byte: u8| move |&it: &u8| it != byte;
    let end = line.iter().rposition(is_not(b' ')).map_or(0, |last| last + 1);
    let backslashes = end - line[..end].iter().rposition(is_not(b'\\')).map_or(0, |it| it + 1);
    &line[..line.len().min(end + backslashes % 2)]
}

/// Returns the bytes of a path, with slashes, as patterns have them.
fn with_slashes(path: Cow<'_, Path>) -> Cow<'_, [u8]> {
    let mut bytes = match path {
        Cow::Borrowed(path) => Cow::Borrowed(path.as_os_str().as_encoded_bytes()),
        Cow::Owned(path) => Cow::Owned(path.into_os_string().into_encoded_bytes()),
    };
    if MAIN_SEPARATOR != '/' {
        let separators = bytes.to_mut().iter_mut().filter(|byte| **byte == MAIN_SEPARATOR as u8);
        separators.for_each(|byte| *byte = b'/');
    }
    bytes
}

/// Reads a file of rules. There are none if it does not exist.
fn read_rules(file: &Path, follow: bool) -> (Rules, Option<io::Error>) {
    match read_file(file, follow) {
        Ok(text) => (Rules::parse(&text), None),
        Err(error) if is_not_found(&error) => (Rules::default(), None),
        Err(error) => (Rules::default(), Some(error)),
    }
}

/// Reads a regular file; another one is empty. Opening a named pipe would wait for its writer. Git
/// does not follow a link to a `.gitignore` file.
#[expect(clippy::disallowed_methods, reason = "a file of rules, not an entry of the walk")]
fn read_file(file: &Path, follow: bool) -> io::Result<Vec<u8>> {
    let metadata = if follow { std::fs::metadata(file) } else { std::fs::symlink_metadata(file) };
    let mut text = Vec::new();
    if !metadata?.is_file() {
        return Ok(text);
    }
    transect_sys::input::open_regular(file)?.take(MAX_RULES_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_RULES_BYTES {
        let reason = format!("rules of more than {MAX_RULES_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(text)
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
        let parent = IgnoreRules::default().with(Rules::parse(b"*.log"), Path::new(""), 0);
        let below = parent.clone().with(Rules::default(), Path::new(""), 5);
        assert!(Arc::ptr_eq(&parent.0.unwrap(), below.0.as_ref().unwrap()));
        assert!(below.ignores(Path::new("some/x.log"), false));
    }

    #[test]
    fn rules_last_line_decides_whatever_its_key() {
        let ignored = |rules: &str| {
            let rules = IgnoreRules::default().with(Rules::parse(rules.as_bytes()), "".as_ref(), 0);
            rules.ignores(Path::new("d/ab"), false)
        };
        for line in ["*b", "a*", "?b", "*", "/d/ab", "**/ab", "d/*"] {
            for other in ["*b", "a*", "?b", "*", "/d/ab", "**/ab", "d/*"] {
                assert!(ignored(&format!("!{other}\nx\n{line}\nxb\nay\n")), "{other}, {line}");
                assert!(!ignored(&format!("{other}\nx\n!{line}\nxb\nay\n")), "{other}, {line}");
            }
        }
    }

    #[test]
    fn rule_spaces_at_end_kept_after_backslash() {
        for (line, expected) in [
            ("a", "a"),
            ("a  ", "a"),
            (r"a\ ", r"a\ "),
            (r"a\  ", r"a\ "),
            (r"a\\ ", r"a\\"),
            (r"a\ \ ", r"a\ \ "),
            ("  ", ""),
            ("a\t", "a\t"),
            (r"\", r"\"),
        ] {
            assert_eq!(trim_spaces(line.as_bytes()), expected.as_bytes(), "{line:?}");
        }
    }
}
