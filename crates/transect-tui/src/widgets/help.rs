//! Help, as the keys have it.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::popup;
use crate::app::{App, Over};
use crate::keys::{Action, BINDINGS, Binding, Context};
use crate::theme::Theme;
use transect_text::quote::width;

/// Columns for the names of keys.
const KEYS: usize = 20;

enum Line {
    Heading(&'static str),
    Keys { keys: String, does: &'static str },
    Blank,
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Over::Help(cursor) = &mut app.over else { return };
    let lines = lines(app.read_only);
    let longest = lines.iter().map(|line| match line {
        Line::Keys { does, .. } => KEYS + width(does),
        Line::Heading(_) | Line::Blank => 0,
    });
    let place = popup::place(area, longest.max().unwrap_or(0), lines.len());
    let inside = popup::inside(place);
    let shown = cursor.scroll(lines.len(), usize::from(inside.height));
    let of = lines.len();
    frame.render_widget(popup::Frame { title: "Keys", shown: shown.clone(), of, theme }, place);
    for (at, line) in (0..).zip(&lines[shown]) {
        let mut pen = Pen::new(frame.buffer_mut(), inside, at);
        match line {
            Line::Heading(text) => pen.text(text, theme.bold()),
            Line::Keys { keys, does } => {
                // Of many keys for the same the first is shown if there is no room.
                let columns = KEYS.min(pen.room() / 2);
                pen.left(columns, keys, theme.key());
                pen.text(does, theme.plain());
            }
            Line::Blank => {}
        }
    }
}

fn lines(read_only: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        if !lines.is_empty() {
            lines.push(Line::Blank);
        }
        lines.push(Line::Heading(context.as_str()));
        let bindings = BINDINGS.iter().filter(|binding| binding.context == context);
        let bindings = bindings.filter(|it| !(read_only && removes(it)));
        lines.extend(bindings.map(|Binding { keys, does, .. }| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            Line::Keys { keys: keys.join(" "), does }
        }));
    }
    lines
}

fn removes(binding: &Binding) -> bool {
    matches!(binding.action, Action::Delete | Action::Trash)
}
