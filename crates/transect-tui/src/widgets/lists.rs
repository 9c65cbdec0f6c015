//! Lists of errors, kept entries and search results.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::popup;
use crate::app::{App, KeptEntries, Overlay, SearchResults};
use crate::cursor::Cursor;
use crate::theme::Theme;
use transect_text::quote;
use transect_text::units::{bytes, count, counted};

pub(super) fn draw_errors(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::Errors(cursor) = &mut app.overlay else { return };
    let diagnostics = app.table.diagnostics();
    let (listed, errors) = (diagnostics.kept_errors.len(), diagnostics.errors);
    let mut title = counted(errors, "error", "errors");
    if (listed as u64) < errors {
        title.push_str(&format!(", {} listed", count(listed as u64)));
    }
    let text =
        |index: usize| quote::for_terminal(diagnostics.kept_errors[index].to_string().as_ref());
    draw_texts(frame, area, &title, cursor, listed, text, theme);
}

pub(super) fn draw_kept(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::KeptEntries(kept) = &mut app.overlay else { return };
    let KeptEntries { title, lines, cursor } = kept;
    draw_texts(frame, area, title, cursor, lines.len(), |index| lines[index].clone(), theme);
}

/// Draws a list of texts; only visible ones are formatted.
fn draw_texts(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    cursor: &mut Cursor,
    length: usize,
    text: impl Fn(usize) -> String,
    theme: Theme,
) {
    let place = popup::centered(area, usize::from(area.width), length);
    let inside = popup::inner(place);
    let shown = cursor.window(length, usize::from(inside.height));
    let part = popup::PopupFrame { title, shown: shown.clone(), total: length, theme };
    frame.render_widget(part, place);
    for (at, index) in (0..).zip(shown) {
        Pen::new(frame.buffer_mut(), inside, at).name(text(index), theme.plain());
        if index == cursor.index() {
            popup::highlight(frame.buffer_mut(), inside, at, theme.selected());
        }
    }
}

pub(super) fn draw_found(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::SearchResults(found) = &mut app.overlay else { return };
    let title = title(found);
    let length = found.rows.len();
    let place = popup::centered(area, usize::from(area.width), length.max(1));
    let inside = popup::inner(place);
    let shown = found.cursor.window(length, usize::from(inside.height));
    let part = popup::PopupFrame { title: &title, shown: shown.clone(), total: length, theme };
    frame.render_widget(part, place);
    for (at, index) in (0..).zip(shown) {
        let row = found.rows[index];
        let mut pen = Pen::new(frame.buffer_mut(), inside, at);
        if inside.width >= 30 {
            pen.right(8, &bytes(app.order.measure.of(&app.table.totals(row))), theme.plain());
            pen.skip(1);
        }
        pen.name(quote::for_terminal(app.table.path(row).as_os_str()), theme.plain());
        if index == found.cursor.index() {
            popup::highlight(frame.buffer_mut(), inside, at, theme.selected());
        }
    }
}

fn title(found: &SearchResults) -> String {
    let text = quote::for_terminal(found.text.as_ref());
    match found.total {
        None => format!("finding “{text}” …"),
        Some(total) if total > found.rows.len() as u64 => {
            let (total, listed) = (count(total), count(found.rows.len() as u64));
            format!("“{text}”: {total} entries, largest {listed} listed")
        }
        Some(total) => format!("“{text}”: {}", counted(total, "entry", "entries")),
    }
}
