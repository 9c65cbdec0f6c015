//! Inspects the files of the arguments, one after the other, and keeps their results.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use transect::{Diagnostics, FileId, Operation, ScanError};
use transect_sys::file::attributes_of;
use transect_sys::residency;
use transect_transform::tree;

use crate::args::CacheArgs;
use crate::output::json::{OwnedPath, error_list, object};
use crate::output::units::{bytes, count, counted};
use crate::output::{self, BOLD, DIM, WARN, quote};
use crate::progress::StatusLine;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

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

/// What a command reports of a file.
pub(super) trait FileReport: Sized + 'static {
    const SCHEMA: &'static str;
    /// The names above the numbers.
    const COLUMNS: &'static str;
    /// Whether [`FileReport::kept`] can return something.
    const CAN_FAIL: bool = false;

    /// Returns the total of all files, each counted once.
    fn total(done: &Inspected<Self>) -> Self;

    fn numbers(&self) -> String;

    /// Returns the numbers as JSON.
    fn object(&self) -> impl Serialize + use<Self>;

    /// Returns the reason why some of the file is still in memory.
    fn kept(&self) -> Option<&'static str> {
        None
    }
}

impl<T> Inspected<T> {
    pub(super) fn end(&self) -> ExitStatus {
        ExitStatus::from_diagnostics(&self.diagnostics, self.interrupted)
    }

    /// Returns the results, each file once.
    pub(super) fn files(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().filter(|row| !row.repeated).map(|row| &row.found)
    }
}

impl<T: FileReport> Inspected<T> {
    /// Prints errors and results. Returns whether there are results: false if none of the paths could be read.
    pub(super) fn show(&self, args: &CacheArgs) -> io::Result<bool> {
        let is_more = self.diagnostics.failed_roots < args.paths.len() as u64;
        // The JSON object lists the errors itself.
        if !(args.json && args.errors && is_more) {
            output::show_errors(&self.diagnostics, args.errors);
        }
        match is_more {
            true if args.json => output::print_json(&self.json(args))?,
            true => self.print()?,
            false => {}
        }
        Ok(is_more)
    }

    fn print(&self) -> io::Result<()> {
        let mut out = output::buffer();
        writeln!(out, "{BOLD}{}{BOLD:#}", T::COLUMNS)?;
        for row in &self.rows {
            let (numbers, kept) = (row.found.numbers(), row.found.kept());
            let room = room(numbers.len() + 2, kept.map_or(0, |kept| kept.len() + 2));
            let path = quote::shorten(quote::for_terminal(row.path.as_os_str()), room);
            let kept = kept.map_or(String::new(), |kept| format!("  {WARN}{kept}{WARN:#}"));
            writeln!(out, "{numbers}  {path}{kept}")?;
        }
        if self.rows.len() != 1 {
            let files = counted(self.files().count() as u64, "file", "files");
            writeln!(out, "{}  {DIM}total of {files}{DIM:#}", T::total(self).numbers())?;
        }
        output::print_wrapped(out)
    }

    fn json(&self, args: &CacheArgs) -> impl Serialize {
        let file = |row: &FileRow<T>| {
            object! {
                ..path: OwnedPath(row.path.clone()),
                ..numbers: row.found.object(),
                kept?: T::CAN_FAIL.then(|| row.found.kept()),
            }
        };
        object! {
            schema: T::SCHEMA,
            complete: self.diagnostics.is_complete() && !self.interrupted,
            interrupted: self.interrupted,
            files: self.files().count(),
            hard_links: self.rows.iter().filter(|row| row.repeated).count(),
            ..total: T::total(self).object(),
            file_list: self.rows.iter().map(file).collect::<Vec<_>>(),
            vanished: self.diagnostics.vanished,
            errors: self.diagnostics.errors,
            error_list?: args.errors.then(|| error_list(&self.diagnostics.kept_errors)),
        }
    }
}

/// Returns the room for a path beside numbers, and where it is enough also beside a reason.
fn room(numbers: usize, reason: usize) -> usize {
    const LEAST: usize = 24;
    // A terminal may not know its size.
    let Some(width) = output::terminal_width() else { return usize::MAX };
    match width.saturating_sub(numbers) {
        room if room >= reason + LEAST => room - reason,
        room @ LEAST.. => room,
        // On a line of its own.
        _ => width.saturating_sub(4),
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
    let (mut seen, all) = (HashSet::new(), paths.len());
    let mut rows = Vec::with_capacity(all);
    for (number, path) in paths.into_iter().enumerate() {
        if cancel.is_cancelled() {
            interrupted = true;
            break;
        }
        status.redraw(|| format!("{} of {} files", count(number as u64), count(all as u64)));
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
