//! Replacing the table. Directory, selection and marks are found again by their paths.

use std::sync::Arc;

use transect::table::Table;

use super::{App, Overlay, ReadState};
use crate::message::Query;
use crate::tree;

impl App {
    /// Replaces the table by another one of the same tree.
    pub(super) fn replace(&mut self, table: Arc<Table>, read_state: ReadState) {
        let old = std::mem::replace(&mut self.table, table);
        let same = |row| tree::same_path(&old, row, &self.table);
        let index = self.listing.index();
        let pinned = self.listing.pinned();
        let (was_pinned, selected) = (pinned.is_some(), pinned.and_then(same));
        self.marks = tree::same_paths(&old, self.marks.iter(), &self.table);
        self.pruning = None;
        // A partial table had only some of the results.
        let is_first = self.read_state == ReadState::First && read_state == ReadState::Done;
        let pending_search = match &mut self.overlay {
            Overlay::SearchResults(found) if found.total.is_none() || is_first => {
                Some(found.query.clone())
            }
            Overlay::SearchResults(found) => {
                found.rows = found.rows.iter().copied().filter_map(same).collect();
                None
            }
            _ => None,
        };
        let at = self.directory.and_then(|at| tree::nearest_directory(&old, at, &self.table));
        self.preview = None;
        self.removed_rows.clear();
        self.read_state = read_state;
        self.show(at.or_else(|| tree::start_directory(&self.table)), selected);
        self.refresh_confirmation(&old);
        self.replace_duplicates(&old);
        // The pending results will belong to the old table.
        match pending_search {
            Some(Query::FilesBelow(_)) => self.find(Query::FilesBelow(self.directory)),
            Some(named) => self.find(named),
            None => {}
        }
        if was_pinned && selected.is_none() {
            // The selected entry is gone: the selection stays at the same line.
            self.listing.select_at(index);
        }
    }
}
