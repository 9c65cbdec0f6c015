//! Removal: confirmation, progress, outcome.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{RemovedNames, Row, RowSet, Table};
use transect_remove::{Counts, RemovalKind, Report, Summary};

use super::{App, Overlay, ReadState};
use crate::cursor::Cursor;
use crate::keys::Action;
use crate::message::{Effect, Job, RemovalTask, RequestId};
use crate::tree;
use transect_text::quote;
use transect_text::units::{bytes, counted};

#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) task: RemovalTask,
    /// The table of the rows: that of the view, or that of the trash.
    pub(crate) table: Arc<Table>,
    pub(crate) rows: Vec<Row>,
    /// The space that the removal would free; `None` while it is being added up.
    pub(crate) summary: Option<Summary>,
    /// The answer that Enter gives: no, unless the user selects yes.
    pub(crate) yes: bool,
    pub(crate) cursor: Cursor,
    request: RequestId,
}

#[derive(Debug)]
pub(crate) struct RemovalProgress {
    pub(crate) task: RemovalTask,
    pub(crate) counts: Counts,
    /// The number of entries to delete, or of paths to move to the trash.
    pub(crate) total: u64,
    pub(crate) path: String,
    pub(crate) is_stopping: bool,
}

impl RemovalProgress {
    pub(super) fn new(task: RemovalTask, total: u64) -> Self {
        let (counts, path) = (Counts::default(), String::new());
        Self { task, counts, total, path, is_stopping: false }
    }
}

/// The entries that were not removed, with reasons.
#[derive(Debug)]
pub(crate) struct KeptEntries {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Cursor,
}

impl App {
    /// Opens the confirmation to remove the marked entries, or the selected one.
    pub(super) fn confirm_removal(&mut self, kind: RemovalKind) {
        if self.read_only {
            return self.note("cannot delete: --read-only");
        }
        if self.read_state == ReadState::First {
            return self.note("cannot delete before reading is done");
        }
        let rows = self.targets();
        if !rows.is_empty() {
            let table = Arc::clone(&self.table);
            self.request_summary(RemovalTask::Remove(kind), table, rows, false);
        }
    }

    pub(super) fn request_summary(
        &mut self,
        task: RemovalTask,
        table: Arc<Table>,
        rows: Vec<Row>,
        yes: bool,
    ) {
        let job = Job::Summarize { rows: rows.clone() };
        let request = self.request_on(Arc::clone(&table), job);
        let (summary, cursor) = (None, Cursor::default());
        self.overlay = Overlay::Confirmation(Confirmation {
            task,
            table,
            rows,
            summary,
            yes,
            cursor,
            request,
        });
    }

    pub(super) fn set_summary(&mut self, request: RequestId, summary: Result<Summary, String>) {
        match (&mut self.overlay, summary) {
            (Overlay::Confirmation(confirmation), _) if confirmation.request != request => {}
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

    /// Updates the confirmation for a new table, in which sizes may differ and entries may be gone.
    pub(super) fn refresh_confirmation(&mut self, old: &Arc<Table>) {
        let Overlay::Confirmation(confirmation) = &self.overlay else { return };
        if !Arc::ptr_eq(&confirmation.table, old) {
            return;
        }
        let (task, yes) = (confirmation.task, confirmation.yes);
        let same = |&row: &Row| tree::same_path(old, row, &self.table);
        let rows: Vec<Row> = confirmation.rows.iter().filter_map(same).collect();
        if rows.is_empty() {
            self.overlay = Overlay::None;
            self.note("entries to remove are gone");
        } else {
            self.request_summary(task, Arc::clone(&self.table), rows, yes);
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
        // Without the summary, `y` and Enter do nothing.
        if !matches!(&self.overlay, Overlay::Confirmation(Confirmation { summary: Some(_), .. })) {
            return;
        }
        let Overlay::Confirmation(Confirmation { task, table, rows, summary, .. }) =
            std::mem::replace(&mut self.overlay, Overlay::None)
        else {
            return;
        };
        let total = match task {
            RemovalTask::Remove(RemovalKind::Trash) => {
                table.outermost(rows.iter().copied()).len() as u64
            }
            _ => summary.map_or(0, |summary| summary.entries()),
        };
        self.overlay = Overlay::RemovalProgress(RemovalProgress::new(task, total));
        let shown = Arc::clone(&self.table);
        self.push_effect(match task {
            RemovalTask::Remove(kind) => Effect::Remove { table, kind, rows },
            _ => Effect::EmptyTrash { trash: table, rows, shown },
        });
    }

    pub(super) fn act_in_removal(&mut self, action: Action) {
        if let (Overlay::RemovalProgress(progress), Action::Close) = (&mut self.overlay, action) {
            progress.is_stopping = true;
            self.push_effect(Effect::StopRemoval);
        }
    }

    pub(super) fn set_removal_progress(&mut self, counts: Counts, last: String) {
        if let Overlay::RemovalProgress(progress) = &mut self.overlay {
            (progress.counts, progress.path) = (counts, last);
        }
    }

    /// Receives the outcome of the removal. Removed entries disappear at once; the sizes of the
    /// directories above them follow from the table, in the background, and then those of `changed` directories.
    /// If something was kept, the tree is not as it was scanned, and is read again.
    pub(super) fn finish_removal(
        &mut self,
        table: &Arc<Table>,
        report: Report,
        changed: Vec<PathBuf>,
    ) {
        let Overlay::RemovalProgress(RemovalProgress { task, .. }) = self.overlay else { return };
        let same = |row| match Arc::ptr_eq(table, &self.table) {
            true => Some(row),
            false => tree::same_path(table, row, &self.table),
        };
        let gone: Vec<Row> = report.gone.iter().copied().filter_map(same).collect();
        self.removed_rows.extend(gone);
        let (table, removed) = (Arc::clone(&self.table), &self.removed_rows);
        self.marks = self.marks.iter().filter(|&row| !is_removed(&table, removed, row)).collect();
        self.leave_removed_directory();
        self.overlay = Overlay::None;

        let title = outcome_text(task, &report);
        if report.kept.is_empty() {
            self.note(title);
        } else {
            let lines = report.kept.iter();
            let lines = lines.map(|kept| quote::for_terminal(kept.to_string().as_ref())).collect();
            self.overlay =
                Overlay::KeptEntries(KeptEntries { title, lines, cursor: Cursor::default() });
        }
        match (task, report.trashed.is_empty()) {
            (RemovalTask::EmptyTrash, _) => self.trash.removals.clear(),
            (_, false) => self.trash.removals.push(report.trashed),
            _ => {}
        }
        let is_root_gone = self.table.roots().any(|root| self.removed_rows.contains(root));
        if self.read_state != ReadState::Done || !report.kept.is_empty() || is_root_gone {
            return self.request_rescan();
        }
        self.trash.changed = changed;
        let names = match task {
            RemovalTask::Remove(kind) => kind.into(),
            RemovalTask::EmptyTrash | RemovalTask::Restore => RemovedNames::Deleted,
        };
        match self.removed_rows.is_empty() {
            true => self.read_changed(),
            false => {
                let removed = self.removed_rows.clone();
                self.pruning = Some(self.request(Job::Prune { removed, names }));
            }
        }
    }

    /// Receives the table without removed entries, unless another one has replaced it.
    pub(super) fn set_pruned(&mut self, request: RequestId, table: Option<Arc<Table>>) {
        if self.pruning != Some(request) || self.read_state != ReadState::Done {
            return;
        }
        match table {
            // What the last action reported stays.
            Some(table) => {
                self.replace(table, ReadState::Done);
                self.read_changed();
            }
            None => self.request_rescan(),
        }
    }

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
            // The selection stays at the same line.
            self.listing.select_at(index);
        }
    }
}

/// Returns whether an entry or one of its ancestors was removed.
fn is_removed(table: &Table, gone: &RowSet, row: Row) -> bool {
    table.ancestors(row).any(|row| gone.contains(row))
}

fn outcome_text(task: RemovalTask, report: &Report) -> String {
    let Counts { removed, vanished, kept, freed, .. } = report.counts;
    let entries = counted(removed, "entry", "entries");
    let mut words = match task {
        RemovalTask::Remove(RemovalKind::Trash) => format!("{entries} moved to the trash"),
        _ => format!("{entries} deleted, {} freed", bytes(freed)),
    };
    if kept > 0 {
        words = format!("{} kept; {words}", counted(kept, "entry", "entries"));
    }
    if vanished > 0 {
        words.push_str(&format!("; {} already gone", counted(vanished, "entry", "entries")));
    }
    if report.cancelled {
        words = format!("stopped: {words}");
    }
    if let Some(entry) = report.trashed.first() {
        let trash = quote::for_terminal(entry.trash.as_os_str());
        words.push_str(&format!(" (z undoes): {trash}"));
    }
    words
}
