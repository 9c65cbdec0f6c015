//! Moving between directories.

use std::sync::Arc;

use transect::table::{Row, Table, UnreadReason};

use super::{App, Listing, Overlay, ReadState};
use crate::growth::TreeBefore;
use crate::message::Job;
use crate::sort::{SortKey, SortOrder};
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
        let order = self.shown_order();
        if rows.len() <= SORTED_AT_ONCE {
            self.listing = Listing::new(order.sort(&self.table, self.before(), rows));
            return;
        }
        let before = self.before().cloned();
        let request = self.request(Job::Sort { rows: rows.clone(), order, before });
        self.listing = Listing::unsorted(rows, request);
    }

    /// Returns the tree before, if all of the tree now is known as well.
    pub(crate) fn before(&self) -> Option<&TreeBefore> {
        self.before.as_ref().filter(|_| self.read_state != ReadState::First)
    }

    /// Returns the order of what is shown: by size as long as growth is not known.
    pub(crate) fn shown_order(&self) -> SortOrder {
        match (self.order.key, self.before()) {
            (SortKey::Growth, None) => SortOrder { key: SortKey::Size, ..self.order },
            _ => self.order,
        }
    }

    /// Returns how an entry grew, if that is to be shown and known.
    pub(crate) fn growth(&self, row: Row) -> Option<i128> {
        self.before()?.growth(&self.table, row, self.order.measure)
    }

    /// Receives the tree before.
    pub(super) fn set_before(&mut self, before: Result<Arc<Table>, String>) {
        match before {
            Ok(table) => {
                self.before = Some(TreeBefore(table));
                self.sort(self.order);
            }
            Err(why) => self.error(why),
        }
    }

    /// Returns whether the walk has not reached a directory yet.
    pub(crate) fn is_awaited(&self, row: Row) -> bool {
        self.read_state == ReadState::First
            && self.table.unread_reason(row) == Some(UnreadReason::Unvisited)
    }
}
