//! Results of a search in the whole tree.

use transect::table::Row;

use crate::cursor::Cursor;
use crate::message::{Query, RequestId};

/// The entries found, the largest first.
#[derive(Debug)]
pub(crate) struct SearchResults {
    pub(crate) query: Query,
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    /// The number of matches, of which only the largest are listed; `None` while searching.
    pub(crate) total: Option<u64>,
    pub(crate) cursor: Cursor,
    request: RequestId,
}

impl SearchResults {
    pub(super) fn new(query: Query, title: String, request: RequestId) -> Self {
        Self { query, title, rows: Vec::new(), total: None, cursor: Cursor::default(), request }
    }

    pub(super) fn take(&mut self, request: RequestId, rows: Vec<Row>, total: u64) {
        if request == self.request {
            (self.rows, self.total) = (rows, Some(total));
        }
    }

    /// Converts the rows to another table.
    pub(super) fn replace(&mut self, same: impl Fn(Row) -> Option<Row>) {
        self.rows = self.rows.iter().copied().filter_map(same).collect();
    }

    pub(super) fn selected(&self) -> Option<Row> {
        self.rows.get(self.cursor.index()).copied()
    }
}
