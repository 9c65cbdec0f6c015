//! Questions before something is removed, and how far that is.

use ratatui::Frame;
use ratatui::layout::Rect;
use transect_remove::Summary;

use super::pen::Pen;
use super::popup;
use crate::app::{App, Over, Question, Way};
use crate::theme::Theme;
use transect_text::quote;
use transect_text::share::bar;
use transect_text::units::{bytes, count, counted};
use transect_text::wrap::wrap;

/// How wide a question is where there is room.
const WIDTH: usize = 72;
/// How many of the chosen entries are shown before one has to go through them.
const NAMES: usize = 12;

pub(super) fn draw_question(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let Over::Question(question) = &mut app.over else { return };
    let title = title(question);
    let names = question.rows.len();
    let facts = facts(question);
    // What is below is found out with the widest frame that there may be.
    let room = usize::from(popup::inside(area).width).min(WIDTH);
    let facts: Vec<String> = facts.iter().flat_map(|fact| wrap(fact, room)).collect();
    // A blank line on both sides of the facts, and the answers.
    let place = popup::place(area, WIDTH, names.min(NAMES) + facts.len() + 3);
    let inside = popup::inside(place);
    let height = usize::from(inside.height);

    let answers = usize::from(height > 0);
    let told = facts.len().min(height.saturating_sub(answers + 1));
    let rest = height.saturating_sub(answers + told);
    let blanks = rest.saturating_sub(names.clamp(1, NAMES)).min(2);
    let shown = question.cursor.scroll(names, rest - blanks);
    let of = names;
    frame.render_widget(popup::Frame { title: &title, shown: shown.clone(), of, theme }, place);

    let mut line = 0;
    for index in shown {
        let row = question.rows[index];
        let mut pen = Pen::new(frame.buffer_mut(), inside, line);
        pen.at_end(&bytes(app.table.standalone_usage(row)), theme.plain(), 16);
        pen.name(quote::for_terminal(app.table.path(row).as_os_str()), theme.bold());
        line += 1;
    }
    line += u16::from(blanks > 0);
    for fact in &facts[..told] {
        Pen::new(frame.buffer_mut(), inside, line).text(fact, theme.plain());
        line += 1;
    }
    line += u16::from(blanks > 1);
    let mut pen = Pen::new(frame.buffer_mut(), inside, line);
    let chosen = |yes| if question.yes == yes { theme.selected() } else { theme.plain() };
    pen.text(" n keep ", chosen(false));
    pen.skip(2);
    match (question.way, question.summary) {
        (_, None) => pen.text("(being added up …)", theme.dim()),
        (Way::Delete, _) => pen.text(" y delete ", chosen(true)),
        (Way::Trash, _) => pen.text(" y move ", chosen(true)),
    }
}

fn title(question: &Question) -> String {
    let entries = counted(question.rows.len() as u64, "entry", "entries");
    match question.way {
        Way::Delete => format!("Delete {entries} for good?"),
        Way::Trash => format!("Move {entries} to the trash?"),
    }
}

/// Returns what is to be known before somebody answers, the most important first.
fn facts(question: &Question) -> Vec<String> {
    let Some(summary) = question.summary else { return Vec::new() };
    let Summary { freed, shared, shared_files, mounts, unread, .. } = summary;
    let trash = question.way == Way::Trash;
    let mut facts = Vec::new();
    let freed = bytes(freed);
    facts.push(match question.way {
        Way::Delete => format!("{freed} will be free; nothing brings it back"),
        Way::Trash => format!("{freed} will be free when the trash is emptied"),
    });
    if shared > 0 {
        let files = counted(shared_files, "file has", "files have");
        facts.push(format!("{} stay occupied: {files} other names elsewhere", bytes(shared)));
    }
    if mounts > 0 {
        facts.push(match counted(mounts, "place", "places") {
            places if trash => format!("something is mounted at {places} in it: that stays"),
            places => format!("something is mounted at {places} in it: what is there stays"),
        });
    }
    if unread > 0 {
        let directories = counted(unread, "directory was", "directories were");
        let what = "not read: what is in there is not known, and";
        let becomes = if trash { "goes along" } else { "stays" };
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

pub(super) fn draw_work(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    let Over::Work(work) = &app.over else { return };
    let title = match (work.stops, work.way) {
        (true, _) => "Stopping …",
        (false, Way::Delete) => "Deleting …",
        (false, Way::Trash) => "Moving to the trash …",
    };
    let place = popup::place(area, WIDTH, 4);
    let inside = popup::inside(place);
    frame.render_widget(popup::Frame { title, shown: 0..0, of: 0, theme }, place);
    let counts = work.counts;
    let done = counts.removed + counts.vanished + counts.kept;
    let mut line = |at: u16, text: String| {
        Pen::new(frame.buffer_mut(), inside, at).name(text, theme.plain());
    };
    line(0, work.path.clone());
    let mut text = format!("{} of {}", count(done), counted(work.of, "entry", "entries"));
    if counts.freed > 0 {
        text.push_str(&format!(", {} freed", bytes(counts.freed)));
    }
    if counts.kept > 0 {
        text.push_str(&format!(", {} kept", count(counts.kept)));
    }
    line(1, text);
    let share = if work.of == 0 { 0.0 } else { done as f64 / work.of as f64 };
    let filled = bar(share, usize::from(inside.width));
    Pen::new(frame.buffer_mut(), inside, 2).text(&filled, theme.bar());
    let mut pen = Pen::new(frame.buffer_mut(), inside, 3);
    pen.text("Esc", theme.key());
    pen.text(" stops; what is removed by then stays so", theme.dim());
}
