//! The help, generated from the key bindings.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::entries::{FURTHER_LINK, MARKED};
use super::pen::Pen;
use super::popup;
use crate::app::{App, Overlay};
use crate::keys::{BINDINGS, Binding, Context};
use crate::theme::Theme;
use transect_text::quote::width;

const KEYS: usize = 20;

const SIGNS: [(&str, &str); 2] =
    [(MARKED, "marked entry"), (FURTHER_LINK, "hard link, counted at another name")];

enum Line {
    Heading(&'static str),
    Keys { keys: &'static str, help: &'static str },
    Blank,
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::Help(cursor) = &mut app.overlay else { return };
    let lines = lines(app.read_only, app.stored_at.is_some());
    let longest = lines.iter().map(|line| match line {
        Line::Keys { help, .. } => KEYS + width(help),
        Line::Heading(_) | Line::Blank => 0,
    });
    let place = popup::centered(area, longest.max().unwrap_or(0), lines.len());
    let inside = popup::inner(place);
    let shown = cursor.scroll(lines.len(), usize::from(inside.height));
    popup::border(frame.buffer_mut(), place, "Keys", (&shown, lines.len()), theme);
    for (at, line) in (0..).zip(&lines[shown]) {
        let mut pen = Pen::new(frame.buffer_mut(), inside, at);
        match line {
            Line::Heading(text) => pen.text(text, theme.bold()),
            Line::Keys { keys, help } => {
                // If there is not enough room, only the first of several keys is visible.
                let columns = KEYS.min(pen.room() / 2);
                pen.left(columns, keys, theme.bold());
                pen.text(help, theme.plain());
            }
            Line::Blank => {}
        }
    }
}

fn lines(read_only: bool, is_stored: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for &context in Context::ALL {
        let is_about_removal =
            matches!(context, Context::Duplicates | Context::Confirmation | Context::Removal);
        if is_stored && is_about_removal {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::Blank);
        }
        lines.push(Line::Heading(context.as_str()));
        let bindings = BINDINGS.iter().filter(|it| it.contexts.contains(&context));
        let bindings = bindings.filter(|it| !(read_only && it.action.removes()));
        let bindings = bindings.filter(|it| !(is_stored && it.action.needs_disk()));
        lines.extend(bindings.map(|Binding { keys, help, .. }| Line::Keys { keys, help }));
    }
    lines.extend([Line::Blank, Line::Heading("Signs")]);
    lines.extend(SIGNS.map(|(sign, help)| Line::Keys { keys: sign, help }));
    lines
}
