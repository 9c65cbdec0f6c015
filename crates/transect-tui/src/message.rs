//! Effects that the state requests, and the messages that report their results.

use std::path::PathBuf;
use std::sync::Arc;

use transect::Cancel;
use transect::table::{RemovedNames, Row, RowSet, Table};
use transect_duplicates::{Duplicates, Progress};
use transect_remove::{Counts, RemovalKind, Report, Summary};

use crate::sort::{Measure, SortOrder, SortedEntries};

pub(crate) const MAX_LISTED: usize = 1000;

pub(crate) const MAX_PREVIEWED: usize = 50;

/// A side effect that the state requests. Rows come with their table, because the state may have
/// another one by the time the effect is performed.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Reads everything again, except removed roots.
    Rescan {
        without: Vec<PathBuf>,
    },
    RescanDirectory {
        table: Arc<Table>,
        directory: Row,
    },
    RunJob(Arc<Table>, Job),
    Open(PathBuf),
    Shell(PathBuf),
    Remove {
        table: Arc<Table>,
        kind: RemovalKind,
        rows: Vec<Row>,
    },
    StopRemoval,
    FindDuplicates {
        request: RequestId,
        table: Arc<Table>,
        below: Row,
        cancel: Cancel,
        progress: Arc<Progress>,
    },
    Redraw,
    Suspend,
    Quit,
}

#[derive(Debug)]
pub(crate) enum Message {
    /// The directories found so far, while the tree is read for the first time.
    PartialTable(Arc<Table>),
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
    Previewed {
        request: RequestId,
        entries: Vec<Row>,
        files: Vec<Row>,
    },
    Summarized {
        request: RequestId,
        summary: Result<Summary, String>,
    },
    Duplicates {
        request: RequestId,
        table: Arc<Table>,
        found: Duplicates,
    },
    RemovalProgress {
        counts: Counts,
        last: String,
    },
    Removed {
        table: Arc<Table>,
        report: Report,
    },
    /// The table without removed entries; `None` if it must be read again.
    Pruned {
        request: RequestId,
        table: Option<Arc<Table>>,
    },
    /// Nothing could be removed; contains the reason.
    RemovalFailed(String),
    Error(String),
}

/// Identifies the latest request of its kind. Late responses are dropped: their rows may belong to
/// another table, or to an earlier order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestId(u64);

impl RequestId {
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What is searched for.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    /// Entries whose names contain this text, or match this glob.
    Named(String),
    /// Files below this directory; `None` is the list of roots.
    FilesBelow(Option<Row>),
}

#[derive(Debug)]
pub(crate) enum Job {
    Sort {
        request: RequestId,
        rows: Vec<Row>,
        order: SortOrder,
    },
    Find {
        request: RequestId,
        query: Query,
        measure: Measure,
    },
    Preview {
        request: RequestId,
        directory: Row,
        measure: Measure,
    },
    /// Makes a table without removed entries.
    Prune {
        request: RequestId,
        removed: RowSet,
        names: RemovedNames,
    },
    /// Adds up the space that removing rows would free.
    Summarize {
        request: RequestId,
        rows: Vec<Row>,
    },
}
