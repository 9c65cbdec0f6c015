//! The entries of a directory. Only visible ones are looked up.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use transect::FileType;
use transect::table::{Row, SubtreeTotals, Table};

use super::pen::Pen;
use crate::app::{App, DrawnEntries, ReadState};
use crate::sort::{SortKey, SortOrder};
use crate::theme::Theme;
use crate::tree;
use crate::view_options::ViewOptions;
use transect_text::measure::Measure;
use transect_text::notes;
use transect_text::quote::{self, shorten, width};
use transect_text::share::{bar, percent};
use transect_text::units::{bytes, count, signed_bytes};

/// The sign of a marked entry, and that of a further name of a file that is counted at another name.
pub(super) const MARKED: &str = "*";
pub(super) const FURTHER_LINK: &str = "H";

#[derive(Default)]
struct Line {
    marked: bool,
    is_further_link: bool,
    selected: bool,
    growth: String,
    size: String,
    share: f64,
    /// The share of the largest entry, which has a full bar.
    bar: f64,
    count: String,
    time: String,
    name: String,
    notes: String,
    is_directory: bool,
}

/// The widths of the columns; 0 for hidden ones.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    mark: usize,
    growth: usize,
    size: usize,
    share: usize,
    bar: usize,
    count: usize,
    time: usize,
}

impl Columns {
    const MIN_NAME: usize = 16;

    fn with_gap(width: usize) -> usize {
        if width > 0 { width + 1 } else { 0 }
    }

    fn before_bar(&self) -> usize {
        [self.mark, self.growth, self.size, self.share].map(Self::with_gap).into_iter().sum()
    }

    /// Distributes the width, most important columns first, as long as names keep their minimum.
    /// The column of the sort key is always shown.
    fn fit(width: usize, order: SortOrder, has_growth: bool) -> Self {
        let mut columns = Self::default();
        let mut left = width.saturating_sub(Self::MIN_NAME);
        let mut give = |wanted: usize| {
            // With a gap of one column.
            let given = if wanted < left { wanted } else { 0 };
            left -= if given > 0 { given + 1 } else { 0 };
            given
        };
        columns.mark = give(1);
        let time = if width < 80 { 10 } else { 16 };
        match order.key {
            SortKey::Count => columns.count = give(11),
            SortKey::Time => columns.time = give(time),
            SortKey::Size | SortKey::Growth | SortKey::Name => {}
        }
        columns.growth = if has_growth { give(9) } else { 0 };
        columns.size = give(8);
        columns.share = give(4);
        columns.bar = give((width / 5).clamp(6, 32));
        if columns.count == 0 {
            columns.count = if width >= 72 { give(11) } else { 0 };
        }
        if columns.time == 0 {
            columns.time = if width >= 96 { give(time) } else { 0 };
        }
        columns
    }
}

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &mut App,
    view: &ViewOptions,
    theme: Theme,
) {
    // On a low screen, titles are dropped first.
    let titled = u16::from(area.height >= 4);
    let height = usize::from(area.height - titled);
    let window = app.listing.window(height);
    let selected = app.listing.index();
    let lines = Rect { y: area.y + titled, height: area.height - titled, ..area };
    app.drawn = DrawnEntries { area: lines, entries: window.clone() };
    let (unlisted, order) = (unlisted(app), app.shown_order());
    let amount = order.amount(&unlisted, None);
    let total = app.listing.entries.total.saturating_add(amount);
    let reference = Reference { total, max: app.listing.entries.max_amount.max(amount) };
    let rows = &app.listing.entries.rows;
    let mut lines: Vec<Line> =
        window.map(|at| line(app, view, rows[at], reference, at == selected)).collect();
    if unlisted.entries() > 0 && lines.len() < height {
        lines.push(rest(app, view, &unlisted, reference));
    }
    let gone = app.listing.entries.gone;
    if gone.entries > 0 && lines.len() < height {
        lines.push(Line {
            growth: signed_bytes(-i128::from(gone.size)),
            count: count(gone.entries),
            name: "gone".to_owned(),
            ..Line::default()
        });
    }
    let columns = Columns::fit(usize::from(area.width), order, app.before().is_some());
    let buffer = frame.buffer_mut();
    if titled > 0 {
        columns.draw_titles(app, area, buffer, theme);
    }
    for (at, line) in (titled..).zip(&lines) {
        columns.draw(line, Pen::new(buffer, area, at), theme);
        if line.selected {
            columns.select(Rect { y: area.y + at, height: 1, ..area }, buffer, theme);
        }
    }
    if lines.is_empty() {
        let text = match app.read_state {
            ReadState::First => "nothing read yet",
            ReadState::Again | ReadState::Done => "empty",
        };
        let mut pen = Pen::new(buffer, area, titled);
        pen.skip(1);
        pen.text(text, theme.dim());
    }
}

/// The amounts that shares and bars are relative to.
#[derive(Clone, Copy)]
struct Reference {
    total: u64,
    max: u64,
}

/// Returns the totals of the entries that are listed only after the walk.
fn unlisted(app: &App) -> SubtreeTotals {
    app.directory.map(|at| app.table.unlisted(at)).unwrap_or_default()
}

fn line(app: &App, view: &ViewOptions, row: Row, reference: Reference, selected: bool) -> Line {
    let table: &Table = &app.table;
    let file_type = table.file_type(row);
    let mut name = quote::for_terminal(table.name(row));
    name.push_str(suffix(file_type, &name));
    Line {
        marked: app.marks.contains(row),
        is_further_link: tree::is_further_link(table, row),
        selected,
        name,
        notes: if app.is_awaited(row) { String::new() } else { notes::of(table, row) },
        is_directory: file_type == FileType::Directory,
        ..amounts(app, view, &table.totals(row), app.growth(row), reference)
    }
}

/// Returns the line that sums up unlisted entries.
fn rest(app: &App, view: &ViewOptions, sums: &SubtreeTotals, reference: Reference) -> Line {
    Line {
        name: "other files".to_owned(),
        notes: " (listed at the end)".to_owned(),
        ..amounts(app, view, sums, None, reference)
    }
}

fn amounts(
    app: &App,
    view: &ViewOptions,
    sums: &SubtreeTotals,
    growth: Option<i128>,
    reference: Reference,
) -> Line {
    let amount = app.shown_order().amount(sums, growth) as f64;
    let of = |whole: u64| if whole == 0 { 0.0 } else { amount / whole as f64 };
    Line {
        growth: growth.map_or("?".to_owned(), signed_bytes),
        size: bytes(app.order.measure.size(sums)),
        share: of(reference.total),
        bar: of(reference.max),
        count: count(sums.entries()),
        time: sums.newest().map(|time| (view.time)(time)).unwrap_or_default(),
        ..Line::default()
    }
}

/// Returns the suffix that `ls -F` appends to a name.
fn suffix(file_type: FileType, name: &str) -> &'static str {
    match file_type {
        FileType::Directory if name.ends_with('/') => "",
        FileType::Directory => "/",
        FileType::Symlink => "@",
        FileType::Fifo => "|",
        FileType::Socket => "=",
        _ => "",
    }
}

impl Columns {
    /// Highlights the selected line, but not its bar: reversed, it would be longer the smaller the
    /// amount.
    fn select(&self, line: Rect, buffer: &mut Buffer, theme: Theme) {
        let bar = self.before_bar() as u16;
        let bar = Rect { x: line.x.saturating_add(bar), width: self.bar as u16, ..line };
        let style = theme.selected();
        buffer.set_style(line.intersection(buffer.area), style);
        let as_before = Style::new().remove_modifier(style.add_modifier);
        buffer.set_style(bar.intersection(line).intersection(buffer.area), as_before);
    }

    fn draw_titles(&self, app: &App, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let title = |key: SortKey, text: &str| match app.shown_order() {
            SortOrder { key: by, .. } if by != key => text.to_owned(),
            SortOrder { descending: true, .. } => format!("{text} ▼"),
            SortOrder { descending: false, .. } => format!("{text} ▲"),
        };
        let style = theme.titles();
        buffer.set_style(Rect { height: 1, ..area }.intersection(buffer.area), style);
        let mut pen = Pen::new(buffer, area, 0);
        // The size title is wider than its column and covers share and bar, which have no title.
        let growth = Self::with_gap(self.growth);
        if growth > 0 {
            pen.right(
                Self::with_gap(self.mark) + self.growth,
                &title(SortKey::Growth, "growth"),
                style,
            );
        }
        let size =
            self.before_bar() - if growth > 0 { Self::with_gap(self.mark) + growth } else { 0 };
        if self.size > 0 {
            let measure = match app.order.measure {
                Measure::DiskUsage => "disk usage",
                Measure::Apparent => "apparent",
            };
            pen.right(size - 1, &title(SortKey::Size, measure), style);
            pen.skip(Self::with_gap(self.bar));
        } else {
            pen.skip(size);
        }
        pen.right(self.count, &title(SortKey::Count, "entries"), style);
        if self.time > 0 {
            pen.left(Self::with_gap(self.time), &title(SortKey::Time, "changed"), style);
        }
        let name = match app.listing.is_sorted() {
            true => title(SortKey::Name, "name"),
            false => "name ▲ (sorting)".to_owned(),
        };
        pen.text(&name, style);
    }

    fn draw(&self, line: &Line, mut pen: Pen<'_>, theme: Theme) {
        let style = if line.selected { Style::new() } else { theme.dim() };
        if self.mark > 0 {
            let (sign, style) = match line {
                Line { marked: true, .. } => (MARKED, theme.mark()),
                Line { is_further_link: true, .. } => (FURTHER_LINK, theme.dim()),
                _ => ("", theme.plain()),
            };
            pen.left(2, sign, style);
        }
        pen.right(self.growth, &line.growth, theme.plain());
        pen.right(self.size, &line.size, theme.plain());
        pen.right(self.share, &percent(line.share), style);
        pen.left(Self::with_gap(self.bar), &bar(line.bar, self.bar), theme.bar());
        pen.right(self.count, &line.count, style);
        let time: String = line.time.chars().take(self.time).collect();
        pen.left(Self::with_gap(self.time), &time, style);
        let name = if line.is_directory { theme.bold() } else { theme.plain() };
        let name = if line.marked { name.patch(theme.mark()) } else { name };
        // Notes are dropped if they would leave no room for the name.
        let (notes, least) = (width(&line.notes), width(&line.name).min(Columns::MIN_NAME));
        let notes = if notes + least <= pen.room() { notes } else { 0 };
        let room = pen.room() - notes;
        pen.text(&shorten(line.name.clone(), room), name);
        if notes > 0 {
            pen.text(&line.notes, theme.warning());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_sort_key_shown_first() {
        for (key, width) in [(SortKey::Count, 31), (SortKey::Time, 30), (SortKey::Size, 28)] {
            let columns = Columns::fit(width, SortOrder::by(key, Measure::DiskUsage), false);
            assert_eq!(columns.count > 0, key == SortKey::Count, "{columns:?}");
            assert_eq!(columns.time > 0, key == SortKey::Time, "{columns:?}");
        }
        for width in 0..400 {
            let columns =
                Columns::fit(width, SortOrder::by(SortKey::Size, Measure::DiskUsage), true);
            let Columns { mark, growth, size, share, bar, count, time } = columns;
            let all = [mark, growth, size, share, bar, count, time];
            let taken: usize = all.iter().filter(|&&width| width > 0).map(|width| width + 1).sum();
            assert!(taken == 0 || taken + Columns::MIN_NAME <= width, "{width}: {columns:?}");
        }
    }
}
