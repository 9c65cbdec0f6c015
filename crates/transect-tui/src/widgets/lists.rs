//! Lists of errors, kept entries and search results.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::entries::MARKED;
use super::popup;
use crate::app::{App, KeptEntries, Overlay, SearchResults};
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
    popup::list(frame, area, &title, (cursor, listed), theme, |mut pen, index| {
        let text = diagnostics.kept_errors[index].to_string();
        pen.name(quote::for_terminal(text.as_ref()), theme.plain());
    });
}

pub(super) fn draw_kept(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::KeptEntries(kept) = &mut app.overlay else { return };
    let KeptEntries { title, lines, cursor } = kept;
    popup::list(frame, area, title, (cursor, lines.len()), theme, |mut pen, index| {
        pen.name(lines[index].clone(), theme.plain());
    });
}

pub(super) fn draw_found(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::SearchResults(found) = &mut app.overlay else { return };
    let title = title(found);
    let list = (&mut found.cursor, found.rows.len());
    popup::list(frame, area, &title, list, theme, |mut pen, index| {
        let row = found.rows[index];
        let is_marked = app.marks.contains(row);
        pen.left(2, if is_marked { MARKED } else { "" }, theme.mark());
        if pen.room() >= 30 {
            pen.right(8, &bytes(app.order.measure.size(&app.table.totals(row))), theme.plain());
        }
        let style = if is_marked { theme.mark() } else { theme.plain() };
        pen.name(quote::for_terminal(app.table.path(row).as_os_str()), style);
    });
}

fn title(SearchResults { title, total, rows, .. }: &SearchResults) -> String {
    match *total {
        None => format!("finding {title} …"),
        Some(total) if total > rows.len() as u64 => {
            let (total, listed) = (count(total), count(rows.len() as u64));
            format!("{title}: {total} entries, largest {listed} listed")
        }
        Some(total) => format!("{title}: {}", counted(total, "entry", "entries")),
    }
}
