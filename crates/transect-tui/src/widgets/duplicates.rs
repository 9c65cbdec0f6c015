//! The list of duplicates.

use ratatui::Frame;
use ratatui::layout::Rect;
use transect_duplicates::Phase;

use super::entries::MARKED;
use super::pen::Pen;
use super::popup;
use crate::app::{App, DuplicateLine, DuplicateSearch};
use crate::theme::Theme;
use transect_text::quote;
use transect_text::units::{bytes, count, counted};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &mut App, theme: Theme) {
    let (table, marks, removed) = (&app.table, &app.marks, &app.removed_rows);
    let Some(search) = &mut app.duplicates else { return };
    let title = title(search, &quote::for_terminal(table.path(search.below).as_os_str()));
    let length = search.lines.len();
    let list = (&mut search.cursor, length);
    let inside =
        popup::list(frame, area, &title, list, theme, |mut pen, index| match search.lines[index] {
            DuplicateLine::Group(group) => {
                let group = &search.groups[group];
                let files = counted(group.files.len() as u64, "file", "files");
                let freed = bytes(group.freed());
                let text = format!("{files} of {}, frees {freed}", bytes(group.size));
                pen.name(text, theme.bold());
            }
            DuplicateLine::File { group, file } => {
                let (names, _) = &search.groups[group].files[file];
                let is_marked = names.iter().all(|&row| marks.contains(row));
                pen.left(2, if is_marked { MARKED } else { "" }, theme.mark());
                let gone = names.iter().all(|&row| removed.contains(row));
                let note = match names.len() {
                    _ if gone => "removed".to_owned(),
                    1 => String::new(),
                    more => format!("{} names", count(more as u64)),
                };
                pen.at_end(&note, theme.dim(), 20);
                let style = match (gone, is_marked) {
                    (true, _) => theme.dim(),
                    (false, true) => theme.mark(),
                    (false, false) => theme.plain(),
                };
                pen.name(quote::for_terminal(table.path(names[0]).as_os_str()), style);
            }
        });
    if length == 0 {
        let text = if search.is_running { progress(search) } else { "no duplicates".to_owned() };
        Pen::new(frame.buffer_mut(), inside, 0).name(text, theme.plain());
    }
}

fn title(search: &DuplicateSearch, below: &str) -> String {
    if search.is_running {
        return format!("Duplicates below {below}: searching …");
    }
    let freed = search.groups.iter().fold(0_u64, |sum, group| sum.saturating_add(group.freed()));
    let groups = counted(search.groups.len() as u64, "group", "groups");
    let errors = match search.errors {
        0 => String::new(),
        errors => format!(", {} not compared", counted(errors, "file", "files")),
    };
    format!("{groups}, {} to free{errors}: duplicates below {below}", bytes(freed))
}

fn progress(search: &DuplicateSearch) -> String {
    let (done, total) = search.progress.files();
    let what = match search.progress.phase() {
        Phase::Walk => return "looking for files of the same length".to_owned(),
        Phase::Ends => "beginnings and ends",
        Phase::Whole => "whole files",
    };
    let read = bytes(search.progress.bytes());
    format!("{} of {} {what}, {read} read; Esc stops", count(done), count(total))
}
