//! Creates a corpus, completely or not at all: under another name first, then renamed.

use std::fs::{File, FileTimes};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use transect::Cancel;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use super::free_space::check_free_space;
use super::plan::{self, Step};
use super::target::{TargetPaths, unusable};
use super::verify::{compare, count};
use crate::harness::error::cannot;

/// Entries between two calls of `progress`.
const PROGRESS_INTERVAL: u64 = 256;

/// Creates a corpus in `dir`, which must not exist; its parent must exist.
///
/// The corpus is created in `dir.partial`, counted, and then renamed, so `dir` is never incomplete.
/// No other paths are written: all paths consist of the target and of names drawn by the definition. An
/// error, a cancellation or a panic of `progress` removes the partial tree. Only a killed run leaves
/// `dir.partial` behind. The next run then fails, as the directory might belong to an active run.
///
/// `progress` is called after every 256th entry and after the last; counting comes after that.
///
/// # Errors
/// An unusable target and too little space are reported before anything is written; otherwise an entry cannot be
/// created, or the tree differs from the definition.
pub fn create(
    corpus: &Corpus,
    dir: &Path,
    progress: &mut dyn FnMut(TreeCounts),
    cancel: &Cancel,
) -> Result<(), String> {
    let paths = TargetPaths::of(dir)?;
    paths.check()?;
    check_free_space(corpus, dir)?;
    let partial_dir = PartialDir::create(&paths.partial)?;
    match fill(corpus, &paths, progress, cancel) {
        Ok(()) => {
            partial_dir.keep();
            Ok(())
        }
        Err(cause) => Err(partial_dir.discard(cause)),
    }
}

fn fill(
    corpus: &Corpus,
    paths: &TargetPaths,
    progress: &mut dyn FnMut(TreeCounts),
    cancel: &Cancel,
) -> Result<(), String> {
    let TargetPaths { target, partial, .. } = paths;
    let go_on = || match cancel.is_cancelled() {
        true => Err(format!("cancelled: nothing is left in '{}'", target.display())),
        false => Ok(()),
    };
    run_steps(corpus, partial, progress, cancel)?;
    go_on()?;
    let found = count(partial)?;
    go_on()?;
    compare(corpus, target, found)?;
    std::fs::rename(partial, target).map_err(cannot("rename", partial))
}

/// Creates the entries of the plan below `root` until the end or until it is cancelled.
fn run_steps(
    corpus: &Corpus,
    root: &Path,
    progress: &mut dyn FnMut(TreeCounts),
    cancel: &Cancel,
) -> Result<(), String> {
    let mut created = TreeCounts::default();
    let mut here = root.to_owned();
    for step in corpus.plan() {
        if cancel.is_cancelled() {
            return Ok(());
        }
        match step {
            Step::Directory { path } => {
                here = root.join(path);
                std::fs::create_dir(&here).map_err(cannot("create directory", &here))?;
                created.directories += 1;
            }
            Step::File { name, length, modified, text } => {
                let path = here.join(name);
                create_file(&path, length, modified, text).map_err(cannot("create file", &path))?;
                created.files += 1;
                created.bytes += length;
            }
        }
        if (created.files + created.directories).is_multiple_of(PROGRESS_INTERVAL) {
            progress(created);
        }
    }
    progress(created);
    Ok(())
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

/// The directory of an unfinished corpus; removed on drop unless kept.
struct PartialDir(Option<PathBuf>);

impl PartialDir {
    /// Creates the directory. If several runs try at once, one succeeds.
    fn create(path: &Path) -> Result<Self, String> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(Self(Some(path.to_owned()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let problem = "it is left over from a run that was killed, or another run is at work; remove it if there is none";
                Err(unusable(path, problem))
            }
            Err(error) => Err(cannot("create directory", path)(error)),
        }
    }

    fn keep(mut self) {
        self.0 = None;
    }

    /// Removes the directory and returns the cause, with the error if removing fails.
    fn discard(mut self, cause: String) -> String {
        let Some(path) = self.0.take() else { return cause };
        match std::fs::remove_dir_all(&path) {
            Ok(()) => cause,
            Err(error) => format!("{cause}; {}", cannot("remove", &path)(error)),
        }
    }
}

impl Drop for PartialDir {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // During a panic: ignore errors, so that they do not replace it.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}
