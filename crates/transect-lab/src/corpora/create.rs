//! Making a corpus: beside its place first, and all of it or nothing.

use std::fs::{File, FileTimes};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use transect::Cancel;

use super::counts::Found;
use super::definition::Definition;
use super::error::{CorpusError, Operation, Refusal};
use super::plan::{self, Step};
use super::room::check_room;
use super::target::Place;
use super::verify::count;

/// Entries between two reports of progress.
const REPORTED: u64 = 256;

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
pub struct Report {
    /// What was made.
    pub created: Created,
    /// How long making it took.
    pub making: Duration,
    /// How long counting it took.
    pub counting: Duration,
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
/// [`CorpusError::Refused`], [`CorpusError::NoRoom`] and a directory that cannot be written to are
/// told before anything is written. See [`CorpusError`] for the others.
pub fn create(
    definition: &Definition,
    dir: &Path,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<Report, CorpusError> {
    let place = Place::of(dir)?;
    let replaces = place.check()?;
    check_room(definition, dir)?;
    let unfinished = Unfinished::begin(&place.partial)?;
    match fill(definition, &place, replaces, progress, cancel) {
        Ok(report) => {
            unfinished.keep();
            Ok(report)
        }
        Err(cause) => Err(unfinished.discard(cause)),
    }
}

fn fill(
    definition: &Definition,
    place: &Place,
    replaces: bool,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<Report, CorpusError> {
    let Place { target, partial, .. } = place;
    let began = Instant::now();
    let Some(created) = take_steps(definition, partial, progress, cancel)? else {
        return Err(CorpusError::Cancelled { path: target.clone() });
    };
    let making = began.elapsed();
    let began = Instant::now();
    let Some(found) = count(partial, cancel)? else {
        return Err(CorpusError::Cancelled { path: target.clone() });
    };
    if found != Found::of(definition) {
        return Err(CorpusError::different(definition, target, found));
    }
    let counting = began.elapsed();
    if replaces {
        // Not every system renames onto a directory, even an empty one.
        std::fs::remove_dir(target).map_err(CorpusError::failed(Operation::Remove, target))?;
    }
    std::fs::rename(partial, target).map_err(CorpusError::failed(Operation::Rename, partial))?;
    Ok(Report { created, making, counting })
}

/// Makes all that the plan says below `root`; returns `None` if it was cancelled.
fn take_steps(
    definition: &Definition,
    root: &Path,
    progress: &mut dyn FnMut(Created),
    cancel: &Cancel,
) -> Result<Option<Created>, CorpusError> {
    let mut created = Created::default();
    let mut here = root.to_owned();
    for step in definition.plan() {
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
        if (created.files + created.directories).is_multiple_of(REPORTED) {
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
struct Unfinished(Option<PathBuf>);

impl Unfinished {
    /// Makes the folder. The system makes it for one run only, however many try.
    fn begin(path: &Path) -> Result<Self, CorpusError> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(Self(Some(path.to_owned()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(CorpusError::refused(path, Refusal::Unfinished))
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
            Err(source) => CorpusError::LeftOver { cause: Box::new(cause), path, source },
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // A panic is on its way, which nothing may replace.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}
