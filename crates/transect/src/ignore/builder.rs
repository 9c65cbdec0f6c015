//! The options of a walk, and both ways to run it.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use transect_sys::FieldMask;

use super::entry::DirEntry;
use super::overrides::Override;
use super::types::Types;
use crate::error::Error;
use crate::filter::Filters;
use crate::filter::gitignore::{GitScope, Outside};
use crate::filter::overrides::Overrides;
use crate::iter;
use crate::lock::lock;
use crate::options::ScanOptions;
use crate::sibling_order::SiblingOrder;
use crate::sink::{Flow, VisitEntry};

/// The file of rules beside `.gitignore`.
const IGNORE: &str = ".ignore";

type Compare<T> = dyn Fn(&T, &T) -> Ordering + Send + Sync;
type Judge = dyn Fn(&DirEntry) -> bool + Send + Sync;

/// Options of a walk that applies files of rules.
#[derive(Clone)]
pub struct WalkBuilder {
    roots: Vec<PathBuf>,
    /// Without filters.
    options: ScanOptions,
    /// Without `.ignore` files, and without the decision whether any of git's rules apply.
    filters: Filters,
    overrides: Overrides,
    ignore: bool,
    filter: Option<Arc<Judge>>,
    sorter: Option<Sorter>,
    max_size: Option<u64>,
}

impl WalkBuilder {
    /// Describes a walk that begins with the entry `root` itself, at depth 0. Hidden entries are left out, and what
    /// `.ignore` files exclude, and in repositories of git its rules.
    pub fn new(root: impl AsRef<Path>) -> Self {
        let scope = GitScope { keep_git_dir: true, outside: Outside::None, ..GitScope::default() };
        let filters = Filters { git_scope: scope, ..Filters::default() };
        Self {
            roots: vec![root.as_ref().to_owned()],
            options: ScanOptions::default().every_root(true),
            filters: filters.exclude_hidden(true).read_roots(true),
            overrides: Overrides::none(),
            ignore: true,
            filter: None,
            sorter: None,
            max_size: None,
        }
    }

    /// Adds a root.
    pub fn add(&mut self, root: impl AsRef<Path>) -> &mut Self {
        self.roots.push(root.as_ref().to_owned());
        self
    }

    /// Sets the depth from which directories are not read. A root has depth 0.
    pub fn max_depth(&mut self, depth: Option<usize>) -> &mut Self {
        self.options.max_depth = depth.map(to_depth);
        self
    }

    /// Sets the depth from which entries are returned.
    pub fn min_depth(&mut self, depth: Option<usize>) -> &mut Self {
        self.options.min_depth = depth.map_or(0, to_depth);
        self
    }

    /// Sets whether entries are those that links lead to. A link to a directory above it is an error, and so is one that
    /// leads nowhere.
    pub fn follow_links(&mut self, yes: bool) -> &mut Self {
        self.options.follow_links = yes;
        self.options.every_link = yes;
        self
    }

    /// Sets whether other file systems than the roots' are left out.
    pub fn same_file_system(&mut self, yes: bool) -> &mut Self {
        self.options.same_file_system = yes;
        self
    }

    /// Sets the number of threads; 0, as unless set, for one that suits the tree and the device.
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        self.options.threads = (threads > 0).then_some(threads);
        self
    }

    /// Sets whether names that begin with a dot are left out, but roots.
    pub fn hidden(&mut self, yes: bool) -> &mut Self {
        self.filters.exclude_hidden = yes;
        self
    }

    /// Sets whether `.ignore` files apply.
    pub fn ignore(&mut self, yes: bool) -> &mut Self {
        self.ignore = yes;
        self
    }

    /// Sets whether `.gitignore` files apply.
    pub fn git_ignore(&mut self, yes: bool) -> &mut Self {
        self.filters.git_scope.skip_gitignore = !yes;
        self
    }

    /// Sets whether `.git/info/exclude` of repositories applies.
    pub fn git_exclude(&mut self, yes: bool) -> &mut Self {
        self.filters.git_scope.skip_exclude = !yes;
        self
    }

    /// Sets whether the user's file of rules applies in repositories: `core.excludesFile` of git's settings.
    pub fn git_global(&mut self, yes: bool) -> &mut Self {
        self.filters.git_scope.skip_global = !yes;
        self
    }

    /// Sets whether `.gitignore` files outside of repositories do not apply.
    pub fn require_git(&mut self, yes: bool) -> &mut Self {
        self.filters.git_scope.outside = if yes { Outside::None } else { Outside::All };
        self
    }

    /// Sets whether files of rules above the roots apply, of git's those in the repository.
    pub fn parents(&mut self, yes: bool) -> &mut Self {
        self.filters.git_scope.below_roots = !yes;
        self
    }

    /// Sets [`hidden`](Self::hidden), [`parents`](Self::parents), [`ignore`](Self::ignore),
    /// [`git_ignore`](Self::git_ignore), [`git_exclude`](Self::git_exclude) and [`git_global`](Self::git_global) at once.
    pub fn standard_filters(&mut self, yes: bool) -> &mut Self {
        self.hidden(yes).parents(yes).ignore(yes).git_ignore(yes).git_exclude(yes).git_global(yes)
    }

    /// Applies files of rules of this name, which override earlier names, `.ignore` and `.gitignore`.
    pub fn add_custom_ignore_filename(&mut self, name: impl Into<String>) -> &mut Self {
        self.filters.ignore_files.push(name.into());
        self
    }

    /// Applies the rules in this file to all roots, as if it were in the current directory. All other rules override
    /// them, and those of a file that is added later. Returns an error if it cannot be read; then it is not added.
    pub fn add_ignore(&mut self, path: impl AsRef<Path>) -> Option<Error> {
        let path = path.as_ref().to_owned();
        let error = Filters::new().ignore_paths([&path]).compile(0).err();
        if error.is_none() {
            self.filters.ignore_paths.push(path);
        }
        error
    }

    /// Sets the globs that decide before hidden names and files of rules.
    pub fn overrides(&mut self, overrides: Override) -> &mut Self {
        self.overrides.globs = overrides.0;
        self
    }

    /// Sets the types that files must have, or must not have. Types come after rules and [`overrides`](Self::overrides),
    /// and a selected one shows hidden files.
    pub fn types(&mut self, types: Types) -> &mut Self {
        self.overrides.types = types.0;
        self
    }

    /// Leaves out what is longer than this, in bytes; but no directory and no root.
    pub fn max_filesize(&mut self, bytes: Option<u64>) -> &mut Self {
        self.max_size = bytes;
        self
    }

    /// Leaves out entries for which the closure returns false, directories with everything in them; but no root.
    pub fn filter_entry(
        &mut self,
        filter: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// Sorts the entries of each directory by name, for [`build`](Self::build): roots stay in their order, and each
    /// directory is followed by everything in it. The walk then reads on its caller's thread.
    pub fn sort_by_file_name(
        &mut self,
        compare: impl Fn(&OsStr, &OsStr) -> Ordering + Send + Sync + 'static,
    ) -> &mut Self {
        self.sorter = Some(Sorter::ByName(Arc::new(compare)));
        self
    }

    /// As [`sort_by_file_name`](Self::sort_by_file_name), by path. Two paths are built for each comparison.
    pub fn sort_by_file_path(
        &mut self,
        compare: impl Fn(&Path, &Path) -> Ordering + Send + Sync + 'static,
    ) -> &mut Self {
        self.sorter = Some(Sorter::ByPath(Arc::new(compare)));
        self
    }

    /// Returns the walk as an iterator. A wrong option is its only item.
    pub fn build(&self) -> Walk {
        let mut options = self.scan_options();
        options.sibling_order = self.sorter.clone().map(|sorter| sorter.with_roots(&options.roots));
        Walk { entries: options.into_iter(), delivery: self.delivery() }
    }

    /// Returns the walk for closures on several threads.
    pub fn build_parallel(&self) -> WalkParallel {
        WalkParallel { options: self.scan_options(), delivery: self.delivery() }
    }

    fn delivery(&self) -> Delivery {
        Delivery { max_size: self.max_size, follows_links: self.options.follow_links }
    }

    fn scan_options(&self) -> ScanOptions {
        let mut filters = self.filters.clone();
        let scope = filters.git_scope;
        filters.gitignore = !(scope.skip_gitignore && scope.skip_exclude && scope.skip_global);
        if !self.overrides.are_none() {
            filters.overrides = Some(Arc::new(self.overrides.clone()));
        }
        if self.ignore {
            filters.ignore_files.insert(0, IGNORE.to_owned());
        }
        let roots = self.roots.iter().map(|root| follow_root(root)).collect();
        let options = ScanOptions { roots, ..self.options.clone() };
        let wanted = self.max_size.map_or(FieldMask::empty(), |_| FieldMask::SIZE);
        let options = options.filters(filters).want(wanted);
        match self.filter.clone() {
            Some(filter) => {
                options.filter_entry(move |entry| filter(&DirEntry::of_candidate(entry)))
            }
            None => options,
        }
    }
}

fn to_depth(depth: usize) -> u32 {
    u32::try_from(depth).unwrap_or(u32::MAX)
}

/// Returns a path to what a root that is a link leads to: a separator at the end makes the system follow it.
fn follow_root(root: &Path) -> PathBuf {
    match root.is_symlink() && root.is_dir() {
        true => root.join(""),
        false => root.to_owned(),
    }
}

impl fmt::Debug for WalkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalkBuilder").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// How the entries of one directory are compared.
#[derive(Clone)]
enum Sorter {
    ByName(Arc<Compare<OsStr>>),
    ByPath(Arc<Compare<Path>>),
}

impl Sorter {
    /// Returns the order of this comparison, in which roots stay in theirs.
    fn with_roots(self, roots: &[PathBuf]) -> SiblingOrder {
        let numbered = roots.iter().enumerate().rev();
        let roots: HashMap<OsString, usize> =
            numbered.map(|(number, root)| (root.into(), number)).collect();
        SiblingOrder::by(move |dir, one, other| match &self {
            _ if dir.is_top() => roots.get(one).cmp(&roots.get(other)),
            Self::ByName(compare) => compare(one, other),
            Self::ByPath(compare) => compare(&dir.path_of(one), &dir.path_of(other)),
        })
    }
}

/// What becomes of an entry that the filters of the walk leave.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    /// The maximum length of what is not a directory, in bytes.
    max_size: Option<u64>,
    follows_links: bool,
}

impl Delivery {
    /// Returns the entry, or the error of a link; `None` if the entry is left out.
    fn item(self, entry: VisitEntry<'_>) -> Option<Result<DirEntry, Error>> {
        let item = DirEntry::of_visit(entry, self.follows_links);
        (item.is_err() || !self.is_too_large(entry)).then_some(item)
    }

    fn is_too_large(self, entry: VisitEntry<'_>) -> bool {
        let is_judged = entry.depth() > 0 && !entry.file_type().is_dir();
        let sizes = self.max_size.zip(entry.attributes.size()).filter(|_| is_judged);
        sizes.is_some_and(|(most, size)| size > most)
    }
}

/// The entries of a walk, and its errors, in no particular order.
#[derive(Debug)]
pub struct Walk {
    entries: iter::Walk,
    delivery: Delivery,
}

impl Walk {
    /// Begins a walk with the options of [`WalkBuilder::new`].
    pub fn new(root: impl AsRef<Path>) -> Self {
        WalkBuilder::new(root).build()
    }
}

impl Iterator for Walk {
    type Item = Result<DirEntry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let delivery = self.delivery;
        self.entries.find_map(|item| match item {
            Ok(entry) => delivery.item(entry.as_visit()),
            Err(error) => Some(Err(error)),
        })
    }
}

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkState {
    /// Go on.
    Continue,
    /// Leave out what is in this directory.
    Skip,
    /// End the walk as soon as possible.
    Quit,
}

impl WalkState {
    /// Returns whether the walk is to end.
    pub fn is_quit(self) -> bool {
        self == Self::Quit
    }
}

impl From<WalkState> for Flow {
    fn from(state: WalkState) -> Self {
        match state {
            WalkState::Continue => Self::Continue,
            WalkState::Skip => Self::Skip,
            WalkState::Quit => Self::Quit,
        }
    }
}

/// The closure of one thread.
pub type FnVisitor<'v> = Box<dyn FnMut(Result<DirEntry, Error>) -> WalkState + Send + 'v>;

/// A walk that calls closures on several threads.
#[derive(Debug)]
pub struct WalkParallel {
    options: ScanOptions,
    delivery: Delivery,
}

impl WalkParallel {
    /// Walks. `make` returns a closure for each thread, which receives its entries and errors; a wrong option is an
    /// error for a single one.
    ///
    /// # Panics
    /// If a closure panics.
    pub fn run<'v>(self, make: impl FnMut() -> FnVisitor<'v> + Send) {
        let make = Mutex::new(make);
        let visitor = || (*lock(&make))();
        let walked = self.options.visit_parallel(|| {
            let mut visitor = visitor();
            move |entry| {
                let item = match entry {
                    Ok(entry) => self.delivery.item(entry),
                    Err(error) => Some(Err(error)),
                };
                item.map_or(Flow::Continue, |item| visitor(item).into())
            }
        });
        if let Err(error) = walked {
            let _ = visitor()(Err(error));
        }
    }
}
