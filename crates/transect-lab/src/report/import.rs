//! Imported listings, as text on a terminal and as comma-separated values.

use std::io::{self, Write};
use std::path::Path;

use transect_text::style::{BOLD, DIM, ERROR, GOOD, WARN};
use transect_text::units::counted;
use transect_text::{quote, size};

use super::csv::quoted;
use super::format::time;
use crate::published::import::listing::ListedRun;
use crate::published::import::{CellKey, Difference, Factor, ImportedListing, RunGroup};
use crate::stats::Verdict;

/// Writes imported listings as text on a terminal: each with its file, then what the sequential flag
/// changes across them.
///
/// # Errors
/// `out` cannot be written to.
pub fn write<'a>(
    out: &mut impl Write,
    sessions: impl Iterator<Item = (&'a Path, &'a ImportedListing)>,
    sequential: &[Difference],
) -> io::Result<()> {
    for (file, imported) in sessions {
        write_session(out, file, imported)?;
    }
    write_differences(out, "the sequential flag", sequential)?;
    write_rules(out)
}

/// Returns one CSV line for each run, with the name of its file.
pub fn csv<'a>(listings: impl Iterator<Item = (&'a str, &'a [ListedRun])>) -> String {
    let mut text = "file,api,block,size,sequential,real_ns,user_ns,system_ns\n".to_owned();
    for (file, samples) in listings {
        for sample in samples {
            let ListedRun { api, block, size, sequential, real_ns, user_ns, system_ns } = sample;
            let (file, api) = (quoted(file), quoted(api));
            let what = format!("{file},{api},{block},{size},{sequential}");
            text.push_str(&format!("{what},{real_ns},{user_ns},{system_ns}\n"));
        }
    }
    text
}

fn write_session(out: &mut impl Write, file: &Path, imported: &ImportedListing) -> io::Result<()> {
    let runs = imported.cells.iter().map(|cell| cell.real.n as u64).sum();
    let (runs, cells) =
        (counted(runs, "run", "runs"), counted(imported.cells.len() as u64, "cell", "cells"));
    let file = quote::for_terminal(file.as_os_str());
    writeln!(out, "{BOLD}{file}{BOLD:#}  {runs} in {cells}")?;
    let width = width_of(imported.cells.iter().map(|cell| name(&cell.key)));
    writeln!(
        out,
        "{BOLD}{:<width$} {:>4} {:>9} {:>9} {:>9} {:>9} {:>9}{BOLD:#}",
        "cell", "runs", "min", "median", "max", "user", "system"
    )?;
    for cell in &imported.cells {
        write_cell(out, cell, width)?;
    }
    writeln!(out)?;
    write_differences(out, "differences", &imported.differences)
}

fn write_cell(out: &mut impl Write, cell: &RunGroup, width: usize) -> io::Result<()> {
    let RunGroup { key, real, user, system, outliers, .. } = cell;
    let [min, median, max, user, system] =
        [real.min, real.median, real.max, user.median, system.median].map(time);
    let far = match outliers.len() {
        0 => String::new(),
        far => format!("  {WARN}{far} far out{WARN:#}"),
    };
    let name = name(key);
    writeln!(
        out,
        "{name:<width$} {:>4} {min:>9} {median:>9} {max:>9} {user:>9} {system:>9}{far}",
        real.n
    )
}

fn write_differences(
    out: &mut impl Write,
    title: &str,
    differences: &[Difference],
) -> io::Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    let width = width_of(differences.iter().map(between)).max(title.len());
    writeln!(
        out,
        "{BOLD}{title:<width$} {:>21} {:>6} {:>6}  verdict{BOLD:#}",
        "ratio (95 %)", "p", "of all"
    )?;
    for difference in differences {
        let Difference { ratios, alone, among_all, .. } = difference;
        let style = match alone.verdict {
            Verdict::Faster => GOOD,
            Verdict::Slower => ERROR,
            _ => DIM,
        };
        let only_alone = alone.verdict.is_difference() && !among_all.verdict.is_difference();
        writeln!(
            out,
            "{:<width$} {:>21} {:>6.3} {:>6.3}  {style}{}{style:#}{}",
            between(difference),
            ratios.to_string(),
            ratios.p,
            among_all.adjusted_p,
            alone.verdict.label(),
            if only_alone { ", if asked alone" } else { "" },
        )?;
    }
    writeln!(out)
}

fn write_rules(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{DIM}Others' numbers: runs in a row, caches not proved, nothing synced. p is the exact one of \
         the\nrank sum; \"of all\" corrects it for all differences of a table (Holm).{DIM:#}"
    )
}

fn width_of(names: impl Iterator<Item = String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

/// Formats the name of a cell: `CRT 16K of 256M, sequential`.
fn name(what: &CellKey) -> String {
    let CellKey { api, block, size, sequential } = what;
    let sequential = if *sequential { ", sequential" } else { "" };
    let api = quote::for_terminal(api.as_ref());
    format!("{api} {} of {}{sequential}", short(*block), short(*size))
}

/// Formats the two sides of a difference, without repeating what they share.
fn between(difference: &Difference) -> String {
    let Difference { factor, base, other, .. } = difference;
    match factor {
        Factor::Api => {
            let base = quote::for_terminal(base.api.as_ref());
            format!("{} to {base}", name(other))
        }
        Factor::Block => format!("{} to {}", name(other), short(base.block)),
        Factor::Sequential => format!("{} to none", name(other)),
    }
}

fn short(bytes: u64) -> String {
    usize::try_from(bytes).map_or_else(|_| bytes.to_string(), size::shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_one_line_for_each_run() {
        let run = |percent: u64| ListedRun {
            api: "CRT".to_owned(),
            block: 1024,
            size: 1 << 30,
            sequential: true,
            real_ns: percent * 1_000_000,
            user_ns: 0,
            system_ns: percent,
        };
        let samples = [102, 98, 100, 97, 104].map(run);
        let text = csv([("a,b", samples.as_slice())].into_iter());
        assert_eq!(text.lines().count(), 6);
        let second = "\"a,b\",CRT,1024,1073741824,true,98000000,0,98";
        assert_eq!(text.lines().nth(2), Some(second));
    }
}
