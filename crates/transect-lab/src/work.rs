//! The work that all methods do: the same for every language and system.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use transect::{
    Dir, Entering, FieldMask, FileType, Flow, ScanError, ScanOptions, Sink, SkipReason, Visit, Want,
};

/// What a walk found.
///
/// Regular files; directories, the root included; the lengths of regular files, every name counted;
/// what could not be read. Symbolic links are neither followed nor counted, other types not counted:
/// what every language can do without asking more than the article did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories, the root included.
    pub directories: u64,
    /// Lengths of regular files, in bytes.
    pub bytes: u64,
    /// Entries and directories that could not be read.
    pub errors: u64,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, directories, bytes, errors } = self;
        write!(f, "{files} files, {directories} directories, {bytes} bytes, {errors} errors")
    }
}

impl Work {
    /// Returns what a plain recursion over `std::fs` finds: slow, simple, and nothing shared with
    /// any method.
    pub fn expected(root: &Path) -> Self {
        let mut work = Self::default();
        add(root, &mut work);
        work
    }
}

#[expect(clippy::disallowed_methods, reason = "what methods are compared with shares no reader")]
fn add(directory: &Path, work: &mut Work) {
    work.directories += 1;
    let Ok(entries) = std::fs::read_dir(directory) else {
        work.errors += 1;
        return;
    };
    for entry in entries {
        let Ok((entry, file_type)) = entry.and_then(|e| e.file_type().map(|t| (e, t))) else {
            work.errors += 1;
            continue;
        };
        if file_type.is_dir() {
            add(&entry.path(), work);
        } else if file_type.is_file() {
            work.files += 1;
            match entry.metadata() {
                Ok(metadata) => work.bytes += metadata.len(),
                Err(_) => work.errors += 1,
            }
        }
    }
}

/// The sink that does this work, and nothing else.
#[derive(Debug, Default)]
struct Census(Work);

impl Sink for Census {
    type Tag = ();

    fn want(&self) -> Want {
        Want { entries: FieldMask::SIZE, ..Want::default() }
    }

    fn enter(&mut self, entering: Entering<'_, ()>) {
        if entering.parent.is_some() && entering.listed {
            self.0.directories += 1;
        }
    }

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
        for entry in visit.batch.iter().filter(|entry| entry.file_type() == FileType::File) {
            self.0.files += 1;
            self.0.bytes += entry.attributes.size().unwrap_or(0);
        }
        Flow::Continue
    }

    fn leave(&mut self, _: &Dir<()>) {}

    fn error(&mut self, _: &Dir<()>, _: ScanError) -> Flow {
        self.0.errors += 1;
        Flow::Continue
    }

    fn vanished(&mut self, _: &Dir<()>, _: FileType) {}

    fn skipped(&mut self, _: &Dir<()>, _: SkipReason) {}

    fn merge(&mut self, other: Self) {
        self.0.files += other.0.files;
        self.0.directories += other.0.directories;
        self.0.bytes += other.0.bytes;
        self.0.errors += other.0.errors;
    }
}

/// Walks once with this engine, and returns what was found and how long the walk took, in
/// nanoseconds.
///
/// # Errors
/// Options that cannot be, or a root that cannot be read.
pub fn walk(options: ScanOptions) -> Result<(Work, u64), transect::Error> {
    // Mount points are crossed, pseudo file systems read: as everybody else does.
    let plan = options.pseudo_file_systems(true).plan()?;
    let outcome = plan.run(Census::default)?;
    Ok((outcome.sink.0, u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX)))
}
