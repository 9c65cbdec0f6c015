//! The rules of `.gitignore` files, and of others that are written like them.
//!
//! A directory without a file of rules shares the rules of the nearest directory above that has
//! one. No paths are stored, except that of a root below rules above it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use super::wildmatch::Pattern;
use crate::error::{Error, Operation, ScanError};
use crate::path::strip_prefix_bytes;

/// The name of git's files of rules.
const GITIGNORE: &str = ".gitignore";

/// The name that is always ignored with them.
const REPOSITORY_DIR: &str = ".git";

/// The maximum size of a file of rules.
const MAX_RULES_BYTES: u64 = 16 << 20;

/// Where rules apply, which callers of `ignore` choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitScope {
    /// Files of rules above the roots do not apply, whatever their name.
    pub(crate) below_roots: bool,
    /// Which `.gitignore` files outside of repositories apply.
    pub(crate) outside: Outside,
    /// `.git` is an entry as any other.
    pub(crate) keep_git_dir: bool,
    /// `.gitignore` files do not apply.
    pub(crate) skip_gitignore: bool,
    /// `.git/info/exclude` does not apply.
    pub(crate) skip_exclude: bool,
    /// The user's file of rules does not apply.
    pub(crate) skip_global: bool,
}

/// Which `.gitignore` files apply that are in no repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Those at and below the roots.
    #[default]
    Below,
    /// Those above the roots, too.
    All,
    None,
}

/// Which files of rules apply.
#[derive(Debug)]
pub(crate) struct RulesFiles {
    /// Git's rules apply, also those of its settings and of the repository.
    gitignore: bool,
    scope: GitScope,
    /// The names of the files, by rank: rules of a later name override those of earlier ones.
    names: Box<[String]>,
    /// The rules of the current directory that the caller adds. All others override them.
    added: Vec<Rules>,
}

impl RulesFiles {
    /// Describes the files with these names, beside git's, and reads those at `paths`. A build that cannot apply
    /// rules returns an error.
    pub(super) fn new(gitignore: bool, names: &[String], paths: &[PathBuf]) -> Result<Self, Error> {
        let git = gitignore.then(|| GITIGNORE.to_owned());
        let names = git.into_iter().chain(names.iter().cloned()).collect();
        let read = |path: &PathBuf| match read_file(path, true) {
            Ok(text) => Ok(Rules::parse(&text)),
            Err(error) => Err(ScanError::new(Operation::ReadRules, path.clone(), 0, error)),
        };
        let added = paths.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { gitignore, scope: GitScope::default(), names, added })
    }

    pub(super) fn in_scope(self, scope: GitScope) -> Self {
        Self { scope, ..self }
    }

    pub(crate) fn are_used(&self) -> bool {
        !self.names.is_empty() || !self.added.is_empty()
    }

    /// Returns whether a directory with an entry of this name may have rules of its own.
    pub(crate) fn may_be(&self, name: &OsStr) -> bool {
        self.gitignore && name == REPOSITORY_DIR
            || self.names.iter().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// Returns whether an entry of this name is ignored whatever the rules are.
    pub(super) fn always_ignore(&self, name: &OsStr) -> bool {
        self.gitignore && !self.scope.keep_git_dir && name == REPOSITORY_DIR
    }

    /// Returns the rules in the directories above an entry, and the first error: git's up to the repository that holds
    /// it, and outside of a repository as [`Outside`] says; others up to the top of the file system.
    ///
    /// `entry` is a canonical path.
    pub(super) fn above(&self, entry: &Path) -> (IgnoreRules, Option<io::Error>) {
        let (mut ignore_rules, mut failed) = (self.added_above(entry), None);
        let repository = entry.ancestors().find(|dir| self.gitignore && is_repository(dir));
        ignore_rules.in_repository = repository.is_some();
        if self.scope.below_roots {
            return (ignore_rules, failed);
        }
        let mut files = match repository {
            Some(repository) => self.of_repository(repository, entry),
            None if self.gitignore && self.scope.outside == Outside::All => {
                self.gitignore_above(entry).collect()
            }
            None => Vec::new(),
        };
        let others = self.names.iter().enumerate().skip(usize::from(self.gitignore));
        for (rank, name) in others {
            let above = entry.ancestors().skip(1);
            files.extend(above.map(|dir| FileAbove { dir, file: dir.join(name), rank }));
        }
        for FileAbove { dir, file, rank } in files.into_iter().rev() {
            let to_root = entry.strip_prefix(dir).unwrap_or(Path::new(""));
            let (rules, error) = read_rules(&file, !file.ends_with(GITIGNORE));
            ignore_rules = ignore_rules.with(rules, rank, to_root, 0);
            failed = failed.or(error);
        }
        (ignore_rules, failed)
    }

    /// Returns the rules that the caller adds. For an entry elsewhere than in the current directory, only those match
    /// that match at any depth.
    fn added_above(&self, entry: &Path) -> IgnoreRules {
        if self.added.is_empty() {
            return IgnoreRules::default();
        }
        let current = std::env::current_dir().and_then(|path| path.canonicalize());
        let to_root = current.ok().and_then(|path| entry.strip_prefix(path).ok()).unwrap_or(entry);
        let added = self.added.iter().cloned();
        added.fold(IgnoreRules::default(), |above, rules| above.with(rules, 0, to_root, 0))
    }

    /// Returns git's files of rules for an entry in a repository: those above the entry, and those of the repository, the
    /// nearest first. Those of a repository that the entry is itself come with the rules in it.
    fn of_repository<'e>(&self, repository: &'e Path, entry: &'e Path) -> Vec<FileAbove<'e>> {
        let above = self.gitignore_above(entry).take_while(|it| it.dir.starts_with(repository));
        let mut files: Vec<_> = above.collect();
        if entry != repository {
            let others = self.outside_of(repository);
            files.extend(others.rev().map(|file| FileAbove { dir: repository, file, rank: 0 }));
        }
        files
    }

    /// Adds the rules in a directory, `root_prefix_len` bytes below its root, to those above it. Returns them with an
    /// error in reading them.
    pub(super) fn add_rules_in(
        &self,
        mut above: IgnoreRules,
        dir: &Path,
        root_prefix_len: usize,
    ) -> (IgnoreRules, Option<io::Error>) {
        let is_repository = self.gitignore && is_repository(dir);
        above.in_repository |= is_repository;
        let outside = is_repository.then(|| self.outside_of(dir)).into_iter().flatten();
        let is_inside = above.in_repository || self.scope.outside != Outside::None;
        let applies = |name: &str| name != GITIGNORE || is_inside && !self.scope.skip_gitignore;
        let names = self.names.iter().enumerate().filter(|(_, name)| applies(name));
        let inside = names.map(|(rank, name)| (rank, dir.join(name)));
        let files: Vec<_> = outside.map(|file| (0, file)).chain(inside).collect();
        let mut failed = None;
        for (rank, file) in files {
            let (rules, error) = read_rules(&file, !file.ends_with(GITIGNORE));
            above = above.with(rules, rank, Path::new(""), root_prefix_len);
            failed = failed.or(error);
        }
        (above, failed)
    }

    fn gitignore_above<'e>(
        &self,
        entry: &'e Path,
    ) -> impl Iterator<Item = FileAbove<'e>> + use<'e> {
        let count = if self.scope.skip_gitignore { 0 } else { usize::MAX };
        let above = entry.ancestors().skip(1).take(count);
        above.map(|dir| FileAbove { dir, file: dir.join(GITIGNORE), rank: 0 })
    }

    /// Returns git's files of rules for a repository that are in none of its directories: later ones override others.
    fn outside_of(&self, repository: &Path) -> impl DoubleEndedIterator<Item = PathBuf> + use<> {
        let GitScope { skip_global, skip_exclude, .. } = self.scope;
        let global = (!skip_global).then(ignore::gitignore::gitconfig_excludes_path).flatten();
        let exclude = (!skip_exclude).then(|| repository.join(REPOSITORY_DIR).join("info/exclude"));
        global.into_iter().chain(exclude)
    }
}

fn is_repository(dir: &Path) -> bool {
    dir.join(REPOSITORY_DIR).exists()
}

/// A file of rules above a root. Its patterns are relative to `dir`.
struct FileAbove<'e> {
    dir: &'e Path,
    file: PathBuf,
    rank: usize,
}

/// The rules that apply in a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules {
    nearest: Option<Arc<RulesFile>>,
    in_repository: bool,
}

#[derive(Debug)]
struct RulesFile {
    rules: Rules,
    rank: usize,
    /// The highest rank of this file and those before it.
    highest: usize,
    /// The path from the directory of the rules to the root; empty at or below a root.
    to_root: PathBuf,
    /// The length in bytes of the path from the root to the directory of the rules, with a
    /// separator at the end.
    root_prefix_len: usize,
    next: Option<Arc<RulesFile>>,
}

impl IgnoreRules {
    fn with(self, rules: Rules, rank: usize, to_root: &Path, root_prefix_len: usize) -> Self {
        if rules.0.is_empty() {
            return self;
        }
        let highest = self.highest().max(rank);
        let file = RulesFile {
            rules,
            rank,
            highest,
            to_root: to_root.into(),
            root_prefix_len,
            next: self.nearest,
        };
        Self { nearest: Some(Arc::new(file)), ..self }
    }

    fn highest(&self) -> usize {
        self.nearest.as_ref().map_or(0, |file| file.highest)
    }

    /// Returns whether the rules exclude an entry below a root. `path` starts at the root.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let path_of = |file: &RulesFile| match file.is_above_root() {
            true => with_slashes(file.to_root.join(path).into()),
            false => with_slashes(strip_prefix_bytes(path, file.root_prefix_len).into()),
        };
        self.decide(path, is_dir, |_| true, path_of)
    }

    /// Returns whether the rules above a root exclude the root itself.
    pub(super) fn ignores_root(&self, root: &Path, is_dir: bool) -> bool {
        let path_of = |file: &RulesFile| with_slashes(file.to_root.clone().into());
        self.decide(root, is_dir, RulesFile::is_above_root, path_of)
    }

    /// Asks the files of the highest rank first, and of each rank the nearest one first, until a rule matches.
    fn decide<'p>(
        &self,
        path: &Path,
        is_dir: bool,
        counts: impl Fn(&RulesFile) -> bool,
        path_of: impl Fn(&RulesFile) -> Cow<'p, [u8]>,
    ) -> bool {
        let of_rank = |rank| self.nearest_first().filter(move |file| file.rank == rank);
        let mut files = (0..=self.highest()).rev().flat_map(of_rank).filter(|file| counts(file));
        files.find_map(|file| file.ignores(path, is_dir, || path_of(file))).unwrap_or(false)
    }

    fn nearest_first(&self) -> impl Iterator<Item = &RulesFile> {
        std::iter::successors(self.nearest.as_deref(), |file| file.next.as_deref())
    }
}

impl RulesFile {
    fn is_above_root(&self) -> bool {
        !self.to_root.as_os_str().is_empty()
    }

    /// Finds the last rule that matches an entry, and returns whether it excludes the entry; `None` if none
    /// matches. `relative` returns the path from the directory of the file.
    fn ignores<'p>(
        &self,
        entry: &Path,
        is_dir: bool,
        relative: impl Fn() -> Cow<'p, [u8]>,
    ) -> Option<bool> {
        let name = entry.file_name().unwrap_or_default().as_encoded_bytes();
        let mut path = None;
        let last = self.rules.last_match(name, |rule| match rule {
            Rule { directories_only: true, .. } if !is_dir => false,
            Rule { names_only: true, pattern, .. } => pattern.matches(name),
            Rule { pattern, .. } => pattern.matches(path.get_or_insert_with(&relative)),
        });
        last.map(|rule| !rule.is_negated)
    }
}

/// The rules of a file, sorted by [`Key`]: an entry is compared with those of three keys.
#[derive(Clone, Debug, Default)]
struct Rules(Arc<[Rule]>);

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
        let parent = IgnoreRules::default().with(Rules::parse(b"*.log"), 0, Path::new(""), 0);
        let below = parent.clone().with(Rules::default(), 0, Path::new(""), 5);
        assert!(Arc::ptr_eq(&parent.nearest.unwrap(), below.nearest.as_ref().unwrap()));
        assert!(below.ignores(Path::new("some/x.log"), false));
    }

    #[test]
    fn rules_last_line_decides_whatever_its_key() {
        let ignored = |rules: &str| {
            let rules = Rules::parse(rules.as_bytes());
            let rules = IgnoreRules::default().with(rules, 0, Path::new(""), 0);
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
