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
use transect_text::units::{bytes, count};

/// The maximum number of lines.
pub(super) const LINES: u16 = 14;

/// The width of the labels.
const LABELS: usize = 12;

struct Panel {
    name: String,
    lines: Vec<(&'static str, String)>,
    theme: Theme,
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, view: &ViewOptions, theme: Theme) {
    let selected = app.listing.selected();
    let name = selected.map(|row| quote::for_terminal(app.table.name(row))).unwrap_or_default();
    let lines = selected.map(|row| lines(app, row, view)).unwrap_or_default();
    frame.render_widget(Panel { name, lines, theme }, area);
}

fn lines(app: &App, row: Row, view: &ViewOptions) -> Vec<(&'static str, String)> {
    let table: &Table = &app.table;
    let (attributes, sums) = (table.attributes(row), table.totals(row));
    let is_directory = table.file_type(row) == FileType::Directory;
    let mut lines = vec![("type", table.file_type(row).as_str().to_owned())];
    lines.push(("disk usage", exact_size(table.standalone_usage(row))));
    let apparent = if is_directory { Some(sums.apparent) } else { attributes.size() };
    lines.extend(apparent.map(|size| ("apparent", exact_size(size))));
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

/// Returns a size in units and in bytes.
fn exact_size(size: u64) -> String {
    match size {
        0..1024 => bytes(size),
        _ => format!("{} ({})", bytes(size), count(size)),
    }
}

impl Widget for Panel {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let Self { name, lines, theme } = self;
        let area = area.intersection(buffer.area);
        let border = if area.height > area.width / 4 { Borders::LEFT } else { Borders::TOP };
        let block = Block::new().borders(border).border_style(theme.dim());
        let mut inside = block.inner(area);
        block.render(area, buffer);
        inside.x = inside.x.saturating_add(1).min(inside.right());
        inside.width = inside.width.saturating_sub(1);
        Pen::new(buffer, inside, 0).name(name, theme.bold());
        for (at, (label, value)) in (1..inside.height).zip(lines) {
            let mut pen = Pen::new(buffer, inside, at);
            let columns = LABELS.min(pen.room() / 2);
            pen.left(columns, label, theme.dim());
            pen.name(value, theme.plain());
        }
    }
}
