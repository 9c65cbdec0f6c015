//! Publishes many results with a common sync: one wait for the device instead of one per file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use transect_sys::file::attributes_at;

use super::target::parent_dir;
use super::{CompleteResult, Durability, PublishReport, Replacement};
use crate::error::{Error, Operation, duplicate_io_error};
use crate::system::{self, FileSystem};

type Outcome = Result<PublishReport, Error>;

#[derive(Debug)]
enum BatchEntry {
    /// It equals its input, and there is nothing to do.
    Unwritten(PublishReport),
    /// It waits to be synced, on this device.
    Pending(u64, CompleteResult),
}

/// Complete results that wait to be published together. Each file system is synced once, then all
/// files are renamed, then each directory is synced once.
///
/// Until [`Batch::publish`], all targets are unchanged. Dropping a batch removes its temporary
/// files.
#[derive(Debug, Default)]
pub struct Batch {
    entries: Vec<BatchEntry>,
    file_systems: HashMap<u64, Option<FileSystem>>,
}

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of results.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether it has no results.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a complete result. Closes its file: a batch may be larger than the limit on open files.
    ///
    /// # Errors
    /// The system reports an error; the target is unchanged.
    pub fn add(&mut self, mut result: Replacement) -> Result<(), Error> {
        result.options.durability = Durability::Batch;
        if result.is_unwritten() {
            self.entries.push(BatchEntry::Unwritten(result.unwritten_report()));
            return Ok(());
        }
        let device = self.device_of(result.path())?;
        self.entries.push(match result.finish()? {
            Some(complete) => BatchEntry::Pending(device, complete),
            None => BatchEntry::Unwritten(result.unwritten_report()),
        });
        Ok(())
    }

    /// Returns the device of a target, and keeps its file system open from now on.
    fn device_of(&mut self, target: &Path) -> Result<u64, Error> {
        let directory = parent_dir(target);
        let attributes =
            attributes_at(directory).map_err(Error::system(Operation::Sync, target))?;
        let device = attributes.device().unwrap_or(0);
        if let Entry::Vacant(unknown) = self.file_systems.entry(device) {
            let opened = FileSystem::of_directory(directory);
            unknown.insert(opened.map_err(Error::system(Operation::Sync, target))?);
        }
        Ok(device)
    }

    /// Publishes all results; an error affects no other result. Returns the outcomes in the order
    /// in which the results were added.
    pub fn publish(self) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.entries.len());
        let synced: HashMap<u64, Option<std::io::Result<()>>> = self
            .file_systems
            .iter()
            .map(|(device, system)| (*device, system.as_ref().map(FileSystem::sync)))
            .collect();
        let mut directories: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for entry in self.entries {
            let outcome = match entry {
                BatchEntry::Unwritten(published) => Ok(published),
                BatchEntry::Pending(device, complete) => {
                    sync(&complete, synced.get(&device).and_then(Option::as_ref))
                        .and_then(|()| complete.put_in_place())
                }
            };
            if let Ok(published) = &outcome
                && published.written
            {
                let directory = parent_dir(&published.path).to_owned();
                directories.entry(directory).or_default().push(outcomes.len());
            }
            outcomes.push(outcome);
        }
        for names in directories.into_values() {
            sync_names(&names, &mut outcomes);
        }
        outcomes
    }
}

/// Syncs a file, unless its whole file system was synced.
fn sync(complete: &CompleteResult, together: Option<&std::io::Result<()>>) -> Result<(), Error> {
    let synced = match together {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(duplicate_io_error(error)),
        None => complete.temporary.sync(),
    };
    synced.map_err(Error::system(Operation::Sync, &complete.target.path))
}

/// Syncs the directory of these results. If that fails, all of them have failed.
fn sync_names(names: &[usize], outcomes: &mut [Outcome]) {
    let path_of = |outcome: &Outcome| outcome.as_ref().map(|published| published.path.clone()).ok();
    let Some(first) = names.first().and_then(|&first| path_of(&outcomes[first])) else {
        return;
    };
    let Err(error) = system::sync_directory(parent_dir(&first)) else {
        return;
    };
    for &index in names {
        if let Some(path) = path_of(&outcomes[index]) {
            outcomes[index] =
                Err(Error::system(Operation::Sync, &path)(duplicate_io_error(&error)));
        }
    }
}
