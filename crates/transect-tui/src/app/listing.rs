//! The entries of one directory, in an order.

use std::collections::HashSet;
use std::ops::Range;

use transect::table::{Row, Table};

use super::Ticket;
use crate::cursor::{Cursor, Motion};
use crate::order::Order;

/// What is listed, and which of it is selected.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    rows: Vec<Row>,
    cursor: Cursor,
    /// Somebody has chosen the entry: it stays selected wherever it moves. Else the first is.
    chosen: bool,
    /// The largest amount, which has the longest bar.
    most: u64,
    /// Amounts of all together.
    total: u64,
    /// The entries are being sorted elsewhere, and lie in the order of their names until then.
    awaited: Option<Ticket>,
}

impl Listing {
    /// Lists entries that come in their order.
    pub(crate) fn new(table: &Table, rows: Vec<Row>, order: Order) -> Self {
        let mut listing = Self { rows, ..Self::default() };
        listing.measure(table, order);
        listing
    }

    /// Lists entries that come in the order of their names, until their own is known.
    pub(crate) fn unsorted(rows: Vec<Row>, ticket: Ticket) -> Self {
        Self { rows, awaited: Some(ticket), ..Self::default() }
    }

    pub(crate) fn waits_for(&self, ticket: Ticket) -> bool {
        self.awaited == Some(ticket)
    }

    pub(crate) fn is_sorted(&self) -> bool {
        self.awaited.is_none()
    }

    /// Takes the entries in their order.
    pub(crate) fn sorted(&mut self, table: &Table, rows: Vec<Row>, order: Order) {
        let selected = self.selected().filter(|_| self.chosen);
        (self.rows, self.awaited) = (rows, None);
        self.measure(table, order);
        match selected {
            Some(row) => self.select(row),
            None => self.cursor.set(0),
        }
    }

    fn measure(&mut self, table: &Table, order: Order) {
        (self.most, self.total) = (0, 0);
        for &row in &self.rows {
            let amount = order.amount(&table.sums(row));
            self.most = self.most.max(amount);
            self.total = self.total.saturating_add(amount);
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the largest amount; nothing as long as that is being found out.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Returns what all come to.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn index(&self) -> usize {
        self.cursor.at()
    }

    pub(crate) fn selected(&self) -> Option<Row> {
        self.rows.get(self.cursor.at()).copied()
    }

    pub(crate) fn is_chosen(&self) -> bool {
        self.chosen
    }

    pub(crate) fn go(&mut self, motion: Motion) {
        self.cursor.go(motion, self.rows.len());
        self.chosen = motion != Motion::First;
    }

    /// Selects an entry, if it is listed.
    pub(crate) fn select(&mut self, row: Row) {
        if let Some(at) = self.rows.iter().position(|&listed| listed == row) {
            self.select_at(at);
        }
    }

    pub(crate) fn select_at(&mut self, at: usize) {
        self.cursor.set(at.min(self.rows.len().saturating_sub(1)));
        self.chosen = true;
    }

    /// Forgets what is gone.
    pub(crate) fn forget(&mut self, table: &Table, gone: &HashSet<Row>, order: Order) {
        self.rows.retain(|row| !gone.contains(row));
        self.select_at(self.cursor.at());
        self.measure(table, order);
    }

    /// Returns what can be seen where there is room for `height`.
    pub(crate) fn window(&mut self, height: usize) -> Range<usize> {
        self.cursor.window(self.rows.len(), height)
    }
}
