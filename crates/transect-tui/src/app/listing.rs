//! The entries of the current directory.

use std::ops::Range;

use transect::table::Row;

use crate::cursor::{Cursor, Motion};
use crate::message::RequestId;
use crate::sort::SortedEntries;

#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// With the largest amount, which has the longest bar, and the sum of all; both are 0 until they are sorted.
    pub(crate) entries: SortedEntries,
    cursor: Cursor,
    /// The user selected this entry: it stays selected when the order changes. Otherwise the first
    /// entry is selected.
    pinned: bool,
    /// The pending sort job; until it ends, entries are in the order of their names.
    awaited: Option<RequestId>,
}

impl Listing {
    pub(crate) fn new(entries: SortedEntries) -> Self {
        Self { entries, ..Self::default() }
    }

    /// Lists entries in the order of their names until they are sorted.
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

    pub(crate) fn set_sorted(&mut self, entries: SortedEntries) {
        let selected = self.pinned();
        (self.entries, self.awaited) = (entries, None);
        match selected {
            Some(row) => self.select(row),
            None => self.cursor.index = 0,
        }
    }

    pub(crate) fn index(&self) -> usize {
        self.cursor.index
    }

    pub(crate) fn selected(&self) -> Option<Row> {
        self.entries.rows.get(self.cursor.index).copied()
    }

    /// Returns the entry that the user selected.
    pub(crate) fn pinned(&self) -> Option<Row> {
        self.selected().filter(|_| self.pinned)
    }

    pub(crate) fn move_by(&mut self, motion: Motion) {
        self.cursor.move_by(motion, self.entries.rows.len());
        self.pinned = motion != Motion::First;
    }

    pub(crate) fn select(&mut self, row: Row) {
        if let Some(at) = self.entries.rows.iter().position(|&listed| listed == row) {
            self.select_at(at);
        }
    }

    pub(crate) fn select_at(&mut self, at: usize) {
        self.cursor.index = at.min(self.entries.rows.len().saturating_sub(1));
        self.pinned = true;
    }

    /// Returns the visible part of a list that is `height` lines high.
    pub(crate) fn window(&mut self, height: usize) -> Range<usize> {
        self.cursor.window(self.entries.rows.len(), height)
    }
}
