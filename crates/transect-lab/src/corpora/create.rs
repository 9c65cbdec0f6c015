//! Making a corpus: beside its place first, and all of it or nothing.

use std::fs::{File, FileTimes};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use transect::Cancel;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use super::error::{CorpusError, Operation, TargetProblem};
use super::free_space::check_free_space;
use super::plan::{self, Step};
use super::target::TargetPaths;
use super::verify::count;

/// Entries between two reports of progress.
const PROGRESS_INTERVAL: u64 = 256;

/// What was made so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Created {
    /// Regular files.
    pub files: u64,
    /// Directories below the root.
    pub directories: u64,
    /// The sum of the lengths of the files, in bytes.
    pub bytes: u64,
}

/// A corpus that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateReport {
    /// What was made.
    pub created: Created,
    /// How long making it took.
    pub create_time: Duration,
    /// How long counting it took.
    pub count_time: Duration,
}

/// Makes a corpus in `dir`, which is not there yet or is an empty directory; its parent is there.
///
/// The corpus is made in `dir.partial`, counted, and then renamed, so that whatever is called `dir`
/// is complete. Nothing is written anywhere else: every path is made of the place and of names that
/// the definition draws. An error, a cancellation and a panic of `progress` remove what was begun.
/// Only a killed run leaves `dir.partial` behind, and the next one says so: it might as well belong
/// to a run that is still at work, and nobody's files are removed on a guess.
///
/// `progress` hears of every 256th entry, and of the last; counting comes after that. An empty
/// directory is replaced by the corpus, which has the permissions of any new directory.
///
/// # Errors
/// [`CorpusError::UnusableTarget`], [`CorpusError::NotEnoughSpace`] and a directory that cannot be written to are
/// told before anything is written. See [`CorpusError`] for the others.
pub fn create(
    corpus: &Corpus,
    dir: &Path,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<CreateReport, CorpusError> {
    let paths = TargetPaths::of(dir)?;
    let replaces = paths.check()?;
    check_free_space(corpus, dir)?;
    let partial_dir = PartialDir::create(&paths.partial)?;
    match fill(corpus, &paths, replaces, progress, cancel) {
        Ok(report) => {
            partial_dir.keep();
            Ok(report)
        }
        Err(cause) => Err(partial_dir.discard(cause)),
    }
}

fn fill(
    corpus: &Corpus,
    paths: &TargetPaths,
    replaces: bool,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<CreateReport, CorpusError> {
    let TargetPaths { target, partial, .. } = paths;
    let began = Instant::now();
    let Some(created) = run_steps(corpus, partial, progress, cancel)? else {
        return Err(CorpusError::Cancelled { path: target.clone() });
    };
    let create_time = began.elapsed();
    let began = Instant::now();
    let Some(found) = count(partial, cancel)? else {
        return Err(CorpusError::Cancelled { path: target.clone() });
    };
    if found != TreeCounts::of(corpus) {
        return Err(CorpusError::mismatch(corpus, target, found));
    }
    let count_time = began.elapsed();
    if replaces {
        // Not every system renames onto a directory, even an empty one.
        std::fs::remove_dir(target).map_err(CorpusError::failed(Operation::Remove, target))?;
    }
    std::fs::rename(partial, target).map_err(CorpusError::failed(Operation::Rename, partial))?;
    Ok(CreateReport { created, create_time, count_time })
}

/// Makes all that the plan says below `root`; returns `None` if it was cancelled.
fn run_steps(
    corpus: &Corpus,
    root: &Path,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<Option<Created>, CorpusError> {
    let mut created = Created::default();
    let mut here = root.to_owned();
    for step in corpus.plan() {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        match step {
            Step::Directory { path } => {
                here = root.join(path);
                std::fs::create_dir(&here)
                    .map_err(CorpusError::failed(Operation::CreateDirectory, &here))?;
                created.directories += 1;
            }
            Step::File { name, length, modified, text } => {
                let path = here.join(name);
                create_file(&path, length, modified, text)
                    .map_err(CorpusError::failed(Operation::CreateFile, &path))?;
                created.files += 1;
                created.bytes += length;
            }
        }
        if (created.files + created.directories).is_multiple_of(PROGRESS_INTERVAL) {
            progress(created);
        }
    }
    progress(created);
    Ok(Some(created))
}

fn create_file(path: &Path, length: u64, modified: Duration, text: Option<u64>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    match text {
        Some(seed) => file.write_all(&plan::text(seed, length))?,
        None if length > 0 => file.set_len(length)?,
        None => {}
    }
    let modified = SystemTime::UNIX_EPOCH + modified;
    file.set_times(FileTimes::new().set_accessed(modified).set_modified(modified))
}

/// The folder of a corpus that is not finished: it goes away, unless it is kept.
struct PartialDir(Option<PathBuf>);

impl PartialDir {
    /// Makes the folder. The system makes it for one run only, however many try.
    fn create(path: &Path) -> Result<Self, CorpusError> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(Self(Some(path.to_owned()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(CorpusError::unusable(path, TargetProblem::PartialExists))
            }
            Err(error) => Err(CorpusError::failed(Operation::CreateDirectory, path)(error)),
        }
    }

    /// The folder was renamed.
    fn keep(mut self) {
        self.0 = None;
    }

    /// Removes the folder, and returns why that had to be.
    fn discard(mut self, cause: CorpusError) -> CorpusError {
        let Some(path) = self.0.take() else { return cause };
        match std::fs::remove_dir_all(&path) {
            Ok(()) => cause,
            Err(source) => CorpusError::CleanupFailed { cause: Box::new(cause), path, source },
        }
    }
}

impl Drop for PartialDir {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // A panic is on its way, which nothing may replace.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}
