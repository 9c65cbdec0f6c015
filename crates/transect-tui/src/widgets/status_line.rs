//! The last line: a message, a prompt, or the state with key hints.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::pen::Pen;
use crate::app::{App, Overlay, Prompt, ReadState, StatusMessage};
use crate::keys::{self, Action, Context};
use crate::theme::Theme;
use transect_text::quote::{shorten, width};
use transect_text::units::{bytes, count, counted, duration};

/// The sizes of more marked entries are not added up for every frame.
const ADDED_UP: usize = 10_000;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    let mut pen = Pen::new(frame.buffer_mut(), area, 0);
    pen.text(" ", Style::new());
    match (&app.overlay, &app.message) {
        (Overlay::Prompt(prompt), _) => draw_prompt(pen, prompt, theme),
        (_, Some(StatusMessage { text, is_error })) => {
            pen.name(text.clone(), if *is_error { theme.error() } else { theme.bold() });
        }
        (_, None) => draw_state(pen, app, theme),
    }
}

/// Draws a prompt, with a cell for the next character.
fn draw_prompt(mut pen: Pen<'_>, prompt: &Prompt, theme: Theme) {
    let label = prompt.label();
    if pen.room() > label.len() + 10 {
        pen.text(label, theme.bold());
    }
    let fails = prompt.fails && !prompt.text.is_empty();
    pen.at_end(if fails { "no match " } else { "" }, theme.warning(), 10);
    // Keeps the end of the text visible.
    let room = pen.room().saturating_sub(1);
    let hidden = prompt.text.chars().count().saturating_sub(room);
    pen.text(&prompt.text.chars().skip(hidden).collect::<String>(), Style::new());
    pen.text(" ", theme.selected());
}

fn draw_state(mut pen: Pen<'_>, app: &App, theme: Theme) {
    let (long, short) = state(app);
    // From the longest to the shortest text.
    let texts = match marks(app) {
        Some(marks) => vec![format!("{marks}; {long}"), format!("{marks}; {short}"), marks],
        None => vec![long, short],
    };
    let room = pen.room();
    let length = |(key, help): &(&str, &str)| key.chars().count() + help.len() + 3;
    let taken = |hints: &[_]| hints.iter().map(length).sum::<usize>();
    // Other hints are dropped before help and the state.
    let mut hints = hints(app);
    while hints.len() > 1 && taken(&hints) + width(&texts[0]) + 1 > room {
        hints.pop();
    }
    let left = room.saturating_sub(taken(&hints));
    let text = texts.iter().find(|text| width(text) < left).or(texts.last());
    let text = shorten(text.cloned().unwrap_or_default(), left.saturating_sub(1));
    let warns = app.table.diagnostics().errors > 0;
    pen.left(left, &text, if warns { theme.warning() } else { theme.dim() });
    for (key, help) in hints {
        pen.text(key, theme.bold());
        pen.text(&format!(" {help}  "), theme.dim());
    }
}

fn marks(app: &App) -> Option<String> {
    if app.marks.is_empty() {
        return None;
    }
    let marked = counted(app.marks.len() as u64, "entry marked", "entries marked");
    if app.marks.len() > ADDED_UP {
        return Some(marked);
    }
    let outermost = app.table.outermost(app.marks.iter()).into_iter();
    let sizes = outermost.map(|row| app.order.measure.size(&app.table.totals(row)));
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
        ReadState::First if app.stored_at.is_some() => {
            let when = app.stored_at.as_deref().unwrap_or_default();
            (format!("reading the snapshot of {when}"), "reading".to_owned())
        }
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
            if app.is_followed {
                return (format!("live: {all}{errors}"), format!("live{errors}"));
            }
            let since = app.before_at.as_ref().map(|time| format!("; growth since {time}"));
            let since = since.unwrap_or_default();
            (format!("{state}: {all} in {elapsed}{errors}{since}"), format!("{state}{errors}"))
        }
    }
}

fn hints(app: &App) -> Vec<(&'static str, &'static str)> {
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
        Context::Found => &[
            (Action::GoTo, "go there"),
            (Action::ToggleMark, "mark"),
            (Action::MarkAll, "mark all"),
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
