//! The confirmation before a removal, and its progress.

use ratatui::Frame;
use ratatui::layout::Rect;
use transect_remove::{RemovalKind, Summary};

use super::pen::Pen;
use super::popup;
use crate::app::{App, Confirmation, Overlay};
use crate::message::RemovalTask;
use crate::theme::Theme;
use transect_text::quote;
use transect_text::share::bar;
use transect_text::units::{bytes, count, counted};
use transect_text::wrap::wrap;

/// The maximum width of a confirmation.
const WIDTH: usize = 72;
/// The maximum number of entries shown without scrolling.
const NAMES: usize = 12;

pub(super) fn draw_confirmation(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Overlay::Confirmation(confirmation) = &mut app.overlay else { return };
    let title = title(confirmation);
    let names = confirmation.rows.len();
    let facts = facts(confirmation);
    // Wraps for the widest possible frame.
    let room = usize::from(popup::inner(area).width).min(WIDTH);
    let facts: Vec<String> = facts.iter().flat_map(|fact| wrap(fact, room)).collect();
    // An empty line before and after the facts, and the line of answers.
    let place = popup::centered(area, WIDTH, names.min(NAMES) + facts.len() + 3);
    let inside = popup::inner(place);
    let height = usize::from(inside.height);

    let messages = usize::from(height > 0);
    let told = facts.len().min(height.saturating_sub(messages + 1));
    let rest = height.saturating_sub(messages + told);
    let blanks = rest.saturating_sub(names.clamp(1, NAMES)).min(2);
    let shown = confirmation.cursor.scroll(names, rest - blanks);
    popup::border(frame.buffer_mut(), place, &title, (&shown, names), theme);

    let mut line = 0;
    for index in shown {
        let row = confirmation.rows[index];
        let mut pen = Pen::new(frame.buffer_mut(), inside, line);
        let table = &confirmation.table;
        pen.at_end(&bytes(table.standalone_usage(row)), theme.plain(), 16);
        pen.name(quote::for_terminal(table.path(row).as_os_str()), theme.bold());
        line += 1;
    }
    line += u16::from(blanks > 0);
    for fact in &facts[..told] {
        Pen::new(frame.buffer_mut(), inside, line).text(fact, theme.plain());
        line += 1;
    }
    line += u16::from(blanks > 1);
    let mut pen = Pen::new(frame.buffer_mut(), inside, line);
    let chosen = |yes| if confirmation.yes == yes { theme.selected() } else { theme.plain() };
    pen.text(" n keep ", chosen(false));
    pen.skip(2);
    match (confirmation.summary, confirmation.task) {
        (None, _) => pen.text("(adding up …)", theme.dim()),
        (_, RemovalTask::Remove(RemovalKind::Trash)) => pen.text(" y move ", chosen(true)),
        _ => pen.text(" y delete ", chosen(true)),
    }
}

fn title(confirmation: &Confirmation) -> String {
    let entries = counted(confirmation.rows.len() as u64, "entry", "entries");
    match confirmation.task {
        RemovalTask::Remove(RemovalKind::Trash) => format!("Move {entries} to the trash?"),
        RemovalTask::EmptyTrash => format!("Empty the trash: delete {entries} for good?"),
        _ => format!("Delete {entries} for good?"),
    }
}

/// Returns the facts that matter for the decision, the most important first.
fn facts(confirmation: &Confirmation) -> Vec<String> {
    let Some(summary) = confirmation.summary else { return Vec::new() };
    let Summary { freed, shared, shared_files, mounts, unread, .. } = summary;
    let trash = confirmation.task == RemovalTask::Remove(RemovalKind::Trash);
    let mut facts = Vec::new();
    let freed = bytes(freed);
    facts.push(match trash {
        false => format!("frees {freed}; cannot be undone"),
        true => format!("frees {freed} when the trash is emptied"),
    });
    if shared > 0 {
        let files = counted(shared_files, "file has", "files have");
        facts.push(format!("{} stay in use: {files} other names elsewhere", bytes(shared)));
    }
    if mounts > 0 {
        facts.push(match counted(mounts, "mount point", "mount points") {
            points if trash => format!("{points} inside: not moved"),
            points => format!("{points} inside: not deleted"),
        });
    }
    if unread > 0 {
        let directories = counted(unread, "directory", "directories");
        let what = "not read: unknown contents";
        let becomes = if trash { "are moved, too" } else { "are kept" };
        facts.push(format!("{directories} {what} {becomes}"));
    }
    facts.push(contents(&summary));
    facts
}

fn contents(summary: &Summary) -> String {
    let Summary { files, directories, others, .. } = *summary;
    let parts = [
        (files, counted(files, "file", "files")),
        (directories, counted(directories, "directory", "directories")),
        (others, counted(others, "other", "others")),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text);
    parts.collect::<Vec<_>>().join(", ")
}

pub(super) fn draw_progress(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    let Overlay::RemovalProgress(progress) = &app.overlay else { return };
    let title = match (progress.is_stopping, progress.task) {
        (true, _) => "Stopping …",
        (false, RemovalTask::Remove(RemovalKind::Delete)) => "Deleting …",
        (false, RemovalTask::Remove(RemovalKind::Trash)) => "Moving to the trash …",
        (false, RemovalTask::EmptyTrash) => "Emptying the trash …",
        (false, RemovalTask::Restore) => "Moving back …",
    };
    let place = popup::centered(area, WIDTH, 4);
    let inside = popup::inner(place);
    popup::border(frame.buffer_mut(), place, title, (&(0..0), 0), theme);
    let counts = progress.counts;
    let done = counts.done();
    let mut line = |at: u16, text: String| {
        Pen::new(frame.buffer_mut(), inside, at).name(text, theme.plain());
    };
    line(0, progress.path.clone());
    let mut text = format!("{} of {}", count(done), counted(progress.total, "entry", "entries"));
    if counts.freed > 0 {
        text.push_str(&format!(", {} freed", bytes(counts.freed)));
    }
    if counts.kept > 0 {
        text.push_str(&format!(", {} kept", count(counts.kept)));
    }
    line(1, text);
    let share = if progress.total == 0 { 0.0 } else { done as f64 / progress.total as f64 };
    let filled = bar(share, usize::from(inside.width));
    Pen::new(frame.buffer_mut(), inside, 2).text(&filled, theme.bar());
    let mut pen = Pen::new(frame.buffer_mut(), inside, 3);
    pen.text("Esc", theme.bold());
    pen.text(" stops; what is done stays done", theme.dim());
}
