//! `transect cache status`: shows how much of each file is in memory.

use std::io::{self, Write};

use serde::Serialize;
use transect_sys::residency::{Residency, residency};

use super::inspect::{FileRow, Inspected, inspect_files, size_or_unknown, sum};
use crate::args::CacheArgs;
use crate::output::json::{PathEntry, error_list, object};
use crate::output::units::{bytes, counted};
use crate::output::{self, BOLD, DIM, quote};
use transect_program::exit::{CliError, ExitStatus};

pub(crate) fn run(args: &CacheArgs) -> Result<ExitStatus, CliError> {
    let done = inspect_files(args, residency)?;
    if !done.show_errors(args) {
        return Ok(done.end());
    }
    let mut text = output::buffer();
    if args.json {
        output::write_json(&mut text, &report(&done, args.errors))?;
        output::print(text)?;
    } else {
        write(&mut text, &done)?;
        output::print_wrapped(text)?;
    }
    Ok(done.end())
}

/// Returns the total of all files, each counted once.
fn total(done: &Inspected<Residency>) -> Residency {
    let all = |of: fn(&Residency) -> u64| {
        done.files().fold(0_u64, |sum, file| sum.saturating_add(of(file)))
    };
    Residency {
        bytes: all(|file| file.bytes),
        resident: all(|file| file.resident),
        dirty: sum(done.files().map(|file| file.dirty)),
        writeback: sum(done.files().map(|file| file.writeback)),
    }
}

fn write(out: &mut impl Write, done: &Inspected<Residency>) -> io::Result<()> {
    writeln!(out, "{BOLD}{:>10} {:>6} {:>10} {:>10}{BOLD:#}", "resident", "", "size", "dirty")?;
    let room = room(output::terminal_width());
    for row in &done.rows {
        let path = quote::shorten(quote::for_terminal(row.path.as_os_str()), room);
        writeln!(out, "{}  {path}", numbers(&row.found))?;
    }
    if done.rows.len() != 1 {
        let files = counted(done.files().count() as u64, "file", "files");
        writeln!(out, "{}  {DIM}total of {files}{DIM:#}", numbers(&total(done)))?;
    }
    Ok(())
}

fn room(terminal: Option<usize>) -> usize {
    const NUMBERS: usize = 41;
    const LEAST: usize = 24;
    // A terminal may not know its size.
    let Some(width) = terminal else { return usize::MAX };
    match width.saturating_sub(NUMBERS) {
        room @ LEAST.. => room,
        // On a line of its own.
        _ => width.saturating_sub(4),
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

fn report<'d>(done: &'d Inspected<Residency>, list_errors: bool) -> impl Serialize {
    let file = |row: &'d FileRow<Residency>| {
        object! { ..path: PathEntry::from(row.path.as_path()), ..sizes: sizes(row.found) }
    };
    let diagnostics = &done.diagnostics;
    object! {
        schema: "transect.cache.status/1",
        complete: diagnostics.is_complete() && !done.interrupted,
        interrupted: done.interrupted,
        files: done.files().count(),
        hard_links: done.hard_links(),
        ..total: sizes(total(done)),
        file_list: done.rows.iter().map(file).collect::<Vec<_>>(),
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
