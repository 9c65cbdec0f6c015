//! Inspects the files of the arguments, one after the other, and keeps their results.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use transect::{Diagnostics, FileId, Operation, ScanError};
use transect_sys::file::attributes_of;
use transect_sys::residency;
use transect_transform::tree;

use crate::args::CacheArgs;
use crate::output;
use crate::output::units::{bytes, count};
use crate::progress::{REDRAW_INTERVAL, StatusLine};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;

pub(super) struct FileRow<T> {
    pub(super) path: PathBuf,
    /// A further name of an earlier file, which totals do not count again.
    pub(super) repeated: bool,
    pub(super) found: T,
}

pub(super) struct Inspected<T> {
    pub(super) rows: Vec<FileRow<T>>,
    pub(super) diagnostics: Diagnostics,
    pub(super) interrupted: bool,
}

impl<T> Inspected<T> {
    /// Prints errors, unless the JSON object will list them. Returns whether there are results to
    /// show: false if none of the paths could be read.
    pub(super) fn show_errors(&self, args: &CacheArgs) -> bool {
        let is_more = self.diagnostics.failed_roots < args.paths.len() as u64;
        if !(args.json && args.errors && is_more) {
            output::show_errors(&self.diagnostics, args.errors);
        }
        is_more
    }

    pub(super) fn end(&self) -> ExitStatus {
        ExitStatus::from_diagnostics(&self.diagnostics, self.interrupted)
    }

    /// Returns the results, each file once.
    pub(super) fn files(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().filter(|row| !row.repeated).map(|row| &row.found)
    }

    pub(super) fn hard_links(&self) -> usize {
        self.rows.iter().filter(|row| row.repeated).count()
    }
}

/// Calls `inspect` with each file of the arguments, in the order of their paths.
pub(super) fn inspect_files<T>(
    args: &CacheArgs,
    mut inspect: impl FnMut(&File) -> io::Result<T>,
) -> Result<Inspected<T>, CliError> {
    let cancel = cancel_on_signal()?;
    let options = args.filter.options(args.paths.clone()).cancel(cancel.clone());
    let tree::InputSet { files, leftovers, tally: mut diagnostics, mut interrupted, .. } =
        tree::find_inputs(options, false)?;
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    // Temporary files of transforms are files, too.
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
        let depth = u32::from(!args.paths.contains(&path));
        let inspected = residency::open(&path).map_err(|error| (depth, error)).and_then(|file| {
            // What can be opened was found, even if it is a root.
            with_identity(&file, &mut inspect).map_err(|error| (1, error))
        });
        match inspected {
            Ok((id, found)) => {
                let repeated = id.is_some_and(|id| !seen.insert(id));
                rows.push(FileRow { path, repeated, found });
            }
            Err((1, error)) if error.kind() == io::ErrorKind::NotFound => diagnostics.vanished += 1,
            Err((depth, error)) => {
                diagnostics.add(ScanError::new(Operation::Stat, path, depth, error));
            }
        }
    }
    diagnostics.sort();
    Ok(Inspected { rows, diagnostics, interrupted })
}

/// Inspects a file. Returns its identity, too, if it can have several names.
fn with_identity<T>(
    file: &File,
    inspect: &mut impl FnMut(&File) -> io::Result<T>,
) -> io::Result<(Option<FileId>, T)> {
    let attributes = attributes_of(file)?;
    let id = if attributes.nlink() == Some(1) { None } else { attributes.file_id() };
    Ok((id, inspect(file)?))
}

/// Returns a saturating sum; `None` if any part is unknown.
pub(super) fn sum(mut parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    parts.try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
}

pub(super) fn size_or_unknown(size: Option<u64>) -> String {
    size.map_or("unknown".to_owned(), bytes)
}
