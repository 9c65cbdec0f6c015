//! Which files there are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transect::{
    Dir, Entering, FieldMask, FileType, Flow, ScanError, ScanOptions, Sink, SkipReason, Tally,
    Visit, Want,
};

use crate::publish::is_temporary;

/// A file that is to be transformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path: that of its root as it was given, and the names below.
    pub path: PathBuf,
    /// Its path below its root; its name, if it is a root itself.
    pub below: PathBuf,
    /// What it was when it was found.
    pub file_type: FileType,
    /// Its length in bytes, if it was asked for.
    pub size: Option<u64>,
}

/// What a walk for inputs found.
#[derive(Debug)]
pub struct Found {
    /// The files, in the order of their paths.
    pub files: Vec<Input>,
    /// Temporary files of runs that were killed: no inputs.
    pub leftovers: Vec<PathBuf>,
    /// What could not be read.
    pub tally: Tally,
    /// Somebody asked to stop: there may be more.
    pub interrupted: bool,
}

/// Walks, and returns all regular files. What is given as a root is one in any case, link or
/// whatever it be: whoever opens it tells what is wrong with it.
///
/// # Errors
/// Only what keeps a walk from beginning. What goes wrong inside a tree is counted in the tally.
pub fn find(options: ScanOptions, sizes: bool) -> Result<Found, transect::Error> {
    let outcome = options.plan()?.run(|| Finder::new(sizes))?;
    let Finder { mut files, mut leftovers, mut tally, .. } = outcome.sink;
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    leftovers.sort_unstable();
    tally.sort();
    Ok(Found { files, leftovers, tally, interrupted: outcome.interrupted })
}

/// Gathers files.
#[derive(Debug)]
struct Finder {
    files: Vec<Input>,
    leftovers: Vec<PathBuf>,
    tally: Tally,
    sizes: bool,
}

impl Finder {
    fn new(sizes: bool) -> Self {
        Self { files: Vec::new(), leftovers: Vec::new(), tally: Tally::new(Tally::KEPT), sizes }
    }
}

impl Sink for Finder {
    type Tag = ();

    fn want(&self) -> Want {
        let entries = if self.sizes { FieldMask::SIZE } else { FieldMask::empty() };
        Want { entries, ..Want::default() }
    }

    fn enter(&mut self, _: Entering<'_, ()>) {}

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
        for entry in visit.batch.iter() {
            let is_root = visit.dir.is_top();
            match entry.file_type() {
                FileType::File => {}
                FileType::Directory => continue,
                _ if is_root => {}
                _ => continue,
            }
            let path = visit.dir.path_of(entry.name);
            if !is_root && is_temporary(entry.name) {
                self.leftovers.push(path);
                continue;
            }
            let below = below_root(visit.dir, entry.name);
            let (file_type, size) = (entry.file_type(), entry.attributes.size());
            self.files.push(Input { path, below, file_type, size });
        }
        Flow::Continue
    }

    fn error(&mut self, _: &Dir<()>, error: ScanError) -> Flow {
        self.tally.error(error);
        Flow::Continue
    }

    fn vanished(&mut self, _: &Dir<()>, _: FileType) {
        self.tally.vanished += 1;
    }

    fn skipped(&mut self, _: &Dir<()>, reason: SkipReason) {
        self.tally.skip(reason);
    }

    fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.leftovers.extend(other.leftovers);
        self.tally.merge(other.tally);
    }
}

/// Returns the path of an entry below its root.
fn below_root(dir: &Dir<()>, name: &OsStr) -> PathBuf {
    if dir.is_top() {
        // `..` has no name, and is no file.
        return Path::new(name).file_name().unwrap_or(name).into();
    }
    let names: Vec<&OsStr> =
        dir.ancestors().filter(|dir| dir.depth() > Some(0)).map(Dir::name).collect();
    names.into_iter().rev().chain([name]).collect()
}
