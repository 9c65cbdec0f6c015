//! Moving between directories.

use transect::table::{Row, UnreadReason};

use super::{App, Listing, Overlay, ReadState};
use crate::message::Job;
use crate::sort::SortOrder;
use crate::tree;

/// Directories with more entries are sorted in the background; smaller ones take a few
/// milliseconds.
const SORTED_AT_ONCE: usize = 50_000;

impl App {
    pub(super) fn enter(&mut self) {
        let Some(row) = self.listing.selected() else { return };
        if !tree::is_directory(&self.table, row) {
            self.note("not a directory; o opens it");
            return;
        }
        self.show(Some(row), None);
        if let Some(why) = self.table.unread_reason(row).filter(|_| !self.is_awaited(row)) {
            self.note(format!("not read: {}", why.as_str().replace('_', " ")));
        }
    }

    /// Goes to the parent directory, and selects the directory it leaves.
    pub(super) fn leave(&mut self) {
        let Some(at) = self.directory else { return };
        if Some(at) == tree::start_directory(&self.table) {
            self.note("already at the root");
            return;
        }
        self.show(self.table.parent(at), Some(at));
    }

    /// Closes the overlay, shows the directory of an entry, and selects the entry.
    pub(super) fn jump(&mut self, row: Option<Row>) {
        self.overlay = Overlay::None;
        let Some(row) = row.filter(|row| !self.removed_rows.contains(*row)) else { return };
        if Some(row) == tree::start_directory(&self.table) {
            self.show(Some(row), None);
        } else {
            self.show(self.table.parent(row), Some(row));
        }
    }

    pub(super) fn show(&mut self, directory: Option<Row>, selected: Option<Row>) {
        self.directory = directory;
        self.list();
        if let Some(row) = selected {
            self.listing.select(row);
        }
    }

    /// Changes the sort order and keeps the selection.
    pub(super) fn sort(&mut self, order: SortOrder) {
        let selected = self.listing.pinned();
        self.order = order;
        self.show(self.directory, selected);
    }

    /// Lists the current directory from the start.
    pub(super) fn list(&mut self) {
        let mut rows = tree::entries(&self.table, self.directory);
        if !self.removed_rows.is_empty() {
            rows.retain(|&row| !self.removed_rows.contains(row));
        }
        if rows.len() <= SORTED_AT_ONCE {
            self.listing = Listing::new(self.order.sort(&self.table, rows));
            return;
        }
        let request = self.request(Job::Sort { rows: rows.clone(), order: self.order });
        self.listing = Listing::unsorted(rows, request);
    }

    /// Returns whether the walk has not reached a directory yet.
    pub(crate) fn is_awaited(&self, row: Row) -> bool {
        self.read_state == ReadState::First
            && self.table.unread_reason(row) == Some(UnreadReason::Unvisited)
    }
}
