//! What is left out: by name (globs, gitignore rules), by type, and by attributes.
//!
//! Cheap questions come first. Names and types are judged between listing and asking: an entry
//! that is left out by them costs no system call. Only what is left is asked about, and judged by
//! its attributes ([`Conditions`]). Matching is the `ignore` crate's; its walker is not used.

mod conditions;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use transect_sys::{EntryRef, FieldMask, FileType, Verdict, Want};

use crate::dir::Dir;
use crate::error::Error;
use crate::sink::SkipReason;

pub use conditions::Conditions;

/// What is left out. Directories that are not delivered are read all the same, unless a glob or a
/// rule leaves them out with all that is below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Globs as `rg --glob` takes them: one without `!` includes, one with `!` excludes, the last
    /// that matches decides; without a slash it is about names, with one about paths below a root.
    pub globs: Vec<String>,
    /// Honour `.gitignore` files, and leave `.git` out.
    pub gitignore: bool,
    /// Deliver only entries at least this many steps below their root.
    pub min_depth: u32,
    /// Deliver only entries of these types; none means all.
    pub types: Vec<FileType>,
    /// Deliver only entries whose attributes are as they must be.
    pub conditions: Conditions,
}

/// Filters, ready for use.
#[derive(Debug)]
pub(crate) struct Filter {
    globs: Override,
    gitignore: bool,
    min_depth: u32,
    types: Types,
    conditions: Option<Conditions>,
}

/// Some file types, or all of them.
#[derive(Clone, Copy, Debug)]
struct Types(u8);

impl Types {
    const ALL: Self = Self(u8::MAX);

    fn of(types: &[FileType]) -> Self {
        match types {
            [] => Self::ALL,
            types => Self(types.iter().fold(0, |set, &file_type| set | 1 << file_type as u8)),
        }
    }

    fn contain(self, file_type: FileType) -> bool {
        self.0 & 1 << file_type as u8 != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The gitignore rules in force in a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Option<Arc<Rules>>);

#[derive(Debug)]
struct Rules {
    /// The directory, by its canonical root: rules above the root apply, too.
    path: PathBuf,
    /// The rules of this directory, then those of the directories above.
    here: Option<Gitignore>,
    above: Scope,
}

impl Filters {
    /// Compiles the filters; `None` if they leave nothing out.
    pub(crate) fn compile(&self) -> Result<Option<Filter>, Error> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut builder = OverrideBuilder::new(".");
        for glob in &self.globs {
            if let Err(error) = builder.add(glob) {
                return Err(Error::Pattern(glob.clone(), plain(&error)));
            }
        }
        let globs =
            builder.build().map_err(|error| Error::Pattern(self.globs.join(" "), plain(&error)))?;
        let Self { gitignore, min_depth, conditions, .. } = *self;
        let mut types = Types::of(&self.types);
        if conditions.are_about_size() {
            types = types.and(Types::of(&[FileType::File]));
        }
        let conditions = Some(conditions).filter(|conditions| !conditions.fields().is_empty());
        Ok(Some(Filter { globs, gitignore, min_depth, types, conditions }))
    }
}

/// The reason without the pattern, which the message names already.
fn plain(error: &ignore::Error) -> String {
    let text = error.to_string();
    text.rsplit_once("': ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}

impl Filter {
    /// Returns the rules for a directory, and what went wrong in reading them.
    pub(crate) fn enter(
        &self,
        above: &Scope,
        name: &OsStr,
        is_root: bool,
    ) -> (Scope, Option<std::io::Error>) {
        if !self.gitignore {
            return (Scope::default(), None);
        }
        let (above, path) = match &above.0 {
            Some(rules) if !is_root => (above.clone(), rules.path.join(name)),
            _ => rules_above(Path::new(name)),
        };
        let (here, error) = read_rules(&path, &[".gitignore"]);
        (Scope(Some(Arc::new(Rules { path, here, above }))), error)
    }

    /// Decides about one entry of a directory. `relative` is the path of the directory below its
    /// root; the entry's name is appended while it is looked at.
    pub(crate) fn judge<T>(
        &self,
        dir: &Dir<T>,
        relative: &mut PathBuf,
        entry: EntryRef<'_>,
    ) -> (Verdict, Option<SkipReason>) {
        if self.is_ignored(&dir.scope, entry) {
            return (Verdict::Drop, Some(SkipReason::Gitignore));
        }
        let verdict = self.judge_glob(relative, entry);
        match verdict {
            Verdict::Drop => (verdict, Some(SkipReason::Excluded)),
            Verdict::Keep if dir.entry_depth() < self.min_depth => (Verdict::DescendOnly, None),
            Verdict::Keep => (self.judge_type(entry.file_type()), None),
            _ => (verdict, None),
        }
    }

    /// A root was named by the user: no glob and no rule can leave it out.
    pub(crate) fn judge_root(&self, entry: EntryRef<'_>) -> Verdict {
        if self.min_depth > 0 {
            return Verdict::DescendOnly;
        }
        self.judge_attributes(EntryRef { verdict: self.judge_type(entry.file_type()), ..entry })
    }

    /// What is of another type is left out before it is asked about; a directory is passed through,
    /// and so is what may be one.
    fn judge_type(&self, file_type: FileType) -> Verdict {
        match file_type {
            _ if self.types.contain(file_type) => Verdict::Keep,
            FileType::Directory | FileType::Unknown => Verdict::DescendOnly,
            _ => Verdict::Drop,
        }
    }

    /// Returns whether entries have to be judged once more, when their attributes are known.
    pub(crate) fn has_conditions(&self) -> bool {
        self.conditions.is_some()
    }

    /// Adds the attributes that entries are judged by to what is asked for.
    pub(crate) fn add_to(&self, want: &mut Want) {
        let fields = self.conditions.map_or(FieldMask::empty(), |conditions| conditions.fields());
        want.entries |= fields;
        if self.types.contain(FileType::Directory) {
            want.directories |= fields;
        }
    }

    /// Decides once more about an entry, whose attributes are known by now.
    pub(crate) fn judge_attributes(&self, entry: EntryRef<'_>) -> Verdict {
        let holds = |conditions: &Conditions| conditions.hold(entry.attributes);
        match entry.verdict {
            Verdict::Keep if !self.conditions.as_ref().is_none_or(holds) => Verdict::DescendOnly,
            Verdict::Prune if !self.conditions.as_ref().is_none_or(holds) => Verdict::Drop,
            verdict => verdict,
        }
    }

    fn judge_glob(&self, relative: &mut PathBuf, entry: EntryRef<'_>) -> Verdict {
        if self.globs.is_empty() {
            return Verdict::Keep;
        }
        relative.push(entry.name);
        let verdict = self.judge_path(relative, entry.file_type());
        relative.pop();
        verdict
    }

    fn judge_path(&self, path: &Path, file_type: FileType) -> Verdict {
        let matched = |is_dir| match self.globs.matched(path, is_dir) {
            Match::Whitelist(_) => Verdict::Keep,
            Match::Ignore(_) => Verdict::Drop,
            // What no including glob names is only passed through.
            Match::None if self.globs.num_whitelists() > 0 => Verdict::DescendOnly,
            Match::None => Verdict::Keep,
        };
        match file_type {
            FileType::Directory => matched(true),
            // Not known yet whether it is a directory: it must pass if either would.
            FileType::Unknown if matched(false) == Verdict::Drop => matched(true),
            _ => matched(false),
        }
    }

    fn is_ignored(&self, scope: &Scope, entry: EntryRef<'_>) -> bool {
        let Some(rules) = &scope.0 else { return false };
        if entry.name == ".git" {
            return true;
        }
        let path = rules.path.join(entry.name);
        let is_dir = entry.file_type() == FileType::Directory;
        let mut scope = scope;
        while let Some(rules) = &scope.0 {
            match rules.here.as_ref().map_or(Match::None, |here| here.matched(&path, is_dir)) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => scope = &rules.above,
            }
        }
        false
    }
}

/// Reads the rules that lie in one directory; `None` if there are none.
fn read_rules(path: &Path, files: &[&str]) -> (Option<Gitignore>, Option<std::io::Error>) {
    let mut builder = GitignoreBuilder::new(path);
    let mut failed = None;
    for file in files.iter().map(|file| path.join(file)) {
        match is_file(&file) {
            // A line that does not parse is left out, as git does.
            Ok(true) => failed = builder.add(file).and_then(ignore::Error::into_io_error),
            Ok(false) => {}
            Err(error) => failed = Some(error),
        }
    }
    let rules = builder.build().ok().filter(|rules| !rules.is_empty());
    (rules, failed)
}

/// Returns whether there are rules to read: opening a named pipe would wait for its writer.
#[expect(clippy::disallowed_methods, reason = "a file of rules, not an entry of the walk")]
fn is_file(path: &Path) -> std::io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Returns the rules of the repository above a root, and the root's canonical path. Outside a
/// repository nothing above the root counts.
fn rules_above(root: &Path) -> (Scope, PathBuf) {
    let Ok(root) = root.canonicalize() else {
        return (Scope::default(), root.to_owned());
    };
    let Some(repository) = root.ancestors().find(|dir| dir.join(".git").exists()) else {
        return (Scope::default(), root);
    };
    let mut between: Vec<&Path> =
        root.ancestors().skip(1).take_while(|dir| dir.starts_with(repository)).collect();
    between.reverse();
    let mut scope = Scope::default();
    let exclude = read_rules(repository, &[".git/info/exclude"]).0;
    if exclude.is_some() {
        let path = repository.to_owned();
        scope = Scope(Some(Arc::new(Rules { path, here: exclude, above: scope })));
    }
    for dir in between {
        let here = read_rules(dir, &[".gitignore"]).0;
        scope = Scope(Some(Arc::new(Rules { path: dir.to_owned(), here, above: scope })));
    }
    (scope, root)
}
