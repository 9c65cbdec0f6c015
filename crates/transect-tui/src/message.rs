//! Effects that the state requests, and the messages that report their results.

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{Row, Table};
use transect_remove::{Counts, Report, Summary};

use crate::sort::{Measure, SortOrder, SortedEntries};

/// The maximum number of search results and of largest files.
pub(crate) const MAX_LISTED: usize = 1000;

/// What has to be done outside. Rows come with their table: there may be another one by the time that
/// somebody gets to it.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Reads everything again, but for roots that were removed.
    Rescan {
        without: Vec<PathBuf>,
    },
    /// Finds something out of a table.
    RunJob(Arc<Table>, Job),
    Open(PathBuf),
    Shell(PathBuf),
    Remove {
        table: Arc<Table>,
        kind: RemovalKind,
        rows: Vec<Row>,
    },
    StopRemoval,
    Redraw,
    Suspend,
    Quit,
}

/// What came of a [`Effect`].
#[derive(Debug)]
pub(crate) enum Message {
    /// What is known while the tree is read for the first time: directories only.
    PartialTable(Arc<Table>),
    /// All that is there.
    Table(Arc<Table>),
    Sorted {
        request: RequestId,
        entries: SortedEntries,
    },
    Found {
        request: RequestId,
        rows: Vec<Row>,
        total: u64,
    },
    Largest {
        request: RequestId,
        rows: Vec<Row>,
    },
    Summarized {
        request: RequestId,
        summary: Result<Summary, String>,
    },
    /// How far a removal is, and the last entry of it.
    RemovalProgress {
        counts: Counts,
        last: String,
    },
    /// What became of rows of a table that were to be removed.
    Removed {
        table: Arc<Table>,
        report: Report,
    },
    /// Nothing could be removed, and why.
    RemovalFailed(String),
    /// Something could not be done.
    Error(String),
}

/// Tells the message that is waited for from those that came too late: rows mean something in one
/// table only, and nobody wants the order before the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestId(u64);

impl RequestId {
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Something to find out of a table.
#[derive(Debug)]
pub(crate) enum Job {
    Sort {
        request: RequestId,
        rows: Vec<Row>,
        order: SortOrder,
    },
    Find {
        request: RequestId,
        text: String,
        measure: Measure,
    },
    Largest {
        request: RequestId,
        below: Option<Row>,
    },
    /// What removing rows would come to.
    Summarize {
        request: RequestId,
        rows: Vec<Row>,
    },
}

/// How something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemovalKind {
    Delete,
    Trash,
}
