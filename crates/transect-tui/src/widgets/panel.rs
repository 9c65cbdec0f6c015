//! A description of the selected entry.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Borders, Widget};
use transect::FileType;
use transect::table::{Row, Table};

use super::pen::Pen;
use crate::app::App;
use crate::theme::Theme;
use crate::view_options::ViewOptions;
use transect_text::quote;
use transect_text::units::{bytes, count, signed_bytes};

pub(super) const LINES: u16 = 14;

const SIZES: usize = 8;

const LABELS: usize = 12;

/// The fewest lines that a list needs: an empty one, its title, and two entries.
const LEAST_LIST: u16 = 4;

/// The largest entries of the selected directory, or the largest files below it.
struct List {
    title: &'static str,
    entries: Vec<(String, String)>,
}

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &mut App,
    view: &ViewOptions,
    theme: Theme,
) {
    let selected = app.listing.selected();
    let name = selected.map(|row| quote::for_terminal(app.table.name(row))).unwrap_or_default();
    let lines = selected.map(|row| lines(app, row, view)).unwrap_or_default();
    let mut lists = Vec::new();
    if is_beside(area) {
        app.update_preview();
        let most = usize::from(area.height);
        lists = selected.map(|row| self::lists(app, row, most)).unwrap_or_default();
    }
    let buffer = frame.buffer_mut();
    let area = area.intersection(buffer.area);
    let border = if is_beside(area) { Borders::LEFT } else { Borders::TOP };
    let block = Block::new().borders(border).border_style(theme.dim());
    let mut inside = block.inner(area);
    block.render(area, buffer);
    inside.x = inside.x.saturating_add(1).min(inside.right());
    inside.width = inside.width.saturating_sub(1);
    Pen::new(buffer, inside, 0).name(name, theme.bold());
    let next = (lines.len() as u16).saturating_add(1);
    for (at, (label, value)) in (1..inside.height).zip(lines) {
        let mut pen = Pen::new(buffer, inside, at);
        let columns = LABELS.min(pen.room() / 2);
        pen.left(columns, label, theme.dim());
        pen.name(value, theme.plain());
    }
    draw_lists(buffer, inside, next, lists, theme);
}

fn is_beside(area: Rect) -> bool {
    area.height > area.width / 4
}

/// Returns the lists of the preview, each with at most `most` entries.
fn lists(app: &App, directory: Row, most: usize) -> Vec<List> {
    let Some(preview) = &app.preview else { return Vec::new() };
    let table: &Table = &app.table;
    let below = table.path(directory);
    let list = |title, rows: &[Row]| {
        let there = rows.iter().filter(|row| !app.removed_rows.contains(**row)).take(most);
        let entry = |&row: &Row| {
            let path = table.path(row);
            let path = path.strip_prefix(&below).unwrap_or(&path);
            let mut name = quote::for_terminal(path.as_os_str());
            name.push_str(if table.file_type(row) == FileType::Directory { "/" } else { "" });
            (bytes(app.order.measure.size(&table.totals(row))), name)
        };
        List { title, entries: there.map(entry).collect() }
    };
    let mut lists = vec![list("largest entries", &preview.entries)];
    // The same files twice would show nothing new.
    if preview.files != preview.entries {
        lists.push(list("largest files below", &preview.files));
    }
    lists.retain(|list| !list.entries.is_empty());
    lists
}

fn lines(app: &App, row: Row, view: &ViewOptions) -> Vec<(&'static str, String)> {
    let table: &Table = &app.table;
    let (attributes, sums) = (table.attributes(row), table.totals(row));
    let is_directory = table.file_type(row) == FileType::Directory;
    let mut lines = vec![("type", table.file_type(row).as_str().to_owned())];
    lines.push(("disk usage", exact_size(table.standalone_usage(row))));
    let apparent = if is_directory { Some(sums.apparent) } else { attributes.size() };
    lines.extend(apparent.map(|size| ("apparent", exact_size(size))));
    if app.disk.is_some_and(|disk| apparent > Some(disk.size)) {
        lines.push(("sparse", "files with holes".to_owned()));
    }
    if let Some(growth) = app.growth(row) {
        lines.push(("growth", signed_bytes(growth)));
    }
    let shared = table.shared(row);
    if shared > 0 {
        lines.push(("exclusive", exact_size(table.exclusive(row))));
        lines.push(("shared", exact_size(shared)));
    }
    let elsewhere = table.standalone_usage(row).saturating_sub(sums.disk_usage);
    if elsewhere > 0 {
        // Explains why the listed size is smaller than the file.
        lines.push(("counted at", format!("another name: {}", bytes(elsewhere))));
    }
    if is_directory {
        lines.push(("files", count(sums.files.into())));
        lines.push(("directories", count(u64::from(sums.directories).saturating_sub(1))));
        if sums.others > 0 {
            lines.push(("others", count(sums.others.into())));
        }
        lines.extend(sums.newest().map(|time| ("newest", (view.time)(time))));
    }
    lines.extend(attributes.mtime().map(|time| ("changed", (view.time)(time))));
    lines.extend(attributes.uid().map(|uid| ("owner", (view.owner)(uid))));
    if let Some(why) = table.unread_reason(row).filter(|_| !app.is_awaited(row)) {
        lines.push(("not read", why.as_str().replace('_', " ")));
    }
    let errors = table.errors(row);
    if errors > 0 {
        lines.push(("errors", count(errors)));
    }
    lines
}

fn exact_size(size: u64) -> String {
    match size {
        0..1024 => bytes(size),
        _ => format!("{} ({})", bytes(size), count(size)),
    }
}

/// Draws the lists from line `next` on, as many as there is room for.
fn draw_lists(buffer: &mut Buffer, inside: Rect, mut next: u16, lists: Vec<List>, theme: Theme) {
    let mut waiting = lists.len() as u16;
    for List { title, entries } in lists {
        // What later lists need at least remains for them, if it is there.
        let left = inside.height.saturating_sub(next);
        let others = (waiting - 1) * LEAST_LIST;
        let room = if left >= others + LEAST_LIST { left - others } else { left };
        // The first of two lists takes half of what there is, or less.
        let room = if waiting > 1 { room.min((left / 2).max(LEAST_LIST)) } else { room };
        waiting -= 1;
        if room < LEAST_LIST {
            break;
        }
        Pen::new(buffer, inside, next + 1).text(title, theme.dim());
        let lines = next + 2..next + room;
        next = lines.start;
        for (at, (size, name)) in lines.zip(entries) {
            let mut pen = Pen::new(buffer, inside, at);
            pen.right(SIZES, &size, theme.plain());
            pen.name(name, theme.plain());
            next = at + 1;
        }
    }
}
