//! Imported listings, as text on a terminal and as comma-separated values.

use std::io::{self, Write};
use std::path::Path;

use transect_text::style::{BOLD, DIM, WARN};
use transect_text::units::counted;
use transect_text::{quote, size};

use super::csv::quoted;
use super::format::{time, verdict_style};
use crate::published::import::listing::ListedRun;
use crate::published::import::{CellKey, Difference, Factor, ImportedListing, RunGroup};
use transect_text::table::Table;

/// Writes imported listings as text on a terminal: each with its file, then what the sequential flag
/// changes across them.
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
    let numbers = ["runs", "min", "median", "max", "user", "system"];
    let mut table = Table::new(&["cell"], &numbers, &[""]);
    for RunGroup { key, real, user, system, outliers, .. } in &imported.cells {
        let times = [real.min, real.median, real.max, user.median, system.median].map(time);
        let far = match outliers.len() {
            0 => String::new(),
            far => format!("{far} far out"),
        };
        let cells = [name(key), real.n.to_string()].into_iter().chain(times).chain([far]);
        table.add(WARN, cells);
    }
    table.write(out)?;
    writeln!(out)?;
    write_differences(out, "differences", &imported.differences)
}

fn write_differences(
    out: &mut impl Write,
    title: &str,
    differences: &[Difference],
) -> io::Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[title], &["ratio (95 %)", "p", "of all"], &["verdict"]);
    for difference in differences {
        let Difference { ratios, alone, among_all, .. } = difference;
        let only_alone = alone.verdict.is_difference() && !among_all.verdict.is_difference();
        let cells = [
            between(difference),
            ratios.to_string(),
            format!("{:.3}", ratios.p),
            format!("{:.3}", among_all.adjusted_p),
            format!("{}{}", alone.verdict, if only_alone { ", if asked alone" } else { "" }),
        ];
        table.add(verdict_style(alone.verdict), cells);
    }
    table.write(out)?;
    writeln!(out)
}

fn write_rules(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{DIM}Others' numbers: runs in a row, caches not proved, nothing synced. p is the exact one of \
         the\nrank sum; \"of all\" corrects it for all differences of a table (Holm).{DIM:#}"
    )
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
