//! `transect cache status`: shows how much of each file is in memory.

use std::io::{self, Write};

use serde::Serialize;
use transect_sys::residency::{Residency, residency, residency_of_parts};

use super::inspect::{FileRow, Inspected, inspect_files, size_or_unknown, sum};
use crate::args::CacheStatusArgs;
use crate::output::json::{PathEntry, error_list, object};
use crate::output::stream::stdout_is_terminal;
use crate::output::units::{bytes, counted};
use crate::output::{self, BOLD, DIM, quote};
use transect_program::exit::{CliError, ExitStatus};

/// The characters of the map that shows which parts of a file are in memory.
const PARTS: usize = 16;

/// The residency of a file.
struct Status {
    whole: Residency,
    /// The residency of its parts, if stdout is a terminal.
    parts: Vec<Residency>,
}

pub(crate) fn run(args: &CacheStatusArgs) -> Result<ExitStatus, CliError> {
    let with_parts = stdout_is_terminal() && !args.json;
    let done = inspect_files(&args.files, |file| {
        let whole = residency(file)?;
        let parts = if with_parts { residency_of_parts(file, PARTS)? } else { Vec::new() };
        Ok(Status { whole, parts })
    })?;
    if !done.show_errors(&args.files, args.json) {
        return Ok(done.end());
    }
    let mut text = output::buffer();
    if args.json {
        let report = report(&done, args.min_resident as u64, args.files.errors);
        output::write_json(&mut text, &report)?;
        output::print(text)?;
    } else {
        write(&mut text, &done, args.min_resident as u64)?;
        output::print_wrapped(text)?;
    }
    Ok(done.end())
}

/// Returns the total of all files, each counted once.
fn total(done: &Inspected<Status>) -> Residency {
    let files = || done.files().map(|status| status.whole);
    let all =
        |of: fn(Residency) -> u64| files().fold(0_u64, |sum, whole| sum.saturating_add(of(whole)));
    Residency {
        bytes: all(|whole| whole.bytes),
        resident: all(|whole| whole.resident),
        dirty: sum(files().map(|whole| whole.dirty)),
        writeback: sum(files().map(|whole| whole.writeback)),
    }
}

fn write(out: &mut impl Write, done: &Inspected<Status>, min_resident: u64) -> io::Result<()> {
    writeln!(out, "{BOLD}{:>10} {:>6} {:>10} {:>10}{BOLD:#}", "resident", "", "size", "dirty")?;
    let (mapped, room) = layout(output::terminal_width());
    for row in &done.rows {
        let Status { whole, parts } = &row.found;
        if whole.resident < min_resident {
            continue;
        }
        let map: String = parts.iter().map(shade).collect();
        let map = if mapped { format!("{map:<PARTS$}  ") } else { String::new() };
        let path = quote::shorten(quote::for_terminal(row.path.as_os_str()), room);
        writeln!(out, "{}  {map}{path}", numbers(whole))?;
    }
    if done.rows.len() != 1 {
        let files = counted(done.files().count() as u64, "file", "files");
        writeln!(out, "{}  {DIM}total of {files}{DIM:#}", numbers(&total(done)))?;
    }
    Ok(())
}

/// Returns whether the maps are shown, and the columns for a path.
fn layout(terminal: Option<usize>) -> (bool, usize) {
    /// The columns of the numbers.
    const NUMBERS: usize = 41;
    /// The least columns beside the numbers.
    const LEAST: usize = 24;
    // A terminal may not know its size.
    let Some(width) = terminal else { return (stdout_is_terminal(), usize::MAX) };
    let left = width.saturating_sub(NUMBERS);
    match () {
        () if left >= PARTS + 2 + LEAST / 2 => (true, left - PARTS - 2),
        () if left >= LEAST => (false, left),
        // On a line of its own.
        () => (false, width.saturating_sub(4)),
    }
}

fn numbers(residency: &Residency) -> String {
    let Residency { bytes: size, resident, dirty, writeback } = *residency;
    // Pages under writeback are not on the device yet.
    let dirty = dirty.zip(writeback).map(|(dirty, writeback)| dirty + writeback);
    let percent = percent(resident, size);
    format!(
        "{:>10} {percent:>6} {:>10} {:>10}",
        bytes(resident),
        bytes(size),
        size_or_unknown(dirty)
    )
}

/// Returns a share in whole percent: 100 only for everything, 0 only for nothing.
fn percent(part: u64, whole: u64) -> String {
    match part as u128 * 100 / u128::from(whole.max(1)) {
        _ if whole == 0 => String::new(),
        0 if part > 0 => "<1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// Returns the character for the resident share of a part.
fn shade(part: &Residency) -> char {
    match part.resident {
        0 => '·',
        resident if resident >= part.bytes => '█',
        resident if resident >= part.bytes / 2 => '▓',
        _ => '░',
    }
}

/// Returns the object of `--json`.
fn report<'d>(done: &'d Inspected<Status>, min_resident: u64, list_errors: bool) -> impl Serialize {
    let listed = done.rows.iter().filter(|row| row.found.whole.resident >= min_resident);
    let file = |row: &'d FileRow<Status>| {
        object! { ..path: PathEntry::from(row.path.as_path()), ..sizes: sizes(row.found.whole) }
    };
    let diagnostics = &done.diagnostics;
    object! {
        schema: "transect.cache.status/1",
        complete: diagnostics.is_complete() && !done.interrupted,
        interrupted: done.interrupted,
        files: done.files().count(),
        hard_links: done.hard_links(),
        ..total: sizes(total(done)),
        file_list: listed.map(file).collect::<Vec<_>>(),
        vanished: diagnostics.vanished,
        errors: diagnostics.errors,
        error_list?: list_errors.then(|| error_list(&diagnostics.kept_errors)),
    }
}

fn sizes(of: Residency) -> impl Serialize {
    object! { size: of.bytes, resident: of.resident, dirty: of.dirty, writeback: of.writeback }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_0_or_100_only_if_exact() {
        for (part, whole, text) in [
            (0, 0, ""),
            (0, 1, "0 %"),
            (1, 1, "100 %"),
            (1, 1_000, "<1 %"),
            (999, 1_000, "99 %"),
            (u64::MAX - 1, u64::MAX, "99 %"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
    }
}
