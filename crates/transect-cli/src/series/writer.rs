//! Adds snapshots to a series, and removes those that are no longer needed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use transect_snapshot::SeriesPlace;
use transect_sys::private_dir::{self, OtherUsers};
use transect_transform::publish;

use super::thinning::Member;
use super::{LOCK, Series, Unusable, name, thinning};
use crate::output;
use transect_program::exit::CliError;

/// The only writer of a series. A file in its folder is locked; the system unlocks it however the process
/// ends.
#[derive(Debug)]
pub(crate) struct SeriesWriter<'s> {
    series: &'s Series,
    _lock: File,
}

/// What thinning removes.
#[derive(Debug, Default)]
pub(crate) struct Thinning {
    /// Snapshots that are no longer needed.
    pub(crate) superfluous: Vec<PathBuf>,
    /// Files with names of snapshots of earlier days that are not snapshots of the series. They are kept.
    pub(crate) unusable: Vec<Unusable>,
}

/// Files with names of snapshots that are not snapshots of the series, by the times in their names.
type ForeignFiles = Vec<(i64, Unusable)>;

impl Series {
    /// Creates the folder of the series, and locks it.
    ///
    /// # Errors
    /// The folder cannot be created, others can read it, or another process is storing a snapshot.
    pub(crate) fn lock(&self) -> Result<SeriesWriter<'_>, CliError> {
        create_private(&self.folder)?;
        let path = self.folder.join(LOCK);
        let root = self.root.display();
        let failed = |error: &io::Error| {
            let (path, reason) = (path.display(), transect::reason(error));
            CliError::File(format!("cannot lock '{path}': {reason}"))
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        let lock = options.open(&path).map_err(|error| failed(&error))?;
        match lock.try_lock() {
            Ok(()) => Ok(SeriesWriter { series: self, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(CliError::File(format!(
                "cannot keep '{root}': another transect is storing a snapshot of it"
            ))),
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    /// Returns the file for a snapshot of this time.
    pub(crate) fn path_for(&self, taken: i64) -> PathBuf {
        self.folder.join(name::file(taken))
    }

    /// Returns the time that a snapshot gets if reading begins at `now`: that time, or a millisecond later if
    /// there is one of that time already. Both are nanoseconds since 1970 UTC.
    ///
    /// # Errors
    /// The folder cannot be read, or the clock shows a time that no snapshot can have.
    pub(crate) fn time_for(&self, now: i64) -> Result<i64, CliError> {
        let dated = self.list()?.dated;
        let mut taken = now;
        // Later times of the clock are the latest of these.
        while taken < i64::MAX {
            if dated.binary_search_by_key(&name::rounded(taken), |it| it.0).is_err() {
                return Ok(taken);
            }
            taken = taken.saturating_add(name::UNIT);
        }
        let root = self.root.display();
        let why = "the clock of this machine shows a time after 2262";
        Err(CliError::File(format!("cannot keep '{root}': {why}")))
    }

    /// Returns what thinning would remove at `now`, in nanoseconds since 1970 UTC.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn thinning(&self, now: i64) -> Result<Thinning, CliError> {
        let (members, unusable) = self.members()?;
        let superfluous = thinning::superfluous(&members, name::rounded(now));
        let superfluous = superfluous.into_iter().map(|taken| self.path_for(taken)).collect();
        let is_old = |taken: i64| now.saturating_sub(taken) >= thinning::DAY;
        let unusable = unusable.into_iter().filter(|it| is_old(it.0)).map(|it| it.1).collect();
        Ok(Thinning { superfluous, unusable })
    }

    /// Returns the snapshots in the order in which they were stored, and by their times the files with names of snapshots
    /// that are not: other programs' files are not removed, whatever they are called.
    fn members(&self) -> Result<(Vec<Member>, ForeignFiles), CliError> {
        let (mut all, mut unusable) = (Vec::new(), Vec::new());
        for (taken, path) in self.list()?.dated {
            match self.open(taken, path) {
                Ok(None) => {}
                Ok(Some(kept)) => {
                    let metadata = kept.snapshot.metadata();
                    all.push((taken, metadata.series, metadata.complete));
                }
                Err(foreign) => unusable.push((taken, foreign)),
            }
        }
        Ok((thinning::in_order(all), unusable))
    }
}

impl SeriesWriter<'_> {
    /// Returns the place of a snapshot of this time that is stored now.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn place_for(&self, taken: i64) -> Result<SeriesPlace, CliError> {
        let (members, _) = self.series.members()?;
        Ok(thinning::next_place(&members, name::rounded(taken)))
    }

    /// Stores a snapshot, and returns its file. Others see it complete or not at all.
    ///
    /// # Errors
    /// `write` fails, or the file cannot be created.
    pub(crate) fn store(
        &self,
        taken: i64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, CliError> {
        let path = self.series.path_for(taken);
        output::file::write_private(&path, write)?;
        Ok(path)
    }

    /// Removes what [`Series::thinning`] returns, and temporary files of killed writers.
    ///
    /// # Errors
    /// The folder cannot be read, or a file cannot be removed.
    pub(crate) fn thin(&self, now: i64) -> Result<Thinning, CliError> {
        // Those that may still be written to are kept.
        let _ = publish::remove_abandoned(&self.series.list()?.temporary);
        let thinning = self.series.thinning(now)?;
        for path in &thinning.superfluous {
            remove(path)?;
        }
        Ok(thinning)
    }
}

fn remove(path: &Path) -> Result<(), CliError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let (path, reason) = (path.display(), transect::reason(&error));
            Err(CliError::File(format!("cannot remove '{path}': {reason}")))
        }
        _ => Ok(()),
    }
}

/// Creates the folder of a series, and those above it: names of files are nothing that others should
/// read.
fn create_private(folder: &Path) -> Result<(), CliError> {
    let host = folder.parent().unwrap_or(folder);
    let series = host.parent().unwrap_or(host);
    let program = series.parent().unwrap_or(series);
    private_dir::create_all(program, OtherUsers::ReadOnly)
        .and_then(|()| private_dir::create(series, OtherUsers::NoAccess))
        .and_then(|()| private_dir::create(host, OtherUsers::NoAccess))
        .and_then(|()| private_dir::create(folder, OtherUsers::NoAccess))
        .map_err(|refused| CliError::File(transect::reason(&refused.into())))
}
