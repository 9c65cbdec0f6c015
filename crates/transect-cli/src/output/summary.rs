//! The summary that `scan` prints.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::Style;
use transect::internal::WalkProfile;
use transect::{LargestEntry, Outcome, RankBy, ReaderKind, Totals};
use transect_snapshot::Inherited;
use transect_text::wrap::wrap_styled;
use transect_text::{disk, settings};

use super::not_found::NotFound;
use super::units::{bytes, count, counted, duration};
use super::{BOLD, DIM, ERROR, GOOD, WARN, quote};

/// How many of the largest directories are kept for each that is shown: a chain of parents that
/// contain little else is one line.
pub(crate) const KEPT_PER_LINE: usize = 4;

/// What is shown besides the outcome of the walk.
pub(crate) struct Shown {
    pub(crate) profile: Option<WalkProfile>,
    pub(crate) not_found: Option<NotFound>,
    pub(crate) inherited: Option<Inherited>,
    /// The number of the largest directories and files.
    pub(crate) top: usize,
}

pub(crate) fn write(
    out: &mut impl Write,
    roots: &[PathBuf],
    outcome: &Outcome<Totals>,
    shown: &Shown,
) -> io::Result<()> {
    let Shown { profile, not_found, inherited, top } = shown;
    let totals = &outcome.sink;
    for root in roots {
        let root = quote::shorten(quote::for_terminal(root.as_os_str()), width());
        writeln!(out, "{BOLD}{root}{BOLD:#}")?;
    }
    write_counts(out, totals)?;
    write_sizes(out, totals)?;
    if let Some(streams) = outcome.alternate_streams.filter(|streams| streams.count > 0) {
        let count = counted(streams.count, "alternate stream", "alternate streams");
        let text = format!("{count}, {}, in no other size", bytes(streams.apparent));
        line(out, "streams", &text)?;
    }
    if let Some(disk) = transect::internal::disk_space_of(roots) {
        line(out, "disk", &disk::space_and_share(&disk, totals.sizes.disk_usage()))?;
        if let Some(text) = disk::sparse(&disk, totals.sizes.apparent) {
            line(out, "sparse", &text)?;
        }
    }
    if let Some(not_found) = not_found {
        let labels = std::iter::once("not found").chain(std::iter::repeat(""));
        let mut texts = not_found.texts().into_iter().zip(labels);
        texts.try_for_each(|(text, label)| line(out, label, &text))?;
    }
    write_left_out(out, totals)?;
    write_state(out, outcome)?;
    if let Some(reason) = &outcome.reader_reason {
        let how = match ReaderKind::VOLUMES.contains(&outcome.reader) {
            true => "tables of the volume read",
            false => "directories walked",
        };
        line(out, "reader", &format!("{how}: {}", quote::for_terminal(reason.as_ref())))?;
    }
    if let Some(inherited) = inherited {
        let text = super::inherited::text(inherited, outcome.sink.directories);
        let style = if inherited.older_entries() > 0 { WARN } else { Style::new() };
        line(out, "inherited", &format!("{style}{text}{style:#}"))?;
    }
    if let Some(profile) = profile.as_ref().filter(|profile| !profile.settings.is_default()) {
        line(out, "profile", &format!("{} (stored)", settings::describe(&profile.settings)))?;
    }
    let rank_by = totals.rank_by();
    let directories = innermost(totals.largest_directories(), rank_by);
    write_largest(out, "largest directories", directories.take(*top), rank_by)?;
    write_largest(out, "largest files", totals.largest_files().iter().take(*top), rank_by)
}

/// Returns the entries without those that contain another one of the same size, as shown.
fn innermost(largest: &[LargestEntry], rank_by: RankBy) -> impl Iterator<Item = &LargestEntry> {
    let shown = move |entry: &LargestEntry| bytes(size(entry, rank_by));
    largest.iter().filter(move |outer| {
        !largest.iter().any(|inner| {
            inner.path != outer.path
                && inner.path.starts_with(&outer.path)
                && shown(inner) == shown(outer)
        })
    })
}

fn size(entry: &LargestEntry, rank_by: RankBy) -> u64 {
    rank_by.value(&entry.sizes)
}

/// Writes a label and its text. On a narrow terminal, the text takes several lines beside the label.
fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    const INDENT: usize = 2 + 12;
    let lines = wrap_styled(text, width().saturating_sub(INDENT));
    let indent = format!("\n{:INDENT$}", "");
    writeln!(out, "  {DIM}{label:<12}{DIM:#}{}", lines.join(&indent))
}

/// Returns the columns of the terminal. A pipe has no limit.
fn width() -> usize {
    super::terminal_width().filter(|&width| width > 0).unwrap_or(usize::MAX)
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
            .map(|(reason, n)| format!("{}: {}", reason.as_str().replace('_', " "), count(*n)))
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

fn write_largest<'a>(
    out: &mut impl Write,
    title: &str,
    largest: impl Iterator<Item = &'a LargestEntry>,
    rank_by: RankBy,
) -> io::Result<()> {
    let mut largest = largest.peekable();
    if largest.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    for entry in largest {
        let note = if entry.errors > 0 { " (partial)" } else { "" };
        // The rest of a terminal's line beside the size; in a pipe, paths are not shortened.
        let room = width().saturating_sub(2 + 10 + 2 + note.len()).max(12);
        let path = quote::shorten(quote::for_terminal(entry.path.as_os_str()), room);
        writeln!(out, "  {:>10}  {path}{WARN}{note}{WARN:#}", bytes(size(entry, rank_by)))?;
    }
    Ok(())
}
