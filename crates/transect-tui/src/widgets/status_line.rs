//! The last line: a message, a prompt, or the state with key hints.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::pen::Pen;
use crate::app::{App, Overlay, ReadState};
use crate::keys::{self, Action, Context};
use crate::theme::Theme;
use transect_text::quote::{shorten, width};
use transect_text::units::{bytes, count, counted, duration};

/// The sizes of more marked entries are not added up for every frame.
const ADDED_UP: usize = 10_000;

enum Content {
    /// A prompt, with a cell for the next character.
    Prompt {
        label: &'static str,
        text: String,
        fails: bool,
    },
    Message {
        text: String,
        is_error: bool,
    },
    /// From the longest to the shortest text.
    State {
        texts: Vec<String>,
        warns: bool,
        hints: Vec<(String, &'static str)>,
    },
}

struct StatusLine(Content, Theme);

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    frame.render_widget(StatusLine(content(app), theme), area);
}

fn content(app: &App) -> Content {
    if let Overlay::Prompt(prompt) = &app.overlay {
        let (label, fails) = (prompt.label(), prompt.fails && !prompt.text.is_empty());
        return Content::Prompt { label, text: prompt.text.clone(), fails };
    }
    if let Some(message) = &app.message {
        return Content::Message { text: message.text.clone(), is_error: message.is_error };
    }
    let (long, short) = state(app);
    let texts = match marks(app) {
        Some(marks) => vec![format!("{marks}; {long}"), format!("{marks}; {short}"), marks],
        None => vec![long, short],
    };
    let warns = app.table.diagnostics().errors > 0;
    Content::State { texts, warns, hints: hints(app) }
}

fn marks(app: &App) -> Option<String> {
    let marked = app.marked()?;
    if app.marks.len() > ADDED_UP {
        return Some(marked);
    }
    let outermost = app.table.outermost(app.marks.iter()).into_iter();
    let sizes = outermost.map(|row| app.order.measure.of(&app.table.totals(row)));
    let size = sizes.fold(0, u64::saturating_add);
    Some(format!("{marked}, {}", bytes(size)))
}

/// Returns the state as a long and a short text.
fn state(app: &App) -> (String, String) {
    let errors = app.table.diagnostics().errors;
    let errors = match errors {
        0 => String::new(),
        _ => format!(", {}", counted(errors, "error", "errors")),
    };
    let (entries, elapsed) = (app.counts.entries, duration(app.elapsed));
    let read = counted(entries, "entry", "entries");
    match app.read_state {
        ReadState::First => {
            (format!("reading: {read}, {elapsed}{errors}"), format!("reading: {}", count(entries)))
        }
        ReadState::Again => {
            (format!("reading again: {read}, {elapsed}"), format!("reading: {}", count(entries)))
        }
        ReadState::Done => {
            let state = if errors.is_empty() { "complete" } else { "partial" };
            let all = counted(app.table.len(), "entry", "entries");
            if let Some(stored_at) = &app.stored_at {
                let when = format!("snapshot of {stored_at}");
                return (format!("{when}, {state}: {all}{errors}"), when);
            }
            (format!("{state}: {all} in {elapsed}{errors}"), format!("{state}{errors}"))
        }
    }
}

fn hints(app: &App) -> Vec<(String, &'static str)> {
    let context = app.context();
    let actions: &[(Action, &str)] = match context {
        Context::Directory => &[
            (Action::Help, "help"),
            (Action::Search, "search"),
            (Action::ToggleMark, "mark"),
            (Action::Quit, "quit"),
            (Action::LargestFiles, "largest files"),
            (Action::Find, "find"),
        ],
        Context::Duplicates => &[
            (Action::GoTo, "go to file"),
            (Action::ToggleMark, "mark"),
            (Action::MarkAll, "mark copies"),
            (Action::Close, "close"),
        ],
        Context::List => &[(Action::GoTo, "go there"), (Action::Close, "close")],
        Context::Prompt | Context::Confirmation | Context::Removal => &[],
    };
    // Some lists have no entries to jump to.
    let skipped = usize::from(matches!(app.overlay, Overlay::Help(_) | Overlay::KeptEntries(_)));
    let actions = actions.iter().skip(skipped);
    actions.map(|&(action, help)| (keys::key_for(context, action), help)).collect()
}

impl Widget for StatusLine {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let Self(content, theme) = self;
        let mut pen = Pen::new(buffer, area, 0);
        match content {
            Content::Prompt { label, text, fails } => {
                pen.text(" ", Style::new());
                if pen.room() > label.len() + 10 {
                    pen.text(label, theme.bold());
                }
                let note = if fails { "no match " } else { "" };
                pen.at_end(note, theme.warning(), 10);
                // Keeps the end of the text visible.
                let room = pen.room().saturating_sub(1);
                let hidden = text.chars().count().saturating_sub(room);
                pen.text(&text.chars().skip(hidden).collect::<String>(), Style::new());
                pen.text(" ", theme.selected());
            }
            Content::Message { text, is_error } => {
                pen.text(" ", Style::new());
                pen.name(text, if is_error { theme.error() } else { theme.bold() });
            }
            Content::State { texts, warns, hints } => {
                pen.text(" ", Style::new());
                let room = pen.room();
                let length = |(key, help): &(String, &str)| key.chars().count() + help.len() + 3;
                let taken = |hints: &[_]| hints.iter().map(length).sum::<usize>();
                // Other hints are dropped before help and the state.
                let mut fitting = hints.len();
                while fitting > 1 && taken(&hints[..fitting]) + width(&texts[0]) + 1 > room {
                    fitting -= 1;
                }
                let hints = &hints[..fitting];
                let left = room.saturating_sub(taken(hints));
                let text = texts.iter().find(|text| width(text) < left).or(texts.last());
                let text = shorten(text.cloned().unwrap_or_default(), left.saturating_sub(1));
                pen.left(left, &text, if warns { theme.warning() } else { theme.dim() });
                for (key, help) in hints {
                    pen.text(key, theme.key());
                    pen.text(&format!(" {help}  "), theme.dim());
                }
            }
        }
    }
}
