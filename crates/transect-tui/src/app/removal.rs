//! Removing: what was chosen is asked about, removed, and read again from the disk.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use transect::table::{Row, Table};
use transect_remove::{Counts, Report, Summary};

use super::{App, Overlay, ReadState};
use crate::cursor::{Cursor, Motion};
use crate::keys::Action;
use crate::message::{Effect, Job, RemovalKind, RequestId};
use crate::tree;
use transect_text::quote;
use transect_text::units::{bytes, counted};

/// Whether something is to be removed.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) kind: RemovalKind,
    pub(crate) rows: Vec<Row>,
    /// What it comes to; nothing as long as that is added up.
    pub(crate) summary: Option<Summary>,
    /// What Enter messages: no, unless somebody chose otherwise.
    pub(crate) yes: bool,
    /// In the list of what is chosen.
    pub(crate) cursor: Cursor,
    request: RequestId,
}

/// Something is being removed.
#[derive(Debug)]
pub(crate) struct RemovalProgress {
    pub(crate) kind: RemovalKind,
    pub(crate) counts: Counts,
    /// How many there are to remove: entries, or things to move.
    pub(crate) total: u64,
    /// The last one.
    pub(crate) path: String,
    pub(crate) is_stopping: bool,
}

/// What was to be removed and is still there.
#[derive(Debug)]
pub(crate) struct KeptEntries {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Cursor,
}

impl App {
    /// Asks whether what is chosen is to be removed.
    pub(super) fn confirm_removal(&mut self, kind: RemovalKind) {
        if self.read_only {
            return self.note("nothing is removed: --read-only");
        }
        if self.read_state == ReadState::First {
            return self.note("nothing is removed before everything has been read");
        }
        let rows = self.targets();
        if !rows.is_empty() {
            self.request_summary(kind, rows, false);
        }
    }

    fn request_summary(&mut self, kind: RemovalKind, rows: Vec<Row>, yes: bool) {
        let request = self.next_request();
        self.request(Job::Summarize { request, rows: rows.clone() });
        let cursor = Cursor::default();
        self.overlay =
            Overlay::Confirmation(Confirmation { kind, rows, summary: None, yes, cursor, request });
    }

    /// Takes what removing would come to.
    pub(super) fn set_summary(&mut self, wanted: RequestId, surveyed: Result<Summary, String>) {
        match (&mut self.overlay, surveyed) {
            (Overlay::Confirmation(confirmation), _) if confirmation.request != wanted => {}
            (Overlay::Confirmation(confirmation), Ok(summary)) => {
                confirmation.summary = Some(summary)
            }
            (Overlay::Confirmation(_), Err(why)) => {
                self.overlay = Overlay::None;
                self.error(why);
            }
            _ => {}
        }
    }

    /// Asks again, of another table: sizes may have changed, and some of it may be gone.
    pub(super) fn refresh_confirmation(&mut self, old: &Table) {
        let Overlay::Confirmation(confirmation) = &self.overlay else { return };
        let (kind, yes) = (confirmation.kind, confirmation.yes);
        let same = |&row: &Row| tree::same_path(old, row, &self.table);
        let rows: Vec<Row> = confirmation.rows.iter().filter_map(same).collect();
        if rows.is_empty() {
            self.overlay = Overlay::None;
            self.note("what was to be removed is gone");
        } else {
            self.request_summary(kind, rows, yes);
        }
    }

    pub(super) fn act_in_confirmation(&mut self, action: Action) {
        let Overlay::Confirmation(confirmation) = &mut self.overlay else { return };
        match action {
            Action::Yes => self.remove(),
            Action::Accept if confirmation.yes => self.remove(),
            Action::Accept | Action::Close => self.overlay = Overlay::None,
            Action::ToggleAnswer => confirmation.yes = !confirmation.yes,
            Action::Move(motion) => confirmation.cursor.move_by(motion, confirmation.rows.len()),
            _ => {}
        }
    }

    fn remove(&mut self) {
        let Overlay::Confirmation(Confirmation { kind, rows, summary: Some(summary), .. }) =
            &self.overlay
        else {
            // Nobody agrees to what is not known yet.
            return;
        };
        let (kind, rows) = (*kind, rows.clone());
        let total = match kind {
            RemovalKind::Delete => summary.files + summary.directories + summary.others,
            RemovalKind::Trash => self.table.outermost(rows.iter().copied()).len() as u64,
        };
        let (counts, path) = (Counts::default(), String::new());
        self.overlay = Overlay::RemovalProgress(RemovalProgress {
            kind,
            counts,
            total,
            path,
            is_stopping: false,
        });
        let table = Arc::clone(&self.table);
        self.push_effect(Effect::Remove { table, kind, rows });
    }

    pub(super) fn act_in_removal(&mut self, action: Action) {
        if let (Overlay::RemovalProgress(progress), Action::Close) = (&mut self.overlay, action) {
            progress.is_stopping = true;
            self.push_effect(Effect::StopRemoval);
        }
    }

    /// Takes how far it is.
    pub(super) fn set_removal_progress(&mut self, counts: Counts, last: String) {
        if let Overlay::RemovalProgress(progress) = &mut self.overlay {
            (progress.counts, progress.path) = (counts, last);
        }
    }

    /// Takes what became of it. What is gone is left out from here on; what it came to in all
    /// directories above is read again.
    pub(super) fn finish_removal(&mut self, table: &Arc<Table>, report: &Report) {
        let Overlay::RemovalProgress(RemovalProgress { kind, .. }) = self.overlay else { return };
        let same = |row| match Arc::ptr_eq(table, &self.table) {
            true => Some(row),
            false => tree::same_path(table, row, &self.table),
        };
        let gone: Vec<Row> = report.gone.iter().copied().filter_map(same).collect();
        self.removed_rows.extend(gone);
        self.marks.retain(|&row| !is_removed(&self.table, &self.removed_rows, row));
        self.leave_removed_directory();
        self.overlay = Overlay::None;

        let title = outcome_text(kind, report);
        if report.kept.is_empty() {
            self.note(title);
        } else {
            let lines = report.kept.iter();
            let lines = lines.map(|kept| quote::for_terminal(kept.to_string().as_ref())).collect();
            self.overlay =
                Overlay::KeptEntries(KeptEntries { title, lines, cursor: Cursor::default() });
        }
        self.request_rescan();
    }

    /// Nothing could be removed at all.
    pub(super) fn fail_removal(&mut self, why: String) {
        if let Overlay::RemovalProgress(_) = self.overlay {
            self.overlay = Overlay::None;
        }
        self.error(why);
    }

    fn leave_removed_directory(&mut self) {
        let mut at = self.directory;
        while let Some(row) = at.filter(|&row| is_removed(&self.table, &self.removed_rows, row)) {
            at = self.table.parent(row);
        }
        let index = self.listing.index();
        let stays = at == self.directory;
        self.show(at, None);
        if stays {
            // Whoever goes through a list goes on where it was.
            self.listing.select_at(index);
        }
    }
}

/// Returns whether an entry is gone, itself or with a directory that holds it.
fn is_removed(table: &Table, gone: &HashSet<Row>, row: Row) -> bool {
    std::iter::successors(Some(row), |&row| table.parent(row)).any(|row| gone.contains(&row))
}

/// Returns what became of it, in a line.
fn outcome_text(kind: RemovalKind, report: &Report) -> String {
    let Counts { removed, vanished, kept, freed } = report.counts;
    let entries = counted(removed, "entry", "entries");
    let mut words = match kind {
        RemovalKind::Delete => format!("{entries} deleted, {} freed", bytes(freed)),
        RemovalKind::Trash => format!("{entries} moved to the trash"),
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

impl KeptEntries {
    pub(super) fn move_by(&mut self, motion: Motion) {
        self.cursor.move_by(motion, self.lines.len());
    }
}
