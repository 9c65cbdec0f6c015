//! Filters: by name (globs, rules in files), by type, and by attributes.
//!
//! Cheap tests come first. Names and types are judged between listing and querying, so that a
//! dropped entry costs no system call. The attributes of the remaining entries are queried and
//! judged last ([`Conditions`]). Globs are matched by the `ignore` crate.
//!
//! A root is judged as an entry of the directory that holds it: a root that does not match is not
//! delivered, even though the caller named it. So `list -0 | xargs rm` never receives a path that
//! did not match.

mod attributes;
mod conditions;
#[cfg(feature = "filters")]
pub(crate) mod gitignore;
#[cfg(feature = "filters")]
mod globs;
mod names;
#[cfg(feature = "filters")]
pub(crate) mod overrides;
mod overruling;
#[cfg(feature = "filters")]
mod regexes;
#[cfg(not(feature = "filters"))]
mod unsupported;
#[cfg(feature = "filters")]
mod wildmatch;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect_sys::{EntryRef, FieldMask, FileType, Verdict, Want, options};

use crate::dir::Dir;
use crate::error::Error;
use crate::sink::SkipReason;
use gitignore::{IgnoreRules, RulesFiles};
use globs::Globs;
use names::Names;
use overrides::Overrides;

pub use attributes::AttributeFilter;
pub use conditions::{Conditions, ModeCondition};
#[cfg(feature = "filters")]
pub(crate) use globs::invalid_glob;
pub(crate) use overruling::Overruling;
#[cfg(not(feature = "filters"))]
pub(crate) use unsupported::gitignore;
#[cfg(not(feature = "filters"))]
use unsupported::{globs, overrides, regexes};

options! {
    /// Selects the entries to deliver. A directory that is not delivered is still read, unless an
    /// excluding glob or a rule excludes it with everything below.
    ///
    /// A root must match like any entry. It is judged by the last name of its path, and by the rules of
    /// the directories above it. A root without a name (`.`, `..`, `a/..`, `/`) is always read; it is
    /// delivered unless there is an including glob, or an excluding one matches `.`.
    ///
    /// Globs, regular expressions and `.gitignore` files need the feature `filters`; without it,
    /// [`ScanOptions::plan`](crate::ScanOptions::plan) refuses them.
    ///
    /// ```
    /// use transect::{FileType, Filters, ScanOptions};
    ///
    /// let filters = Filters::new().globs(["*.rs", "!target"]).gitignore(true).types([FileType::File]);
    /// let plan = ScanOptions::new(["."]).filters(filters).plan()?;
    /// # Ok::<(), transect::Error>(())
    /// ```
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default))]
    pub struct Filters {
        /// Sets whether to ignore case in globs, regular expressions, and extensions (there of ASCII letters).
        ignore_case: bool = bool,
        /// Sets whether to exclude entries whose names begin with a dot, with everything below them; but no root.
        exclude_hidden: bool = bool,
        /// Sets whether to apply git's rules, and exclude `.git`: `.gitignore` files, and in repositories
        /// `.git/info/exclude` and the user's file of rules.
        gitignore: bool = bool,
        /// Sets whether to read every root, even one that a glob or rule excludes. For callers that replace `.` by a
        /// path.
        read_roots: bool = bool,
        /// Delivers only entries whose attributes meet these conditions.
        conditions: Conditions = Conditions,
        /// Sets whether to deliver only files of length 0 and directories in which the system lists nothing. Entries
        /// that other filters exclude, and hidden ones, make a directory not empty, too.
        empty: bool = bool,
        /// Sets whether to deliver only symbolic links whose target does not exist, or that lead in a loop.
        broken_links: bool = bool,
        ;
        #[doc(hidden)]
        pub globs: Vec<String>,
        #[doc(hidden)]
        pub extensions: Vec<String>,
        #[doc(hidden)]
        pub regexes: Vec<String>,
        #[doc(hidden)]
        pub ignore_files: Vec<String>,
        #[doc(hidden)]
        pub ignore_paths: Vec<PathBuf>,
        #[cfg(feature = "filters")]
        #[cfg_attr(feature = "serde", serde(skip))]
        pub(crate) git_scope: gitignore::GitScope,
        #[cfg_attr(feature = "serde", serde(skip))]
        pub(crate) overrides: Option<Arc<Overrides>>,
        #[doc(hidden)]
        pub types: Vec<FileType>,
    }
}

/// Filters ready to use.
#[derive(Debug)]
pub(crate) struct CompiledFilters {
    /// Entries are judged by their paths below the root.
    pub(crate) needs_paths: bool,
    globs: Globs,
    names: Names,
    exclude_hidden: bool,
    /// Which files of rules must be read.
    pub(crate) rules_files: RulesFiles,
    /// What decides before hidden names, and in part before files of rules.
    pub(crate) overrides: Option<Arc<Overrides>>,
    read_roots: bool,
    min_depth: u32,
    attributes: AttributeFilter,
    /// Only empty files and directories are delivered.
    pub(crate) empty: bool,
    /// Only broken links are delivered.
    pub(crate) broken_links: bool,
}

impl Filters {
    /// Returns filters that select everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the globs, as in `rg --glob`: those with a leading `!` exclude, others include, and the last match
    /// decides. A glob without a slash matches names; one with a slash matches paths below a root, and never the
    /// root itself.
    pub fn globs(mut self, globs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.globs = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Delivers only entries whose names have one of these extensions, given with or without a leading dot; without any,
    /// all. A name that begins with its only dot has none.
    pub fn extensions(mut self, extensions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.extensions = extensions.into_iter().map(Into::into).collect();
        self
    }

    /// Delivers only entries whose names match one of these regular expressions (of the `regex` crate), anywhere in
    /// the name; without any, all.
    pub fn regexes(mut self, regexes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.regexes = regexes.into_iter().map(Into::into).collect();
        self
    }

    /// Applies the rules in files of these names, such as `.ignore`, in every directory and in those above the roots. Rules
    /// are written as in `.gitignore`. Those in files of a later name override others, and all override `.gitignore`.
    pub fn ignore_files(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ignore_files = names.into_iter().map(Into::into).collect();
        self
    }

    /// Applies the rules in these files to all roots, as if each were a `.gitignore` in the current directory. Those in a
    /// later file override others, and those in files that the walk finds override all of them.
    pub fn ignore_paths(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.ignore_paths = paths.into_iter().map(Into::into).collect();
        self
    }

    /// Delivers only entries of these types; without any, all.
    pub fn types(mut self, types: impl IntoIterator<Item = FileType>) -> Self {
        self.types = types.into_iter().collect();
        self
    }

    /// Compiles the filters, for entries at least `min_depth` steps below their root; `None` if they select everything.
    pub(crate) fn compile(&self, min_depth: u32) -> Result<Option<CompiledFilters>, Error> {
        if *self == Self::default() && min_depth == 0 {
            return Ok(None);
        }
        let rules_files = RulesFiles::new(self.gitignore, &self.ignore_files, &self.ignore_paths)?;
        #[cfg(feature = "filters")]
        let rules_files = rules_files.in_scope(self.git_scope);
        let globs = Globs::compile(&self.globs, self.ignore_case)?;
        let names = Names::compile(&self.extensions, &self.regexes, self.ignore_case)?;
        let Self { exclude_hidden, read_roots, conditions, .. } = *self;
        let Self { empty, broken_links, .. } = *self;
        let mut attributes = AttributeFilter::new(&self.types, conditions);
        if empty {
            attributes = attributes.only(&[FileType::File, FileType::Directory]);
        }
        if broken_links {
            attributes = attributes.only(&[FileType::Symlink]);
        }
        Ok(Some(CompiledFilters {
            needs_paths: rules_files.are_used() || !globs.is_empty(),
            globs,
            names,
            exclude_hidden,
            rules_files,
            overrides: self.overrides.clone(),
            read_roots,
            min_depth,
            attributes,
            empty,
            broken_links,
        }))
    }
}

impl CompiledFilters {
    /// Returns the rules for the entries of a directory, and an error in reading them.
    /// `holds_rules` is whether the directory may contain a file of rules.
    pub(crate) fn load_rules(
        &self,
        dir: &Dir,
        holds_rules: bool,
    ) -> (IgnoreRules, Option<std::io::Error>) {
        let (above, failed) = match dir.parent().filter(|parent| !parent.is_top()) {
            Some(parent) => (parent.ignore_rules.get().cloned().unwrap_or_default(), None),
            None => match Path::new(dir.name()).canonicalize() {
                Ok(root) => self.rules_files.above(&root),
                Err(error) => (IgnoreRules::default(), Some(error)),
            },
        };
        if !holds_rules {
            return (above, failed);
        }
        let (ignore_rules, error) =
            self.rules_files.add_rules_in(above, &dir.path(), dir.relative_prefix_len());
        (ignore_rules, error.or(failed))
    }

    /// Judges an entry of a directory by name and type. `relative` is the path of the directory
    /// below its root, if needed; the name is appended during the call. `overruling` is the verdict of the overrides.
    pub(crate) fn judge(
        &self,
        dir: &Dir,
        relative: &mut PathBuf,
        entry: EntryRef<'_>,
        overruling: Overruling,
    ) -> (Verdict, Option<SkipReason>) {
        let is_hidden = || self.exclude_hidden && names::is_hidden(entry.name);
        if overruling == Overruling::Exclude || overruling == Overruling::None && is_hidden() {
            return (Verdict::Drop, Some(SkipReason::Excluded));
        }
        if overruling == Overruling::Show || !self.needs_paths {
            return self.judge_entry(Verdict::Keep, dir.entry_depth(), entry.name, entry);
        }
        let file_type = entry.file_type();
        relative.push(entry.name);
        let is_dir = file_type == FileType::Directory;
        let rules = dir.ignore_rules.get();
        let ignored = self.rules_files.always_ignore(entry.name)
            || rules.is_some_and(|rules| rules.ignores(relative, is_dir));
        let verdict = if ignored { Verdict::Drop } else { self.globs.judge(relative, file_type) };
        relative.pop();
        match ignored {
            true => (verdict, Some(SkipReason::Gitignore)),
            false => self.judge_entry(verdict, dir.entry_depth(), entry.name, entry),
        }
    }

    /// Judges a root, whose attributes are known.
    pub(crate) fn judge_root(&self, entry: EntryRef<'_>) -> (Verdict, Option<SkipReason>) {
        match self.judge_root_as_entry(entry) {
            (Verdict::Drop, _) if self.read_roots => (Verdict::DescendOnly, None),
            judged => judged,
        }
    }

    fn judge_root_as_entry(&self, entry: EntryRef<'_>) -> (Verdict, Option<SkipReason>) {
        let root = Path::new(entry.name);
        if self.ignores_root(root, entry.file_type()) {
            return (Verdict::Drop, Some(SkipReason::Gitignore));
        }
        let verdict = self.globs.judge_root(root, entry.file_type());
        let name = names::of_root(entry.name);
        let (verdict, reason) = self.judge_entry(verdict, 0, name, entry);
        (self.judge_attributes(EntryRef { verdict, ..entry }), reason)
    }

    /// Returns whether the rules of the directories above a root exclude it. A link is judged itself,
    /// not its target. Rules match names, and `.` and `/` have none.
    fn ignores_root(&self, root: &Path, file_type: FileType) -> bool {
        let Some(name) = root.file_name().filter(|_| self.rules_files.are_used()) else {
            return false;
        };
        if self.rules_files.always_ignore(name) {
            return true;
        }
        let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
        let Ok(parent) = parent.unwrap_or(Path::new(".")).canonicalize() else { return false };
        // An error is reported when the root is listed.
        let root = parent.join(name);
        let (rules, _) = self.rules_files.above(&root);
        rules.ignores_root(&root, file_type == FileType::Directory)
    }

    /// Judges an entry by depth, name and type, after the globs.
    fn judge_entry(
        &self,
        verdict: Verdict,
        depth: u32,
        name: &OsStr,
        entry: EntryRef<'_>,
    ) -> (Verdict, Option<SkipReason>) {
        match verdict {
            Verdict::Drop => (verdict, Some(SkipReason::Excluded)),
            Verdict::Keep if depth < self.min_depth => (Verdict::DescendOnly, None),
            Verdict::Keep => (self.judge_name_and_type(name, entry.file_type()), None),
            _ => (verdict, None),
        }
    }

    /// Judges an entry by name and type. Others are dropped before they are queried, except directories
    /// and entries of unknown type, which may be directories: the walk descends into them.
    fn judge_name_and_type(&self, name: &OsStr, file_type: FileType) -> Verdict {
        match file_type {
            _ if self.attributes.accepts_type(file_type) && self.names.matches(name) => {
                Verdict::Keep
            }
            FileType::Directory | FileType::Unknown => Verdict::DescendOnly,
            _ => Verdict::Drop,
        }
    }

    /// Returns whether entries must be judged by their attributes.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.attributes.fields().is_empty() || self.empty
    }

    /// Returns whether directories must be opened, or targets of links queried, to judge them.
    pub(crate) fn probes(&self) -> bool {
        self.empty || self.broken_links
    }

    /// Returns the name of a filter that reads files, or `None` if names and attributes are enough.
    pub(crate) fn reads_files(&self) -> Option<&'static str> {
        match self {
            Self { rules_files, .. } if rules_files.are_used() => Some("gitignore"),
            Self { broken_links: true, .. } => Some("broken_links"),
            _ => None,
        }
    }

    /// Adds the attributes that the conditions need.
    pub(crate) fn add_wanted(&self, want: &mut Want) {
        let fields = self.attributes.fields();
        want.entries |= fields;
        if self.empty {
            want.entries |= FieldMask::SIZE;
        }
        if self.attributes.accepts_type(FileType::Directory) {
            want.directories |= fields;
        }
    }

    /// Judges an entry by its attributes, which are known by now.
    pub(crate) fn judge_attributes(&self, entry: EntryRef<'_>) -> Verdict {
        let is_filled =
            self.empty && entry.file_type() == FileType::File && entry.attributes.size() != Some(0);
        if is_filled || !self.attributes.conditions.matches(entry.attributes) {
            return without(entry.verdict);
        }
        entry.verdict
    }
}

/// Returns the verdict on an entry that fails a test of its attributes or contents: it is not
/// delivered, but a directory is still read.
pub(crate) fn without(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Keep => Verdict::DescendOnly,
        Verdict::Prune => Verdict::Drop,
        verdict => verdict,
    }
}
