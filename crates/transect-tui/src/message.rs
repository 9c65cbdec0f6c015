//! Effects that the state requests, and the messages that report their results.

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{RemovedNames, Row, RowSet, Table};
use transect_duplicates::{Duplicates, FindOptions};
use transect_remove::{Counts, RemovalKind, Report, Summary, TrashedEntry};
use transect_text::measure::Measure;

use crate::growth::TreeBefore;
use crate::sort::{SortOrder, SortedEntries};

pub(crate) const MAX_LISTED: usize = 1000;

pub(crate) const MAX_PREVIEWED: usize = 50;

/// A side effect that the state requests. Rows come with their table, because the state may have
/// another one by the time the effect is performed.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Reads everything again, except removed roots.
    Rescan { without: Vec<PathBuf> },
    /// Reads a directory again.
    RescanDirectory { table: Arc<Table>, directory: Row },
    /// Runs a job, whose result is the response to the request.
    RunJob(Arc<Table>, RequestId, Job),
    /// Opens a file with its default program.
    Open(PathBuf),
    /// Starts a shell in a directory.
    Shell(PathBuf),
    /// Removes entries.
    Remove { table: Arc<Table>, kind: RemovalKind, rows: Vec<Row> },
    /// Reads the trash of the home and of the file system of a path.
    ReadTrash { near: PathBuf },
    /// Deletes entries of the trash for good; `shown` is the table of the view.
    EmptyTrash { trash: Arc<Table>, rows: Vec<Row>, shown: Arc<Table> },
    /// Moves entries from the trash back.
    Restore { entries: Vec<TrashedEntry>, shown: Arc<Table> },
    /// Stops the removal that is running.
    StopRemoval,
    /// Searches for files of the same content.
    FindDuplicates { request: RequestId, table: Arc<Table>, options: FindOptions },
    /// Draws the whole screen again.
    Redraw,
    /// Suspends the program.
    Suspend,
    /// Closes the view.
    Quit,
}

#[derive(Debug)]
pub(crate) enum Message {
    /// The directories found so far, while the tree is read for the first time.
    PartialTable(Arc<Table>),
    /// The whole tree.
    Table(Arc<Table>),
    /// The whole tree after a change, from the service that follows it.
    Followed(Arc<Table>),
    /// The tree is not followed any more.
    NotFollowed,
    /// The tree before, or why it cannot be read.
    Before(Result<Arc<Table>, String>),
    /// The entries of the directory.
    Sorted { request: RequestId, entries: SortedEntries },
    /// The largest entries that were found, and the number of all.
    Found { request: RequestId, rows: Vec<Row>, total: u64 },
    /// The largest entries of a directory, and the largest files below it.
    Previewed { request: RequestId, entries: Vec<Row>, files: Vec<Row> },
    /// What a removal would free, or why nothing can be removed.
    Summarized { request: RequestId, summary: Result<Summary, String> },
    /// The groups of files of the same content.
    Duplicates { request: RequestId, table: Arc<Table>, found: Duplicates },
    /// What was removed so far, and the last path.
    RemovalProgress { counts: Counts, last: String },
    /// The outcome of a removal, and the directories of the tree that have other entries now.
    Removed { table: Arc<Table>, report: Report, changed: Vec<PathBuf> },
    /// The entries of the trash, or why they are unknown.
    TrashRead(Result<Arc<Table>, String>),
    /// The outcome of moving entries back: the number of those that were, the others with the reasons, and the
    /// directories of the tree that have other entries now.
    Restored { restored: u64, kept: Vec<(TrashedEntry, String)>, changed: Vec<PathBuf> },
    /// The table without removed entries; `None` if it must be read again.
    Pruned { request: RequestId, table: Option<Arc<Table>> },
    /// Nothing could be removed; contains the reason.
    RemovalFailed(String),
    /// Something else failed.
    Error(String),
}

/// What happens to entries, as the user confirms and follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemovalTask {
    Remove(RemovalKind),
    /// Deletes what is in the trash.
    EmptyTrash,
    /// Moves what is in the trash back.
    Restore,
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
    /// Sorts the entries of a directory.
    Sort { rows: Vec<Row>, order: SortOrder, before: Option<TreeBefore> },
    /// Finds the largest entries.
    Find { query: Query, measure: Measure },
    /// Finds the largest entries of a directory, and the largest files below it.
    Preview { directory: Row, measure: Measure },
    /// Makes a table without removed entries.
    Prune { removed: RowSet, names: RemovedNames },
    /// Adds up the space that removing rows would free.
    Summarize { rows: Vec<Row> },
}
