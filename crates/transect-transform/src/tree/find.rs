//! Finding the input files.

use std::path::{Path, PathBuf};

use transect::{
    Diagnostics, Dir, FieldMask, FileType, Flow, Omission, ScanOptions, Sink, Visit, Want,
};

use crate::publish::is_temporary;

/// A file to transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path: the root as given, and the names below it.
    pub path: PathBuf,
    /// Number of names below its root; 0 if it is a root itself.
    pub depth: u32,
    /// Its type when it was listed.
    pub file_type: FileType,
    /// Its length in bytes, if it was requested.
    pub size: Option<u64>,
    /// Its inode number, if the listing reported it.
    pub inode: Option<u64>,
}

impl Input {
    /// Returns an input of which only the path is known.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), depth: 0, file_type: FileType::Unknown, size: None, inode: None }
    }

    /// Returns its path relative to its root; for a root, its name.
    pub fn relative_path(&self) -> &Path {
        let mut above = self.path.components();
        let names = self.depth.max(1) as usize;
        // Drop everything before the last `names` components.
        let before = above.clone().count().saturating_sub(names);
        above.by_ref().take(before).for_each(drop);
        above.as_path()
    }
}

/// The result of a walk for inputs.
#[derive(Debug)]
#[non_exhaustive]
pub struct InputSet {
    /// The files, sorted by the bytes of their paths.
    pub files: Vec<Input>,
    /// Temporary files of other runs, killed or still running. They are not inputs.
    pub leftovers: Vec<PathBuf>,
    /// Errors, and entries that vanished or were skipped.
    pub tally: Diagnostics,
    /// Whether the walk was cancelled: there may be more files.
    pub interrupted: bool,
}

/// Walks, and returns all regular files. A root that passes the filters is an input whatever its
/// type; opening it reports the error.
///
/// # Errors
/// Only errors that prevent the walk from starting. Errors inside a tree are counted in the tally.
pub fn find_inputs(options: ScanOptions, sizes: bool) -> Result<InputSet, transect::Error> {
    run(options, || InputSink::new(sizes, true))
}

/// Walks, and returns only the temporary files of other runs ([`InputSet::leftovers`]).
///
/// # Errors
/// The errors of [`find_inputs`].
pub fn find_leftovers(options: ScanOptions) -> Result<InputSet, transect::Error> {
    run(options, || InputSink::new(false, false))
}

fn run(
    options: ScanOptions,
    sink: impl Fn() -> InputSink + Sync,
) -> Result<InputSet, transect::Error> {
    let outcome = options.plan()?.run(sink)?;
    let InputSink { mut files, mut leftovers, mut tally, .. } = outcome.sink;
    files.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    leftovers.sort_unstable();
    tally.sort();
    Ok(InputSet { files, leftovers, tally, interrupted: outcome.interrupted })
}

#[derive(Debug)]
struct InputSink {
    files: Vec<Input>,
    leftovers: Vec<PathBuf>,
    tally: Diagnostics,
    sizes: bool,
    /// Whether to collect inputs, too, and not only leftovers.
    inputs: bool,
}

impl InputSink {
    fn new(sizes: bool, inputs: bool) -> Self {
        let tally = Diagnostics::new(Diagnostics::DEFAULT_KEPT);
        Self { files: Vec::new(), leftovers: Vec::new(), tally, sizes, inputs }
    }
}

impl Sink for InputSink {
    fn want(&self) -> Want {
        let entries = if self.sizes { FieldMask::SIZE } else { FieldMask::empty() };
        Want::default().entries(entries).opportunistic(FieldMask::INODE)
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        for entry in visit.batch.iter() {
            let is_root = visit.dir.is_top();
            match entry.file_type() {
                FileType::File => {}
                FileType::Directory => continue,
                _ if is_root => {}
                _ => continue,
            }
            if !is_root && is_temporary(entry.name) {
                self.leftovers.push(visit.dir.path_of(entry.name));
                continue;
            }
            if !self.inputs {
                continue;
            }
            let path = visit.dir.path_of(entry.name);
            let depth = visit.dir.entry_depth();
            let (file_type, attributes) = (entry.file_type(), &entry.attributes);
            let (size, inode) = (attributes.size(), attributes.inode());
            self.files.push(Input { path, depth, file_type, size, inode });
        }
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.tally.add(omission);
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.leftovers.extend(other.leftovers);
        self.tally.merge(other.tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_relative_path_follows_depth() {
        for (path, depth, below) in [
            ("root/a/b", 2, "a/b"),
            ("./a", 1, "a"),
            ("../../x/a/b", 2, "a/b"),
            ("/a/b", 2, "a/b"),
            ("/a", 1, "a"),
            ("some/file", 0, "file"),
            ("file", 0, "file"),
        ] {
            let input = Input { depth, ..Input::new(path) };
            assert_eq!(input.relative_path(), Path::new(below), "{path}");
        }
    }
}
