//! The lines of a diff.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::Style;
use transect::FileType;
use transect_snapshot::{Change, ChangeKind, Diff, Facts};
use transect_sys::name_from_bytes;

use crate::args::{ColorWhen, ComparisonArgs};
use crate::output::columns::{Column, Columns, Value};
use crate::output::time::TimeFormatter;
use crate::output::units::{bytes, count, counted, signed_bytes};
use crate::output::{self, BOLD, DIM, ERROR, GOOD, WARN, quote, stream, wrap_lines};

/// The number of changes on a terminal of any size.
const MIN_SHOWN: usize = 5;

/// Prints a diff; `root` is the only root of the tree after, if it has one. On a terminal, what matters most comes
/// first, with paths below the root, and as much as fits.
pub(super) fn write(args: &ComparisonArgs, diff: &Diff, root: Option<&str>) -> io::Result<()> {
    let is_painted = match args.color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => stream::stdout_colours() != anstream::ColorChoice::Never,
    };
    let rows = screen_rows(args);
    let lines = Lines {
        times: TimeFormatter::local(),
        is_painted,
        width: output::terminal_width(),
        root: root.filter(|_| rows.is_some()),
    };
    let mut sums = String::new();
    if let Some(root) = lines.root {
        let _ = writeln!(sums, "{}", lines.paint(BOLD, &quote::for_terminal(OsStr::new(root))));
    }
    Lines::summary(diff, &mut sums);
    lines.growth(diff, &mut sums);
    let sums = output::wrapped(&sums);
    let mut out = String::new();
    // Two lines say what it is compared with, one lies between both, one counts the rest, one is the shell's.
    let rows = rows.map(|rows| rows.saturating_sub(sums.lines().count() + 5));
    lines.changes(args, diff, rows, &mut out);
    let out = match rows {
        _ if out.is_empty() => sums.into_owned(),
        Some(_) => format!("{sums}\n{out}"),
        None => format!("{out}\n{sums}"),
    };
    if is_painted {
        return stream::painted_stdout().write_all(out.as_bytes());
    }
    stream::stdout().write_all(out.as_bytes())
}

/// Returns the rows of the terminal, if a diff has to fit on it.
pub(super) fn screen_rows(args: &ComparisonArgs) -> Option<usize> {
    output::terminal_height().filter(|_| !args.all && args.top.is_none())
}

struct Lines<'r> {
    times: TimeFormatter,
    is_painted: bool,
    /// The columns of the terminal. Paths are never broken, so that they can be copied.
    width: Option<usize>,
    /// The directory below which paths begin; `None` to show them in full.
    root: Option<&'r str>,
}

impl Lines<'_> {
    /// Appends the changes: all of them by path, or the largest first, as many as wanted or as fit on `rows`.
    fn changes(&self, args: &ComparisonArgs, diff: &Diff, rows: Option<usize>, out: &mut String) {
        if args.summary {
            return;
        }
        let mut changes: Vec<&Change> =
            diff.changes.iter().filter(|change| !change.is_consequence()).collect();
        if args.top.or(rows).is_some() {
            changes.sort_by_key(|change| Reverse(change.growth().abs()));
        }
        let mut shown = 0;
        for change in changes.iter().take(args.top.unwrap_or(usize::MAX)) {
            let before = out.len();
            self.change(change, out);
            if shown >= MIN_SHOWN && rows.is_some_and(|rows| out.lines().count() > rows) {
                out.truncate(before);
                break;
            }
            shown += 1;
        }
        if shown < changes.len() {
            let more = counted((changes.len() - shown) as u64, "more change", "more changes");
            let how = if rows.is_some() { "; --all shows all" } else { "" };
            let _ = writeln!(out, "… {more}{how}");
        }
    }

    /// Returns a path, with a slash behind a directory.
    fn path(&self, path: &[u8], facts: Option<&Facts>) -> String {
        let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
        let below = self.root.and_then(|root| path.strip_prefix(root.as_bytes()));
        let below = below.filter(|below| below.first().is_some_and(is_separator));
        let path = below.map_or(path, |below| &below[1..]);
        let mut path = quote::for_terminal(&name_from_bytes(path.to_vec()));
        let is_directory =
            facts.is_some_and(|facts| facts.attributes.file_type() == FileType::Directory);
        if is_directory && !path.ends_with('/') {
            path.push('/');
        }
        path
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.is_painted { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn change(&self, change: &Change, out: &mut String) {
        let (mark, style) = match change.kind {
            ChangeKind::Added => ("+", GOOD),
            ChangeKind::Removed => ("-", ERROR),
            ChangeKind::Modified => ("~", WARN),
            ChangeKind::Renamed => (">", BOLD),
            ChangeKind::TypeChanged => ("T", WARN),
            ChangeKind::Unreadable => ("!", ERROR),
            _ => ("?", WARN),
        };
        let facts = change.after.as_ref().or(change.before.as_ref());
        let mut line = self.path(&change.path, facts);
        if let Some(from) = &change.from
            && change.kind == ChangeKind::Renamed
        {
            line = format!("{} → {line}", self.path(from, change.before.as_ref()));
        }
        let line = format!("{mark} {line}");
        out.push_str(&self.paint(style, &line));
        let notes = self.notes(change).join(", ");
        if !notes.is_empty() {
            let is_too_wide =
                |&width: &usize| quote::width(&line) + 2 + quote::width(&notes) > width;
            let notes = match self.width.filter(is_too_wide) {
                None => format!("  {}", self.paint(DIM, &notes)),
                Some(width) => {
                    format!("\n{}", self.paint(DIM, &wrap_lines(&format!("    {notes}"), width)))
                }
            };
            out.push_str(&notes);
        }
        out.push('\n');
    }

    fn notes(&self, change: &Change) -> Vec<String> {
        let mut notes = Vec::new();
        match (change.kind, &change.before, &change.after) {
            (ChangeKind::Added, _, Some(facts)) | (ChangeKind::Removed, Some(facts), _) => {
                if facts.totals.is_some() {
                    notes.push(counted(facts.entries(), "entry", "entries"));
                }
                notes.push(bytes(facts.allocated()));
                if change.moved_entries > 0 {
                    notes.push(format!("{} of them moved", count(change.moved_entries)));
                }
            }
            (ChangeKind::TypeChanged, Some(before), Some(after)) => {
                let words = [before, after].map(|it| it.attributes.file_type().as_str());
                notes.push(format!("{} → {}", words[0], words[1]));
            }
            (ChangeKind::Unreadable | ChangeKind::Readable, before, after) => {
                notes.extend(change.reason.clone());
                let read = if change.kind == ChangeKind::Unreadable { before } else { after };
                if let Some(facts) = read {
                    let inside = facts.entries().saturating_sub(1);
                    let inside = counted(inside, "entry", "entries");
                    notes.push(format!("{inside} in it cannot be compared"));
                }
            }
            (_, Some(before), Some(after)) => {
                if change.kind == ChangeKind::Renamed && after.totals.is_some() {
                    notes.push(counted(after.entries(), "entry", "entries"));
                }
                if !change.is_consequence() {
                    notes.extend(self.attributes(change, before, after));
                }
            }
            _ => {}
        }
        notes
    }

    fn attributes(&self, change: &Change, before: &Facts, after: &Facts) -> Vec<String> {
        let columns = Columns::new(&[]);
        let mut notes = Vec::new();
        for column in Column::compared().filter(|it| change.fields.contains(it.field())) {
            // Of both sizes, the first one is enough.
            if column == Column::Allocated && !notes.is_empty() {
                continue;
            }
            let text = |of: &Facts| match columns.value(column, &of.attributes) {
                Value::Unknown => None,
                Value::Mode(mode, _) => Some(format!("{:o}", mode & 0o7777)),
                Value::Bits(bits) => Some(format!("{bits:#x}")),
                value => Some(value.text(&self.times)),
            };
            if let Some((before, after)) = text(before).zip(text(after)) {
                notes.push(format!("{} {before} → {after}", column.as_str()));
            }
        }
        notes
    }

    fn summary(diff: &Diff, out: &mut String) {
        let numbers = &diff.summary;
        let parts = summary_parts(diff);
        if parts.is_empty() {
            out.push_str("no changes\n");
            return;
        }
        let (before, after) = (numbers.allocated_before, numbers.allocated_after);
        let difference = signed_bytes(i128::from(after) - i128::from(before));
        let _ = writeln!(
            out,
            "{}; disk usage {} → {} ({difference})",
            parts.join(", "),
            bytes(before),
            bytes(after)
        );
    }

    fn growth(&self, diff: &Diff, out: &mut String) {
        for growth in &diff.growth {
            let style = if growth.difference() > 0 { WARN } else { GOOD };
            let difference =
                self.paint(style, &format!("{:>12}", signed_bytes(growth.difference())));
            let path = self.path(&growth.path, None);
            let (before, after) = (bytes(growth.before), bytes(growth.after));
            let _ = writeln!(out, "{difference}  {path}  {before} → {after}");
        }
    }
}

/// Returns the numbers of changes as text; nothing if nothing changed.
pub(crate) fn summary_parts(diff: &Diff) -> Vec<String> {
    if diff.is_empty() {
        return Vec::new();
    }
    let numbers = &diff.summary;
    let hidden = diff.changes.iter().filter(|change| change.is_consequence()).count();
    let modified = numbers.modified.saturating_sub(hidden as u64);
    let parts = [
        (numbers.added, "added"),
        (numbers.removed, "removed"),
        (modified, "changed"),
        (numbers.renamed, "moved"),
        (numbers.type_changed, "of another type"),
        (numbers.unreadable, "not readable in B"),
        (numbers.readable, "not readable in A"),
    ];
    let mut parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", count(*number)))
        .collect();
    if parts.is_empty() {
        parts.push("no changes but those of directories' own attributes".to_owned());
    }
    parts
}
