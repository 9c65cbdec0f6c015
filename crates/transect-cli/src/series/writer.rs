//! Adds snapshots to a series, and removes those that are no longer needed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use transect_snapshot::SeriesPlace;
use transect_sys::private_dir::{self, OtherUsers};
use transect_transform::publish;

use super::thinning::Member;
use super::{LOCK, Listing, Series, Unusable, name, thinning};
use crate::output;
use transect_program::CliError;

/// The only writer of a series. A file in its directory is locked; the system unlocks it however the process
/// ends.
#[derive(Debug)]
pub(crate) struct SeriesWriter<'s> {
    series: &'s Series,
    /// What was there when the series was locked, and what this writer stored: every file is opened once.
    members: Vec<Member>,
    foreign: ForeignFiles,
    _lock: File,
}

#[derive(Debug, Default)]
pub(crate) struct Thinning {
    pub(crate) superfluous: Vec<PathBuf>,
    /// Files with names of snapshots of earlier days that are not snapshots of the series. They are kept.
    pub(crate) unusable: Vec<Unusable>,
}

/// Files with names of snapshots that are not snapshots of the series, by the times in their names.
type ForeignFiles = Vec<(i64, Unusable)>;

impl Series {
    /// Creates the directory of the series, and locks it.
    ///
    /// # Errors
    /// The directory cannot be created, others can read it, or another process is storing a snapshot.
    pub(crate) fn lock(&self) -> Result<SeriesWriter<'_>, CliError> {
        create_private(&self.directory)?;
        let path = self.directory.join(LOCK);
        let failed = CliError::cannot("lock", &path);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        let lock = options.open(&path).map_err(&failed)?;
        match lock.try_lock() {
            Ok(()) => {
                let (members, foreign) = self.members()?;
                Ok(SeriesWriter { series: self, members, foreign, _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(CliError::Failed(format!(
                "cannot keep '{}': another transect is storing a snapshot of it",
                self.root.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    pub(crate) fn path_for(&self, taken: i64) -> PathBuf {
        self.directory.join(name::file(taken))
    }

    /// Returns the time that a snapshot gets if reading begins at `now`: that time, or a millisecond later if
    /// there is one of that time already. Both are nanoseconds since 1970 UTC.
    ///
    /// # Errors
    /// The directory cannot be read, or the clock shows a time that no snapshot can have.
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
        Err(CliError::Failed(format!("cannot keep '{root}': {why}")))
    }

    /// Returns what thinning would remove at `now`, in nanoseconds since 1970 UTC.
    pub(crate) fn thinning(&self, now: i64) -> Result<Thinning, CliError> {
        let (members, foreign) = self.members()?;
        Ok(self.thinning_of(&members, &foreign, now))
    }

    fn thinning_of(&self, members: &[Member], foreign: &[(i64, Unusable)], now: i64) -> Thinning {
        let superfluous = thinning::superfluous(members, name::rounded(now));
        let superfluous = superfluous.into_iter().map(|taken| self.path_for(taken)).collect();
        let old = foreign.iter().filter(|it| now.saturating_sub(it.0) >= thinning::DAY);
        Thinning { superfluous, unusable: old.map(|it| it.1.clone()).collect() }
    }

    /// Returns the snapshots in the order in which they were stored, and by their times the files with names of snapshots
    /// that are not: other programs' files are not removed, whatever they are called.
    fn members(&self) -> Result<(Vec<Member>, ForeignFiles), CliError> {
        let (mut all, mut foreign) = (Vec::new(), Vec::new());
        for (taken, path) in self.list()?.dated {
            match self.open(taken, path) {
                Ok(None) => {}
                Ok(Some(kept)) => {
                    let metadata = kept.snapshot.metadata();
                    all.push((taken, metadata.series, metadata.complete));
                }
                Err(unusable) => foreign.push((taken, unusable)),
            }
        }
        Ok((thinning::in_order(all), foreign))
    }
}

impl SeriesWriter<'_> {
    /// Returns the place of a snapshot of this time that is stored now.
    pub(crate) fn place_for(&self, taken: i64) -> SeriesPlace {
        thinning::next_place(&self.members, name::rounded(taken))
    }

    /// Stores a snapshot that has the place for its time, and returns its file. Others see it complete or not at all.
    pub(crate) fn store(
        &mut self,
        taken: i64,
        is_complete: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, CliError> {
        let path = self.series.path_for(taken);
        output::file::write_private(&path, write)?;
        let place = self.place_for(taken);
        self.members.push(Member { taken: name::rounded(taken), place, is_complete });
        Ok(path)
    }

    /// Removes what [`Series::thinning`] returns, and temporary files of killed writers.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub(crate) fn thin(&mut self, now: i64) -> Result<Thinning, CliError> {
        let Listing { dated, temporary, .. } = self.series.list()?;
        // Those that may still be written to are kept.
        let _ = publish::remove_abandoned(&temporary);
        // A snapshot that was removed meanwhile makes no other one superfluous.
        self.members.retain(|it| dated.binary_search_by_key(&it.taken, |file| file.0).is_ok());
        let thinning = self.series.thinning_of(&self.members, &self.foreign, now);
        for path in &thinning.superfluous {
            remove(path)?;
        }
        Ok(thinning)
    }
}

fn remove(path: &Path) -> Result<(), CliError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CliError::cannot("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Creates the directory of a series, and those above it: names of files are nothing that others should
/// read.
fn create_private(directory: &Path) -> Result<(), CliError> {
    let host = directory.parent().unwrap_or(directory);
    let series = host.parent().unwrap_or(host);
    let program = series.parent().unwrap_or(series);
    private_dir::create_all(program, OtherUsers::ReadOnly)
        .and_then(|()| private_dir::create(series, OtherUsers::NoAccess))
        .and_then(|()| private_dir::create(host, OtherUsers::NoAccess))
        .and_then(|()| private_dir::create(directory, OtherUsers::NoAccess))
        .map_err(|refused| CliError::Failed(transect::reason(&refused)))
}
