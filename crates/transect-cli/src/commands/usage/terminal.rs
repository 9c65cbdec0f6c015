//! Prints usage for people: sizes, shares and bars beside the tree or the groups.

use std::io::{self, Write};
use std::ops::Range;
use std::time::Duration;

use anstyle::Style;
use transect::FileType;
use transect_snapshot::{StoredMeasure as Measure, StoredTotals};
use transect_sys::DiskSpace;
use transect_text::share::{bar, percent};
use transect_text::{disk, notes};

use super::groups::Group;
use super::tree::Line;
use super::view::{Usage, View};
use crate::output::units::{bytes, bytes_between, count, counted, duration};
use crate::output::{self, BAR, BOLD, DIM, WARN, quote};

/// The width of a line without a terminal.
const DEFAULT_WIDTH: usize = 100;

const MIN_NAME: usize = 12;

/// The heads of the columns of bytes with `--shared`.
const SIZE: &str = "disk usage";
const EXCLUSIVE: &str = "exclusive";

pub(super) struct Shown<'u> {
    pub(super) measure: Measure,
    pub(super) lines: Lines<'u>,
    /// The size of everything, in the measure.
    pub(super) whole: u64,
    pub(super) total: StoredTotals,
    pub(super) interrupted: bool,
    pub(super) is_complete: bool,
    pub(super) elapsed: Duration,
    pub(super) disk: Option<&'u DiskSpace>,
}

pub(super) enum Lines<'u> {
    Tree(Vec<EntryLine>),
    Groups(&'u [Group]),
}

pub(super) struct EntryLine {
    pub(super) size: u64,
    /// The least and the most that removing it would free; `None` without `--shared`.
    pub(super) exclusive: Option<Range<u64>>,
    /// For each step below the root, whether the entry is the last of its siblings.
    pub(super) last: Vec<bool>,
    pub(super) name: String,
    pub(super) is_directory: bool,
    pub(super) notes: String,
}

impl<'u> Shown<'u> {
    pub(super) fn of(usage: &'u Usage) -> Self {
        let Usage { elapsed, interrupted, table, disk, measure, view, shared, .. } = usage;
        let line = |line: &Line| EntryLine {
            size: line.size,
            exclusive: shared.as_ref().map(|shared| shared.exclusive(table, line.row)),
            last: line.last.clone(),
            name: line.name(|row| table.name(row)),
            is_directory: table.file_type(line.row) == FileType::Directory,
            notes: notes::of(table, line.row),
        };
        let total = usage.grand_total();
        Self {
            measure: *measure,
            lines: match view {
                View::Tree(lines) => Lines::Tree(lines.iter().map(line).collect()),
                View::Groups(groups) => Lines::Groups(groups),
            },
            whole: measure.size(&total),
            total: StoredTotals {
                entries: total.entries(),
                allocated: total.disk_usage,
                apparent: total.apparent,
                ..StoredTotals::default()
            },
            interrupted: *interrupted,
            is_complete: usage.errors() == 0,
            elapsed: *elapsed,
            disk: disk.as_ref(),
        }
    }
}

pub(super) fn print(shown: &Shown<'_>) -> io::Result<()> {
    let layout = Layout::new(shown);
    let mut out = output::buffer();
    layout.head(&mut out)?;
    match &shown.lines {
        Lines::Tree(lines) => lines.iter().try_for_each(|line| layout.entry(&mut out, line))?,
        Lines::Groups(groups) => groups.iter().try_for_each(|it| layout.group(&mut out, it))?,
    }
    summary(&mut out, shown)?;
    output::print(out)
}

struct Layout {
    measure: Measure,
    whole: u64,
    size: usize,
    /// The width of the column of exclusive bytes; `None` without `--shared`.
    exclusive: Option<usize>,
    /// Exclusive bytes are shown without their least value, because there is no room.
    is_short: bool,
    bar: usize,
    /// `None` without a terminal: names are not shortened.
    name: Option<usize>,
    /// The width of the names of groups; `None` without room for notes beside them.
    group: Option<usize>,
}

impl Layout {
    fn new(shown: &Shown<'_>) -> Self {
        let measure = shown.measure;
        let sizes: Box<dyn Iterator<Item = u64>> = match &shown.lines {
            Lines::Tree(lines) => Box::new(lines.iter().map(|line| line.size)),
            Lines::Groups(groups) => Box::new(groups.iter().map(|group| measure.size(&group.sums))),
        };
        let size = sizes.map(|size| size_text(measure, size).len()).max().unwrap_or(0);
        let mut exclusive = exclusive_width(&shown.lines, false);
        let size = exclusive.map_or(size, |_| size.max(SIZE.len()));
        let terminal = output::terminal_width();
        let width = terminal.unwrap_or(DEFAULT_WIDTH);
        let numbers =
            |exclusive: Option<usize>| size + 1 + exclusive.map_or(0, |width| width + 1) + 4 + 1;
        let is_short = numbers(exclusive) + 1 + MIN_NAME > width;
        if is_short {
            exclusive = exclusive_width(&shown.lines, true);
        }
        // A quarter of the line, if numbers and name leave that much.
        let numbers = numbers(exclusive);
        let bar = (width / 4).min(width.saturating_sub(numbers + 1 + MIN_NAME));
        let name = terminal.map(|width| width.saturating_sub(numbers + bar + 1).max(MIN_NAME));
        let group = match &shown.lines {
            Lines::Tree(_) => None,
            Lines::Groups(groups) => group_width(measure, groups, name),
        };
        Self { measure, whole: shown.whole, size, exclusive, is_short, bar, name, group }
    }

    /// Writes the names of the columns, if there is more than one of bytes.
    fn head(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(width) = self.exclusive else { return Ok(()) };
        writeln!(out, "{DIM}{SIZE:>size$} {EXCLUSIVE:>width$}{DIM:#}", size = self.size)
    }

    fn entry(&self, out: &mut impl Write, line: &EntryLine) -> io::Result<()> {
        let mut guide = String::new();
        for (step, last) in line.last.iter().enumerate() {
            let nearest = step + 1 == line.last.len();
            guide.push_str(match (nearest, last) {
                (false, false) => "│  ",
                (false, true) => "   ",
                (true, false) => "├─ ",
                (true, true) => "└─ ",
            });
        }
        let (mut name, mut notes) = (line.name.clone(), line.notes.clone());
        if let Some(room) = self.name {
            (guide, name, notes) = fit(room, guide, name, notes);
        }
        let style = if line.is_directory { BOLD } else { Style::new() };
        self.numbers(out, line.size, line.exclusive.as_ref())?;
        writeln!(out, "{DIM}{guide}{DIM:#}{style}{name}{style:#}{WARN}{notes}{WARN:#}")
    }

    fn group(&self, out: &mut impl Write, group: &Group) -> io::Result<()> {
        self.numbers(out, self.measure.size(&group.sums), None)?;
        let Some(width) = self.group else {
            let name = quote::shorten(group.key.clone(), self.name.unwrap_or(usize::MAX));
            return writeln!(out, "{BOLD}{name}{BOLD:#}");
        };
        let name = quote::shorten(group.key.clone(), width);
        let gap = " ".repeat(width - quote::width(&name) + 2);
        writeln!(out, "{BOLD}{name}{BOLD:#}{gap}{DIM}{}{DIM:#}", group_note(self.measure, group))
    }

    fn numbers(
        &self,
        out: &mut impl Write,
        size: u64,
        exclusive: Option<&Range<u64>>,
    ) -> io::Result<()> {
        let text = size_text(self.measure, size);
        let share = if self.whole == 0 { 0.0 } else { size as f64 / self.whole as f64 };
        let percent = percent(share);
        let bar = bar(share, self.bar);
        write!(out, "{text:>width$} ", width = self.size)?;
        if let (Some(width), Some(exclusive)) = (self.exclusive, exclusive) {
            write!(out, "{:>width$} ", exclusive_text(exclusive, self.is_short))?;
        }
        write!(out, "{DIM}{percent:>4}{DIM:#} ")?;
        write!(out, "{BAR}{bar}{BAR:#} ")
    }
}

/// Returns the width of the exclusive bytes, with the head of their column.
fn exclusive_width(lines: &Lines<'_>, is_short: bool) -> Option<usize> {
    let Lines::Tree(lines) = lines else { return None };
    let widths = lines.iter().filter_map(|line| line.exclusive.as_ref());
    let widths = widths.map(|it| quote::width(&exclusive_text(it, is_short)));
    widths.max().map(|most| most.max(EXCLUSIVE.len()))
}

fn exclusive_text(exclusive: &Range<u64>, is_short: bool) -> String {
    match is_short && exclusive.start != exclusive.end {
        true => format!("≤ {}", bytes(exclusive.end)),
        false => bytes_between(exclusive),
    }
}

fn size_text(measure: Measure, size: u64) -> String {
    match measure {
        Measure::DiskUsage | Measure::Apparent => bytes(size),
        Measure::Entries => count(size),
    }
}

fn group_note(measure: Measure, group: &Group) -> String {
    match measure {
        Measure::Entries => bytes(group.sums.disk_usage),
        _ => counted(group.sums.entries(), "entry", "entries"),
    }
}

/// Returns the width of the names of groups, if notes have room beside them.
fn group_width(measure: Measure, groups: &[Group], room: Option<usize>) -> Option<usize> {
    let names = groups.iter().map(|group| quote::width(&group.key)).max().unwrap_or(0);
    let notes = groups.iter().map(|group| group_note(measure, group).len()).max().unwrap_or(0);
    let left = room.map_or(usize::MAX, |room| room.saturating_sub(notes + 2));
    (left >= names.min(MIN_NAME)).then_some(names.min(left))
}

/// Shortens a line to `room`: first the notes are dropped, then the left end of the guide, then the
/// name is cut.
fn fit(room: usize, guide: String, name: String, notes: String) -> (String, String, String) {
    let length = |text: &str| text.chars().count();
    let least = length(&name).min(MIN_NAME);
    let notes = if least + length(&notes) <= room { notes } else { String::new() };
    let room = room.saturating_sub(length(&notes));
    let drawn = room.saturating_sub(least);
    let steps = length(&guide);
    let guide = match drawn {
        _ if steps <= drawn => guide,
        0 => guide.chars().skip(steps).collect(),
        _ => ['…'].into_iter().chain(guide.chars().skip(steps - drawn + 1)).collect(),
    };
    let name = quote::shorten(name, room.saturating_sub(length(&guide)));
    (guide, name, notes)
}

fn summary(out: &mut impl Write, shown: &Shown<'_>) -> io::Result<()> {
    let total = &shown.total;
    let (style, state) = match () {
        () if shown.interrupted => (WARN, "interrupted"),
        () if !shown.is_complete => (WARN, "partial"),
        () => (DIM, "complete"),
    };
    let text = format!(
        "{}, disk usage {}, apparent {}; {state} in {}",
        counted(total.entries, "entry", "entries"),
        bytes(total.allocated),
        bytes(total.apparent),
        duration(shown.elapsed)
    );
    writeln!(out)?;
    let width = output::terminal_width().unwrap_or(usize::MAX);
    for line in output::wrap(&text, width) {
        writeln!(out, "{style}{line}{style:#}")?;
    }
    let Some(space) = shown.disk else { return Ok(()) };
    let space_text = disk::space_and_share(space, total.allocated);
    let sparse_text = disk::sparse(space, total.apparent);
    let labelled = [("disk", Some(space_text)), ("sparse", sparse_text)];
    for (label, text) in labelled.into_iter().filter_map(|(label, text)| Some((label, text?))) {
        for line in output::wrap(&format!("{label}: {text}"), width) {
            writeln!(out, "{DIM}{line}{DIM:#}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_cuts_notes_then_guide_then_name() {
        let line = |room: usize, guide: &str, name: &str, notes: &str| {
            let (guide, name, notes) = fit(room, guide.into(), name.into(), notes.into());
            format!("{guide}{name}{notes}")
        };
        assert_eq!(line(40, "│  └─ ", "name", " (denied)"), "│  └─ name (denied)");
        assert_eq!(line(12, "│  └─ ", "name", " (denied)"), "│  └─ name");
        assert_eq!(line(9, "│  └─ ", "name", " (denied)"), "… └─ name");
        assert_eq!(line(4, "│  └─ ", "name", ""), "name");
        assert_eq!(line(3, "│  └─ ", "name", ""), "…me");
    }
}
