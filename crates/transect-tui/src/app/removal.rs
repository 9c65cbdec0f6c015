//! Removing: what was chosen is asked about, removed, and read again from the disk.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use transect::table::{Row, Table};
use transect_remove::{Counts, Report, Summary};

use super::{App, Over, Reading, Ticket, Wish};
use crate::cursor::{Cursor, Motion};
use crate::desk::Job;
use crate::keys::Action;
use crate::tree;
use transect_text::quote;
use transect_text::units::{bytes, counted};

/// How something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Delete,
    Trash,
}

/// Whether something is to be removed.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) way: Way,
    pub(crate) rows: Vec<Row>,
    /// What it comes to; nothing as long as that is added up.
    pub(crate) summary: Option<Summary>,
    /// What Enter answers: no, unless somebody chose otherwise.
    pub(crate) yes: bool,
    /// In the list of what is chosen.
    pub(crate) cursor: Cursor,
    ticket: Ticket,
}

/// Something is being removed.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) way: Way,
    pub(crate) counts: Counts,
    /// How many there are to remove: entries, or things to move.
    pub(crate) of: u64,
    /// The last one.
    pub(crate) path: String,
    pub(crate) stops: bool,
}

/// What was to be removed and is still there.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Cursor,
}

impl App {
    /// Asks whether what is chosen is to be removed.
    pub(super) fn ask(&mut self, way: Way) {
        if self.read_only {
            return self.say("nothing is removed: --read-only");
        }
        if self.reading == Reading::First {
            return self.say("nothing is removed before everything has been read");
        }
        let rows = self.chosen();
        if !rows.is_empty() {
            self.survey(way, rows, false);
        }
    }

    fn survey(&mut self, way: Way, rows: Vec<Row>, yes: bool) {
        let ticket = self.next_ticket();
        self.wish_for(Job::Survey { ticket, rows: rows.clone() });
        let cursor = Cursor::default();
        self.over = Over::Question(Question { way, rows, summary: None, yes, cursor, ticket });
    }

    /// Takes what removing would come to.
    pub(super) fn surveyed(&mut self, wanted: Ticket, surveyed: Result<Summary, String>) {
        match (&mut self.over, surveyed) {
            (Over::Question(question), _) if question.ticket != wanted => {}
            (Over::Question(question), Ok(summary)) => question.summary = Some(summary),
            (Over::Question(_), Err(why)) => {
                self.over = Over::Nothing;
                self.complain(why);
            }
            _ => {}
        }
    }

    /// Asks again, of another table: sizes may have changed, and some of it may be gone.
    pub(super) fn ask_again(&mut self, old: &Table) {
        let Over::Question(question) = &self.over else { return };
        let (way, yes) = (question.way, question.yes);
        let same = |&row: &Row| tree::same(old, row, &self.table);
        let rows: Vec<Row> = question.rows.iter().filter_map(same).collect();
        if rows.is_empty() {
            self.over = Over::Nothing;
            self.say("what was to be removed is gone");
        } else {
            self.survey(way, rows, yes);
        }
    }

    pub(super) fn act_in_question(&mut self, action: Action) {
        let Over::Question(question) = &mut self.over else { return };
        match action {
            Action::Yes => self.remove(),
            Action::Accept if question.yes => self.remove(),
            Action::Accept | Action::Close => self.over = Over::Nothing,
            Action::OtherAnswer => question.yes = !question.yes,
            Action::Go(motion) => question.cursor.go(motion, question.rows.len()),
            _ => {}
        }
    }

    fn remove(&mut self) {
        let Over::Question(Question { way, rows, summary: Some(summary), .. }) = &self.over else {
            // Nobody agrees to what is not known yet.
            return;
        };
        let (way, rows) = (*way, rows.clone());
        let of = match way {
            Way::Delete => summary.files + summary.directories + summary.others,
            Way::Trash => self.table.outermost(rows.iter().copied()).len() as u64,
        };
        let (counts, path) = (Counts::default(), String::new());
        self.over = Over::Work(Work { way, counts, of, path, stops: false });
        let table = Arc::clone(&self.table);
        self.wish(Wish::Remove { table, way, rows });
    }

    pub(super) fn act_in_work(&mut self, action: Action) {
        if let (Over::Work(work), Action::Close) = (&mut self.over, action) {
            work.stops = true;
            self.wish(Wish::StopRemoving);
        }
    }

    /// Takes how far it is.
    pub(super) fn removing(&mut self, counts: Counts, last: String) {
        if let Over::Work(work) = &mut self.over {
            (work.counts, work.path) = (counts, last);
        }
    }

    /// Takes what became of it. What is gone is left out from here on; what it came to in all
    /// directories above is read again.
    pub(super) fn removed(&mut self, table: &Arc<Table>, report: &Report) {
        let Over::Work(Work { way, .. }) = self.over else { return };
        let same = |row| match Arc::ptr_eq(table, &self.table) {
            true => Some(row),
            false => tree::same(table, row, &self.table),
        };
        let gone: Vec<Row> = report.gone.iter().copied().filter_map(same).collect();
        self.gone.extend(gone);
        self.marks.retain(|&row| !is_gone(&self.table, &self.gone, row));
        self.leave_what_is_gone();
        self.over = Over::Nothing;

        let title = in_words(way, report);
        if report.kept.is_empty() {
            self.say(title);
        } else {
            let lines = report.kept.iter();
            let lines = lines.map(|kept| quote::for_terminal(kept.to_string().as_ref())).collect();
            self.over = Over::Kept(Kept { title, lines, cursor: Cursor::default() });
        }
        self.wish_to_read();
    }

    /// Nothing could be removed at all.
    pub(super) fn not_removed(&mut self, why: String) {
        if let Over::Work(_) = self.over {
            self.over = Over::Nothing;
        }
        self.complain(why);
    }

    fn leave_what_is_gone(&mut self) {
        let mut at = self.at;
        while let Some(row) = at.filter(|&row| is_gone(&self.table, &self.gone, row)) {
            at = self.table.parent(row);
        }
        let index = self.listing.index();
        let stays = at == self.at;
        self.show(at, None);
        if stays {
            // Whoever goes through a list goes on where it was.
            self.listing.select_at(index);
        }
    }
}

/// Returns whether an entry is gone, itself or with a directory that holds it.
fn is_gone(table: &Table, gone: &HashSet<Row>, row: Row) -> bool {
    std::iter::successors(Some(row), |&row| table.parent(row)).any(|row| gone.contains(&row))
}

/// Returns what became of it, in a line.
fn in_words(way: Way, report: &Report) -> String {
    let Counts { removed, vanished, kept, freed } = report.counts;
    let entries = counted(removed, "entry", "entries");
    let mut words = match way {
        Way::Delete => format!("{entries} deleted, {} freed", bytes(freed)),
        Way::Trash => format!("{entries} moved to the trash"),
    };
    if kept > 0 {
        words = format!("{} kept; {words}", counted(kept, "entry", "entries"));
    }
    if vanished > 0 {
        words.push_str(&format!("; {} had gone before", counted(vanished, "entry", "entries")));
    }
    if report.cancelled {
        words = format!("stopped: {words}");
    }
    words
}

impl Kept {
    pub(super) fn go(&mut self, motion: Motion) {
        self.cursor.go(motion, self.lines.len());
    }
}
