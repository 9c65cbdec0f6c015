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
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output;
use crate::output::units::{bytes, count};
use crate::progress::{PERIOD, StatusLine};

pub(crate) fn run(command: &CacheCommand) -> Result<End, Fatal> {
    match command {
        CacheCommand::Status(args) => status::run(args),
        CacheCommand::Drop(args) => drop::run(args),
    }
}

/// A file, and what was found out.
struct Row<T> {
    path: PathBuf,
    /// Another name of a file that had its row before: no total counts it again.
    repeated: bool,
    found: T,
}

/// What was done to some files.
struct Done<T> {
    rows: Vec<Row<T>>,
    diagnostics: Diagnostics,
    interrupted: bool,
}

impl<T> Done<T> {
    /// Says what went wrong, unless it has a place of its own in the object that will be printed.
    /// Returns whether there is anything else to show: not if none of the paths could be read.
    fn show_errors(&self, args: &CacheFilesArgs, json: bool) -> bool {
        let is_more = self.diagnostics.failed_roots < args.paths.len() as u64;
        if !(json && args.errors && is_more) {
            output::show_errors(&self.diagnostics, args.errors);
        }
        is_more
    }

    fn end(&self) -> End {
        End::of(&self.diagnostics, self.interrupted)
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
fn each<T>(
    args: &CacheFilesArgs,
    mut find_out: impl FnMut(&File) -> io::Result<T>,
) -> Result<Done<T>, Fatal> {
    let cancel = cancel_on_signal()?;
    let options = args.filter.options(args.paths.clone()).cancel(cancel.clone());
    let tree::InputSet { files, leftovers, tally: mut diagnostics, mut interrupted } =
        tree::find_inputs(options, false)?;
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    // Somebody's temporary files are files.
    paths.extend(leftovers);
    paths.sort_unstable();

    let mut status = StatusLine::on_a_terminal();
    let mut shown = Instant::now();
    let (mut seen, all) = (HashSet::new(), paths.len());
    let mut rows = Vec::with_capacity(all);
    for (number, path) in paths.into_iter().enumerate() {
        if cancel.is_cancelled() {
            interrupted = true;
            break;
        }
        if let Some(status) = &mut status
            && shown.elapsed() >= PERIOD
        {
            status.show(format!("{} of {} files", count(number as u64), count(all as u64)));
            shown = Instant::now();
        }
        match with_open(&path, &mut find_out) {
            Ok((id, found)) => {
                let repeated = id.is_some_and(|id| !seen.insert(id));
                rows.push(Row { path, repeated, found });
            }
            Err(Wrong::Open(error)) => {
                let is_root = args.paths.contains(&path);
                if error.kind() == io::ErrorKind::NotFound && !is_root {
                    diagnostics.vanished += 1;
                } else {
                    let depth = u32::from(!is_root);
                    diagnostics.add_error(ScanError::new(Operation::Stat, path, depth, error));
                }
            }
            Err(Wrong::Then(error)) => {
                diagnostics.add_error(ScanError::new(Operation::Stat, path, 1, error));
            }
        }
    }
    diagnostics.sort();
    Ok(Done { rows, diagnostics, interrupted })
}

/// What went wrong with a file: it could not be opened, or it was what came then.
enum Wrong {
    Open(io::Error),
    Then(io::Error),
}

fn with_open<T>(
    path: &Path,
    find_out: &mut impl FnMut(&File) -> io::Result<T>,
) -> Result<(Option<FileId>, T), Wrong> {
    let file = residency::open(path).map_err(Wrong::Open)?;
    let attributes = attributes_of(&file).map_err(Wrong::Then)?;
    // Most files have one name, and need not be remembered.
    let id = if attributes.nlink() == Some(1) { None } else { attributes.file_id() };
    let found = find_out(&file).map_err(Wrong::Then)?;
    Ok((id, found))
}

/// Returns a sum of what is known, or nothing if anything is not. It stays at the most that can be told.
fn sum(mut parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    parts.try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
}

/// Returns a size, or a word if it is not known.
fn known(size: Option<u64>) -> String {
    size.map_or("unknown".to_owned(), bytes)
}

fn to_terminal() -> bool {
    output::stream::stdout_is_terminal()
}
