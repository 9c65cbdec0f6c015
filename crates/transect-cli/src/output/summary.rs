//! The summary that `scan` prints.

use std::io::{self, Write};
use std::path::PathBuf;

use transect::{LargestEntry, Outcome, RankBy, Totals, WalkProfile};
use transect_text::settings;

use super::units::{bytes, count, counted, duration};
use super::{BOLD, DIM, ERROR, GOOD, WARN, quote};

/// Writes the summary of a scan.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write(
    out: &mut impl Write,
    roots: &[PathBuf],
    outcome: &Outcome<Totals>,
    profile: Option<&WalkProfile>,
) -> io::Result<()> {
    let totals = &outcome.sink;
    for root in roots {
        writeln!(out, "{BOLD}{}{BOLD:#}", quote::for_terminal(root.as_os_str()))?;
    }
    write_counts(out, totals)?;
    write_sizes(out, totals)?;
    write_left_out(out, totals)?;
    write_state(out, outcome)?;
    if let Some(profile) = profile.filter(|profile| !profile.settings.is_default()) {
        line(
            out,
            "profile",
            &format!("{} (from lab tune)", settings::describe(&profile.settings)),
        )?;
    }
    write_largest(out, "largest directories", totals.largest_directories(), totals.rank_by())?;
    write_largest(out, "largest files", totals.largest_files(), totals.rank_by())
}

fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {DIM}{label:<12}{DIM:#}{text}")
}

fn write_counts(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let mut parts = vec![
        counted(totals.files, "file", "files"),
        counted(totals.directories, "directory", "directories"),
    ];
    if totals.symlinks > 0 {
        parts.push(counted(totals.symlinks, "symlink", "symlinks"));
    }
    if totals.others > 0 {
        parts.push(counted(totals.others, "other", "others"));
    }
    line(out, "entries", &parts.join(", "))
}

fn write_sizes(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let usage = totals.sizes.disk_usage();
    let own = totals.sizes.directories_allocated;
    let usage_text = format!("{BOLD}{}{BOLD:#} ({} in directories)", bytes(usage), bytes(own));
    let apparent_text = format!("{BOLD}{}{BOLD:#}", bytes(totals.sizes.apparent));
    let mut lines = [("disk usage", usage_text), ("apparent", apparent_text)];
    if totals.rank_by() == RankBy::Apparent {
        lines.reverse();
    }
    for (label, text) in lines {
        line(out, label, &text)?;
    }
    if totals.hard_links > 0 {
        let further = counted(totals.hard_links, "further name", "further names");
        line(out, "hard links", &format!("{further} of files counted once"))?;
    }
    Ok(())
}

fn write_left_out(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let diagnostics = &totals.diagnostics;
    if !diagnostics.skipped.is_empty() {
        let reasons: Vec<String> = diagnostics
            .skipped
            .iter()
            .map(|(reason, n)| format!("{} {}", count(*n), reason.as_str().replace('_', " ")))
            .collect();
        line(out, "skipped", &reasons.join(", "))?;
    }
    if diagnostics.vanished > 0 {
        line(out, "vanished", &format!("{} while being read", count(diagnostics.vanished)))?;
    }
    if diagnostics.errors > 0 {
        let kinds: Vec<String> = diagnostics
            .errors_by
            .iter()
            .map(|((operation, kind), n)| {
                let operation = operation.as_str().replace('_', " ");
                format!("{} {operation}: {}", count(*n), kind.as_str().replace('_', " "))
            })
            .collect();
        line(out, "errors", &format!("{ERROR}{}{ERROR:#}", kinds.join(", ")))?;
    }
    Ok(())
}

fn write_state(out: &mut impl Write, outcome: &Outcome<Totals>) -> io::Result<()> {
    let (style, state) = match outcome {
        _ if outcome.interrupted => (WARN, "interrupted"),
        _ if !outcome.sink.diagnostics.is_complete() => (WARN, "partial"),
        _ => (GOOD, "complete"),
    };
    let rate = outcome.sink.entries() as f64 / outcome.elapsed.as_secs_f64().max(1e-9);
    let threads = counted(outcome.threads as u64, "thread", "threads");
    let text = format!(
        "{style}{state}{style:#} in {}, {} entries/s ({}, {}, {threads})",
        duration(outcome.elapsed),
        count(rate as u64),
        outcome.reader.as_str(),
        outcome.order.as_str(),
    );
    line(out, "state", &text)
}

fn write_largest(
    out: &mut impl Write,
    title: &str,
    largest: &[LargestEntry],
    rank_by: RankBy,
) -> io::Result<()> {
    if largest.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    // The rest of a terminal's line beside the size; in a pipe, paths are not shortened.
    let width = super::terminal_width().map(|width| width.saturating_sub(14).max(20));
    for entry in largest {
        let size = match rank_by {
            RankBy::DiskUsage => entry.sizes.disk_usage(),
            RankBy::Apparent => entry.sizes.apparent,
        };
        let path = quote::for_terminal(entry.path.as_os_str());
        let path = quote::shorten(path, width.unwrap_or(usize::MAX));
        let note = if entry.errors > 0 { " (partial)" } else { "" };
        writeln!(out, "  {:>10}  {path}{WARN}{note}{WARN:#}", bytes(size))?;
    }
    Ok(())
}
