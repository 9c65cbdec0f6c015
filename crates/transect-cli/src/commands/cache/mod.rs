//! `transect cache`: how much of files is in memory, and how it gets out of there.

mod drop;
mod status;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use transect::{Diagnostics, FileId, Operation, ScanError};
use transect_sys::file::attributes_of;
use transect_sys::residency;
use transect_transform::tree;

use crate::args::{CacheCommand, CacheFilesArgs};
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output;
use crate::output::units::{bytes, count};
use crate::progress::{REDRAW_INTERVAL, StatusLine};

pub(crate) fn run(command: &CacheCommand) -> Result<ExitStatus, CliError> {
    match command {
        CacheCommand::Status(args) => status::run(args),
        CacheCommand::Drop(args) => drop::run(args),
    }
}

/// A file, and what was found out.
struct FileRow<T> {
    path: PathBuf,
    /// Another name of a file that had its row before: no total counts it again.
    repeated: bool,
    found: T,
}

/// What was done to some files.
struct Inspected<T> {
    rows: Vec<FileRow<T>>,
    diagnostics: Diagnostics,
    interrupted: bool,
}

impl<T> Inspected<T> {
    /// Says what went wrong, unless it has a place of its own in the object that will be printed.
    /// Returns whether there is anything else to show: not if none of the paths could be read.
    fn show_errors(&self, args: &CacheFilesArgs, json: bool) -> bool {
        let is_more = self.diagnostics.failed_roots < args.paths.len() as u64;
        if !(json && args.errors && is_more) {
            output::show_errors(&self.diagnostics, args.errors);
        }
        is_more
    }

    fn end(&self) -> ExitStatus {
        ExitStatus::from_diagnostics(&self.diagnostics, self.interrupted)
    }

    /// Returns what is counted: each file once.
    fn files(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().filter(|row| !row.repeated).map(|row| &row.found)
    }

    fn hard_links(&self) -> usize {
        self.rows.iter().filter(|row| row.repeated).count()
    }
}

/// Opens the files that arguments mean, one after the other, in the order of their paths.
fn inspect_files<T>(
    args: &CacheFilesArgs,
    mut inspect: impl FnMut(&File) -> io::Result<T>,
) -> Result<Inspected<T>, CliError> {
    let cancel = cancel_on_signal()?;
    let options = args.filter.options(args.paths.clone()).cancel(cancel.clone());
    let tree::InputSet { files, leftovers, tally: mut diagnostics, mut interrupted } =
        tree::find_inputs(options, false)?;
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    // Somebody's temporary files are files.
    paths.extend(leftovers);
    paths.sort_unstable();

    let mut status = StatusLine::on_terminal();
    let mut shown = Instant::now();
    let (mut seen, all) = (HashSet::new(), paths.len());
    let mut rows = Vec::with_capacity(all);
    for (number, path) in paths.into_iter().enumerate() {
        if cancel.is_cancelled() {
            interrupted = true;
            break;
        }
        if let Some(status) = &mut status
            && shown.elapsed() >= REDRAW_INTERVAL
        {
            status.show(format!("{} of {} files", count(number as u64), count(all as u64)));
            shown = Instant::now();
        }
        match with_open(&path, &mut inspect) {
            Ok((id, found)) => {
                let repeated = id.is_some_and(|id| !seen.insert(id));
                rows.push(FileRow { path, repeated, found });
            }
            Err(InspectError::Open(error)) => {
                let is_root = args.paths.contains(&path);
                if error.kind() == io::ErrorKind::NotFound && !is_root {
                    diagnostics.vanished += 1;
                } else {
                    let depth = u32::from(!is_root);
                    diagnostics.add_error(ScanError::new(Operation::Stat, path, depth, error));
                }
            }
            Err(InspectError::Then(error)) => {
                diagnostics.add_error(ScanError::new(Operation::Stat, path, 1, error));
            }
        }
    }
    diagnostics.sort();
    Ok(Inspected { rows, diagnostics, interrupted })
}

/// What went wrong with a file: it could not be opened, or it was what came then.
enum InspectError {
    Open(io::Error),
    Then(io::Error),
}

fn with_open<T>(
    path: &Path,
    inspect: &mut impl FnMut(&File) -> io::Result<T>,
) -> Result<(Option<FileId>, T), InspectError> {
    let file = residency::open(path).map_err(InspectError::Open)?;
    let attributes = attributes_of(&file).map_err(InspectError::Then)?;
    // Most files have one name, and need not be remembered.
    let id = if attributes.nlink() == Some(1) { None } else { attributes.file_id() };
    let found = inspect(&file).map_err(InspectError::Then)?;
    Ok((id, found))
}

/// Returns a sum of what is known, or nothing if anything is not. It stays at the most that can be told.
fn sum(mut parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    parts.try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
}

/// Returns a size, or a word if it is not known.
fn size_or_unknown(size: Option<u64>) -> String {
    size.map_or("unknown".to_owned(), bytes)
}

fn to_terminal() -> bool {
    output::stream::stdout_is_terminal()
}
