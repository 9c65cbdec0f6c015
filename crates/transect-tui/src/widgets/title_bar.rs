//! The first line: the current directory, its totals, and the disk.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::pen::Pen;
use crate::app::App;
use crate::theme::Theme;
use transect_text::units::{bytes, counted, signed_bytes};
use transect_text::{disk, quote};

/// From this width on, the number of entries is always shown.
const MIN_FULL: u16 = 60;

/// The room that a path keeps.
const MIN_PATH: usize = 12;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    let (path, sums) = match app.directory {
        Some(at) => (quote::for_terminal(app.table.path(at).as_os_str()), app.table.totals(at)),
        None => ("all roots".to_owned(), app.table.grand_total()),
    };
    let mut size = bytes(app.order.measure.size(&sums));
    if let Some(growth) = app.directory.and_then(|at| app.growth(at)) {
        size.push_str(&format!(" ({})", signed_bytes(growth)));
    }
    let entries = counted(sums.entries(), "entry", "entries");
    let full = format!("{size} in {entries}");
    // From the longest to the shortest text.
    let mut facts = Vec::new();
    if let Some(space) = &app.disk {
        let text = disk::space(space);
        if let Some(share) = disk::share(space, sums.disk_usage) {
            facts.push(format!("{full}, {share} of what is used; {text}"));
        }
        facts.push(format!("{full}; {text}"));
    }
    // What is beside the size gives way to the path.
    let path_width = quote::width(&path).max(MIN_PATH);
    let room = usize::from(area.width).saturating_sub(path_width + 3);
    facts.retain(|text| quote::width(text) <= room);
    if area.width >= MIN_FULL {
        facts.push(full);
    }
    facts.push(size);
    let style = theme.selected();
    let buffer = frame.buffer_mut();
    buffer.set_style(area.intersection(buffer.area), style);
    let mut pen = Pen::new(buffer, area, 0);
    pen.skip(1);
    pen.at_end(&format!("{} ", facts[0]), style, MIN_PATH);
    pen.name(path, style.patch(theme.bold()));
}
