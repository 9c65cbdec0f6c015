//! `transect lab import`: listings of the file transform article, as its tables and with verdicts.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use transect_lab::published::import::listing::{self, Sample};
use transect_lab::published::import::{self, Cell, Difference, Imported, Question, What};
use transect_lab::stats::Verdict;
use transect_text::size;

use crate::args::LabImportArgs;
use crate::exit::{End, Fatal};
use crate::output::json::PathEntry;
use crate::output::units::{counted, duration};
use crate::output::{self, BOLD, DIM, ERROR, GOOD, WARN, quote};

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    sessions: Vec<Session<'a>>,
    sequential: Vec<Difference>,
}

/// A file of listings.
#[derive(Serialize)]
struct Session<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    #[serde(flatten)]
    imported: &'a Imported,
}

pub(crate) fn run(args: &LabImportArgs) -> Result<End, Fatal> {
    let mut listings = Vec::new();
    for file in &args.files {
        listings.push(read(file)?);
    }
    let mut text = output::buffer();
    if args.csv {
        let names: Vec<_> = args.files.iter().map(|file| file.to_string_lossy()).collect();
        let files = names.iter().map(AsRef::as_ref).zip(listings.iter().map(Vec::as_slice));
        text.write_all(transect_lab::report::import::csv(files).as_bytes())?;
        output::print(text)?;
        return Ok(End::Complete);
    }
    let sessions: Vec<Imported> = listings.iter().map(|samples| import::import(samples)).collect();
    let sequential = import::sequential(&sessions);
    if args.json {
        let files = args.files.iter().map(|file| file.as_path().into());
        let sessions =
            files.zip(&sessions).map(|(path, imported)| Session { path, imported }).collect();
        let report = Report { schema: "transect.lab.import/1", sessions, sequential };
        output::write_json(&mut text, &report)?;
    } else {
        for (file, imported) in args.files.iter().zip(&sessions) {
            write_session(&mut text, file, imported)?;
        }
        write_differences(&mut text, "the sequential flag", &sequential)?;
        write_rules(&mut text)?;
    }
    output::print(text)?;
    Ok(End::Complete)
}

fn read(file: &Path) -> Result<Vec<Sample>, Fatal> {
    let bytes = std::fs::read(file).map_err(|error| {
        let reason = transect::reason(&error);
        Fatal::Lab(format!("cannot read '{}': {reason}", quote::for_terminal(file.as_os_str())))
    })?;
    // What is no text is no listing: the line that it stands in says so.
    listing::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| about(file, &error))
}

fn about(file: &Path, error: &dyn std::error::Error) -> Fatal {
    let error = quote::for_terminal(error.to_string().as_ref());
    Fatal::Lab(format!("'{}': {error}", quote::for_terminal(file.as_os_str())))
}

fn write_session(out: &mut impl Write, file: &Path, imported: &Imported) -> io::Result<()> {
    let runs = imported.cells.iter().map(|cell| cell.real.n as u64).sum();
    let (runs, cells) =
        (counted(runs, "run", "runs"), counted(imported.cells.len() as u64, "cell", "cells"));
    let file = quote::for_terminal(file.as_os_str());
    writeln!(out, "{BOLD}{file}{BOLD:#}  {runs} in {cells}")?;
    let width = width_of(imported.cells.iter().map(|cell| name(&cell.what)));
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

fn write_cell(out: &mut impl Write, cell: &Cell, width: usize) -> io::Result<()> {
    let Cell { what, real, user, system, outliers, .. } = cell;
    let [min, median, max, user, system] =
        [real.min, real.median, real.max, user.median, system.median].map(time);
    let far = match outliers.len() {
        0 => String::new(),
        far => format!("  {WARN}{far} far out{WARN:#}"),
    };
    let name = name(what);
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
            alone.verdict.word(),
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

fn time(nanoseconds: f64) -> String {
    duration(Duration::from_nanos(nanoseconds as u64))
}

/// Returns the name of a cell: `CRT 16K of 256M, sequential`.
fn name(what: &What) -> String {
    let What { api, block, size, sequential } = what;
    let sequential = if *sequential { ", sequential" } else { "" };
    let api = quote::for_terminal(api.as_ref());
    format!("{api} {} of {}{sequential}", short(*block), short(*size))
}

/// Returns what a difference is between: what they have in common is said once.
fn between(difference: &Difference) -> String {
    let Difference { question, base, other, .. } = difference;
    match question {
        Question::Api => {
            let base = quote::for_terminal(base.api.as_ref());
            format!("{} to {base}", name(other))
        }
        Question::Block => format!("{} to {}", name(other), short(base.block)),
        Question::Sequential => format!("{} to none", name(other)),
    }
}

fn short(bytes: u64) -> String {
    usize::try_from(bytes).map_or_else(|_| bytes.to_string(), size::shortest)
}
