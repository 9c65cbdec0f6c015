//! The entries of one directory, in an order.

use std::ops::Range;

use transect::table::Row;

use crate::cursor::{Cursor, Motion};
use crate::message::RequestId;
use crate::sort::SortedEntries;

/// What is listed, and which of it is selected.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// With the largest amount, which has the longest bar, and what all come to.
    entries: SortedEntries,
    cursor: Cursor,
    /// Somebody has chosen the entry: it stays selected wherever it moves. Else the first is.
    pinned: bool,
    /// The entries are being sorted elsewhere, and lie in the order of their names until then.
    awaited: Option<RequestId>,
}

impl Listing {
    /// Lists entries in their order.
    pub(crate) fn new(entries: SortedEntries) -> Self {
        Self { entries, ..Self::default() }
    }

    /// Lists entries that come in the order of their names, until their own is known.
    pub(crate) fn unsorted(rows: Vec<Row>, request: RequestId) -> Self {
        let entries = SortedEntries { rows, ..SortedEntries::default() };
        Self { entries, awaited: Some(request), ..Self::default() }
    }

    pub(crate) fn awaits(&self, request: RequestId) -> bool {
        self.awaited == Some(request)
    }

    pub(crate) fn is_sorted(&self) -> bool {
        self.awaited.is_none()
    }

    /// Takes the entries in their order.
    pub(crate) fn set_sorted(&mut self, entries: SortedEntries) {
        let selected = self.selected().filter(|_| self.pinned);
        (self.entries, self.awaited) = (entries, None);
        match selected {
            Some(row) => self.select(row),
            None => self.cursor.set(0),
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.entries.rows
    }

    /// Returns the largest amount; nothing as long as that is being found out.
    pub(crate) fn max_amount(&self) -> u64 {
        self.entries.max_amount
    }

    /// Returns what all come to.
    pub(crate) fn total(&self) -> u64 {
        self.entries.total
    }

    pub(crate) fn index(&self) -> usize {
        self.cursor.index()
    }

    pub(crate) fn selected(&self) -> Option<Row> {
        self.entries.rows.get(self.cursor.index()).copied()
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.pinned
    }

    pub(crate) fn move_by(&mut self, motion: Motion) {
        self.cursor.move_by(motion, self.entries.rows.len());
        self.pinned = motion != Motion::First;
    }

    /// Selects an entry, if it is listed.
    pub(crate) fn select(&mut self, row: Row) {
        if let Some(at) = self.entries.rows.iter().position(|&listed| listed == row) {
            self.select_at(at);
        }
    }

    pub(crate) fn select_at(&mut self, at: usize) {
        self.cursor.set(at.min(self.entries.rows.len().saturating_sub(1)));
        self.pinned = true;
    }

    /// Returns what can be seen where there is room for `height`.
    pub(crate) fn window(&mut self, height: usize) -> Range<usize> {
        self.cursor.window(self.entries.rows.len(), height)
    }
}
