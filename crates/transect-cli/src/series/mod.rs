//! Series: the snapshots of a root that `keep` stored, below the user's data directory.
//!
//! ```text
//! transect/series/HOST/ROOT-0123456789abcdef/2026-01-31T10-00-00.000Z.parquet
//! ```
//!
//! `docs/SERIES.md` describes the directories and what other programs may rely on. Nothing in them is
//! trusted: a file is a snapshot of a series only if its name, its content and its root agree.

mod lookup;
mod name;
mod thinning;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect::DirEntry;
use transect_snapshot::{ReadError, Snapshot};
use transect_sys::FaultKind;
use transect_sys::host::{host_name, now};
use transect_transform::publish;

use crate::output::time::TimeFormatter;
use crate::root_path::{absolute, resolved};
use crate::snapshot_file;
use transect_program::CliError;
use transect_program::user_dirs;

pub(crate) use lookup::{nearest, outermost};
pub(crate) use writer::Thinning;

/// The directory of all series, below the user's data directory.
const DIRECTORY: &str = "series";
/// By how many nanoseconds the clocks of two runs may differ: what is newer is from the future.
const SKEW: i64 = 5 * 60 * 1_000_000_000;
const LOCK: &str = "lock";

/// The snapshots of one root on one machine.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    root: PathBuf,
    host: String,
    directory: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    /// When reading began, in nanoseconds since 1970 UTC.
    pub(crate) taken: i64,
    pub(crate) snapshot: Snapshot,
}

/// A file in the directory of a series that is not one of its snapshots.
#[derive(Clone, Debug)]
pub(crate) struct Unusable {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use '{}': {}", self.path.display(), self.reason)
    }
}

/// The files in the directory of a series, by their names.
#[derive(Debug, Default)]
struct Listing {
    /// When each snapshot was taken, sorted, and its file.
    dated: Vec<(i64, PathBuf)>,
    /// Temporary files of writers, living or killed.
    temporary: Vec<PathBuf>,
    /// Other files, sorted.
    foreign: Vec<PathBuf>,
}

/// The snapshot that was searched for, and the files that had to be skipped.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) kept: Option<Kept>,
    pub(crate) unusable: Vec<Unusable>,
}

pub(crate) fn series_directory() -> Result<PathBuf, CliError> {
    user_dirs::DATA.path(DIRECTORY)
}

/// Returns a name for what is stored of a root.
pub(crate) fn name_of_root(root: &Path) -> String {
    name::root_directory(root.as_os_str())
}

impl Series {
    /// Returns the series of a root on this machine.
    pub(crate) fn of(root: &Path) -> Result<Self, CliError> {
        let host = host_name().unwrap_or_default();
        Ok(Self::below(&series_directory()?, &host, &resolved(root)))
    }

    /// Returns the series of a root on another machine. Links in the path are not resolved.
    pub(crate) fn of_host(host: &str, root: &Path) -> Result<Self, CliError> {
        let root: PathBuf = absolute(root).components().collect();
        Ok(Self::below(&series_directory()?, host, &root))
    }

    /// Returns the series of a root on a machine, in a directory of series.
    fn below(series: &Path, host: &str, root: &Path) -> Self {
        let directory =
            series.join(name::host_directory(host)).join(name::root_directory(root.as_os_str()));
        Self { root: root.to_owned(), host: host.to_owned(), directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Says that no snapshot was kept of its root, given as `path`, and what to do.
    pub(crate) fn none_kept(&self, path: &Path) -> String {
        let (root, path_text) = (self.root.display(), path.display());
        match path.symlink_metadata() {
            Ok(_) => {
                format!("no snapshot of '{root}' was kept; keep one: transect keep {path_text}")
            }
            Err(_) => format!("no snapshot of '{root}' was kept, and '{path_text}' does not exist"),
        }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the snapshots, oldest first, and the files that are none.
    pub(crate) fn all(&self) -> Result<(Vec<Kept>, Vec<Unusable>), CliError> {
        let Listing { dated, foreign, .. } = self.list()?;
        let reason = "not a snapshot that transect keep stored";
        let foreign = foreign.into_iter().map(|path| Unusable { path, reason: reason.to_owned() });
        let mut unusable: Vec<Unusable> = foreign.collect();
        let mut all = Vec::new();
        for (taken, path) in dated {
            match self.open(taken, path) {
                Ok(kept) => all.extend(kept),
                Err(damaged) => unusable.push(damaged),
            }
        }
        Ok((all, unusable))
    }

    /// Returns the newest snapshot that was taken at this time or before, and the newer files that could
    /// not be used.
    pub(crate) fn newest(&self, at_most: i64) -> Result<Search, CliError> {
        let mut search = Search::default();
        let mut dated = self.list()?.dated;
        while let Some((taken, path)) = dated.pop() {
            if taken > at_most {
                continue;
            }
            match self.open(taken, path) {
                Ok(None) => {}
                Ok(kept) => {
                    search.kept = kept;
                    break;
                }
                Err(damaged) => search.unusable.push(damaged),
            }
        }
        Ok(search)
    }

    /// Returns the newest snapshot that is not from the future, and the newer files that could not be used, with those
    /// that are.
    pub(crate) fn last(&self) -> Result<Search, CliError> {
        self.last_at(now())
    }

    /// As [`Series::last`], with the time of the clock.
    fn last_at(&self, now: i64) -> Result<Search, CliError> {
        let at_most = now.saturating_add(SKEW);
        let mut search = self.newest(at_most)?;
        let future = self.list()?.dated.into_iter().filter(|&(taken, _)| taken > at_most);
        let times = TimeFormatter::local();
        search.unusable.extend(future.map(|(taken, path)| {
            let time = times.text(taken);
            let reason = format!(
                "it is from the future ({time}): the clock was wrong then, or is wrong now"
            );
            Unusable { path, reason }
        }));
        Ok(search)
    }

    pub(crate) fn oldest(&self) -> Result<Option<Kept>, CliError> {
        let dated = self.list()?.dated.into_iter();
        Ok(dated.filter_map(|(taken, path)| self.open(taken, path).ok()?).next())
    }

    fn list(&self) -> Result<Listing, CliError> {
        Listing::of(&self.directory)
    }

    /// Opens a snapshot; returns `None` if it was removed meanwhile.
    fn open(&self, taken: i64, path: PathBuf) -> Result<Option<Kept>, Unusable> {
        let snapshot = match snapshot_file::open_kept(&path) {
            Ok(snapshot) => snapshot,
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(Unusable { path, reason: error.to_string() }),
        };
        let metadata = snapshot.metadata();
        if metadata.roots != [self.root.to_string_lossy()] {
            let reason = format!("a snapshot of '{}'", metadata.roots.join("', '"));
            return Err(Unusable { path, reason });
        }
        if metadata.started.map(name::rounded) != Some(taken) {
            let reason = "a snapshot of another time than its name has".to_owned();
            return Err(Unusable { path, reason });
        }
        Ok(Some(Kept { path, taken, snapshot }))
    }
}

impl Listing {
    fn of(directory: &Path) -> Result<Self, CliError> {
        let mut listing = Self::default();
        for entry in entries(directory, 1)? {
            let file_name = entry.file_name();
            if file_name == LOCK {
                continue;
            }
            if publish::is_temporary(file_name) {
                listing.temporary.push(entry.path());
                continue;
            }
            match file_name.to_str().and_then(name::time).filter(|_| entry.file_type().is_file()) {
                Some(taken) => listing.dated.push((taken, entry.path())),
                None => listing.foreign.push(entry.path()),
            }
        }
        listing.dated.sort();
        listing.foreign.sort();
        Ok(listing)
    }

    /// Returns whether there is neither a snapshot nor a file that is none.
    fn is_empty(&self) -> bool {
        self.dated.is_empty() && self.foreign.is_empty()
    }
}

/// Returns the entries of a directory down to a depth, without the directory itself. One that does not exist has
/// none.
fn entries(directory: &Path, depth: u32) -> Result<Vec<DirEntry>, CliError> {
    let mut entries = Vec::new();
    for entry in transect::walk(directory).max_depth(depth) {
        match entry {
            Ok(entry) if entry.depth() > 0 => entries.push(entry),
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(_) => {
                let directory = directory.display();
                return Err(CliError::Failed(format!("'{directory}' is not a directory")));
            }
            // Nothing was kept yet.
            Err(error) if error.depth() == Some(0) && is_missing(&error) => break,
            Err(error) => return Err(CliError::failed(error)),
        }
    }
    Ok(entries)
}

fn is_missing(error: &transect::Error) -> bool {
    error.io_error().is_some_and(|error| FaultKind::of(error) == FaultKind::NotFound)
}

#[cfg(test)]
mod tests;
