//! `transect cache drop`: drops files from memory, and verifies it.

use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;
use transect_sys::residency::{Residency, drop_pages, is_memory_only, residency};

use super::inspect::{FileRow, Inspected, inspect_files, size_or_unknown, sum};
use crate::args::CacheArgs;
use crate::output::json::{PathEntry, error_list, object};
use crate::output::units::counted;
use crate::output::{self, BOLD, DIM, WARN, quote};
use transect_program::exit::{CliError, ExitStatus};

struct Dropped {
    before: Option<Residency>,
    after: Option<Residency>,
    /// The reason why some of it is still in memory.
    kept: Option<&'static str>,
}

pub(crate) fn run(args: &CacheArgs) -> Result<ExitStatus, CliError> {
    let done = inspect_files(args, drop_file)?;
    let end = match done.end() {
        ExitStatus::Complete if done.files().any(|dropped| dropped.kept.is_some()) => {
            ExitStatus::Partial
        }
        end => end,
    };
    if !done.show_errors(args) {
        return Ok(end);
    }
    let mut text = output::buffer();
    if args.json {
        output::write_json(&mut text, &report(&done, args.errors))?;
        output::print(text)?;
    } else {
        write(&mut text, &done)?;
        output::print_wrapped(text)?;
    }
    if done.files().any(|dropped| dropped.after.is_none()) {
        output::hint(
            "files with unknown sizes were dropped as well, but the system does not confirm it",
        );
    }
    Ok(end)
}

const NUMBERS: usize = 23;

/// The least columns of a path beside a reason.
const LEAST_PATH: usize = 24;

fn drop_file(file: &File) -> io::Result<Dropped> {
    let before = none_if_unavailable(residency(file))?;
    drop_pages(file).map_err(|error| {
        let reason = transect::reason(&error);
        io::Error::new(error.kind(), format!("dropping it from memory failed: {reason}"))
    })?;
    let after = none_if_unavailable(residency(file))?;
    let kept = after.filter(|after| after.resident > 0).map(|after| kept_reason(file, after));
    Ok(Dropped { before, after, kept })
}

/// Returns `None` if the system does not report residency: such files can be dropped all the same.
fn none_if_unavailable(answer: io::Result<Residency>) -> io::Result<Option<Residency>> {
    match answer {
        Ok(residency) => Ok(Some(residency)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn kept_reason(file: &File, after: Residency) -> &'static str {
    if is_memory_only(file) {
        "its file system lies in memory"
    } else if after.dirty.is_some_and(|dirty| dirty > 0) {
        "it was changed again"
    } else {
        "a program has it mapped, or reads it just now"
    }
}

fn write(out: &mut impl Write, done: &Inspected<Dropped>) -> io::Result<()> {
    writeln!(out, "{BOLD}{:>10} {:>10}{BOLD:#}", "before", "after")?;
    for row in &done.rows {
        let Dropped { before, after, kept } = &row.found;
        // Both numbers and a reason stand beside it where there is room.
        let room =
            output::terminal_width().map_or(usize::MAX, |width| width.saturating_sub(NUMBERS));
        let reason = kept.map_or(0, |kept| kept.len() + 2);
        let room = if room >= reason + LEAST_PATH { room - reason } else { room };
        let path = quote::shorten(quote::for_terminal(row.path.as_os_str()), room);
        let kept = kept.map_or(String::new(), |kept| format!("  {WARN}{kept}{WARN:#}"));
        writeln!(out, "{}  {path}{kept}", numbers(resident(before), resident(after)))?;
    }
    if done.rows.len() != 1 {
        let files = counted(done.files().count() as u64, "file", "files");
        let (before, after) = totals(done);
        writeln!(out, "{}  {DIM}total of {files}{DIM:#}", numbers(before, after))?;
    }
    Ok(())
}

fn numbers(before: Option<u64>, after: Option<u64>) -> String {
    format!("{:>10} {:>10}", size_or_unknown(before), size_or_unknown(after))
}

fn resident(residency: &Option<Residency>) -> Option<u64> {
    residency.map(|residency| residency.resident)
}

fn totals(done: &Inspected<Dropped>) -> (Option<u64>, Option<u64>) {
    let before = sum(done.files().map(|dropped| resident(&dropped.before)));
    (before, sum(done.files().map(|dropped| resident(&dropped.after))))
}

fn report<'d>(done: &'d Inspected<Dropped>, list_errors: bool) -> impl Serialize {
    let (resident_before, resident_after) = totals(done);
    let file = |row: &'d FileRow<Dropped>| {
        object! {
            ..path: PathEntry::from(row.path.as_path()),
            resident_before: resident(&row.found.before),
            resident_after: resident(&row.found.after),
            kept: row.found.kept,
        }
    };
    let diagnostics = &done.diagnostics;
    object! {
        schema: "transect.cache.drop/1",
        complete: diagnostics.is_complete() && !done.interrupted,
        interrupted: done.interrupted,
        files: done.files().count(),
        hard_links: done.hard_links(),
        resident_before: resident_before,
        resident_after: resident_after,
        file_list: done.rows.iter().map(file).collect::<Vec<_>>(),
        vanished: diagnostics.vanished,
        errors: diagnostics.errors,
        error_list?: list_errors.then(|| error_list(&diagnostics.kept_errors)),
    }
}
