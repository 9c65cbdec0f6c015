//! A walk on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use transect::table::{PartialTable, Row, Table, TableBuilder};
use transect::{Cancel, Error, FieldMask, Progress, ScanOptions, ScanPlan};
use transect_remove::Removal;
use transect_sys::DiskSpace;

use crate::background::Worker;
use crate::followed::FollowedTree;
use crate::message::Message;

/// The fields that are displayed, beside name, type and both sizes.
pub const DISPLAY_FIELDS: FieldMask = FieldMask::MTIME.union(FieldMask::UID);
/// The fields that are read: also those that identify an entry, to be compared before it is removed.
pub const FIELDS: FieldMask = DISPLAY_FIELDS.union(Removal::COLUMNS).union(FieldMask::FILE_ID);

pub(crate) struct WalkResult {
    pub(crate) table: Arc<Table>,
    pub(crate) interrupted: bool,
    pub(crate) elapsed: Duration,
    /// The file system of the only root.
    pub(crate) disk: Option<DiskSpace>,
    /// The table is from the service that follows the tree.
    pub(crate) is_followed: bool,
}

pub(crate) struct WalkThread {
    pub(crate) progress: Arc<Progress>,
    started: Instant,
    /// When it is stopped, its result is partial. An error means that the walk could not start or continue.
    pub(crate) worker: Worker<Result<WalkResult, Error>>,
}

impl WalkThread {
    /// Starts to read the tree that `options` describe into a table. If `partial_tables` is
    /// given, it receives the directories found so far from time to time.
    ///
    /// # Errors
    /// The options are invalid.
    pub(crate) fn start(
        options: &ScanOptions,
        partial_tables: Option<Sender<Message>>,
    ) -> Result<Self, Error> {
        let roots = options.roots.clone();
        let read = move |plan: &ScanPlan| read(plan, &roots, partial_tables);
        Self::with(options.clone(), read)
    }

    /// Starts to read a tree that a service follows, which is walked if that fails.
    ///
    /// # Errors
    /// The options are invalid.
    pub(crate) fn start_followed(
        options: &ScanOptions,
        tree: Arc<dyn FollowedTree>,
    ) -> Result<Self, Error> {
        let (roots, started) = (options.roots.clone(), Instant::now());
        Self::with(options.clone(), move |plan| match tree.read() {
            Some(table) => Ok(WalkResult {
                table: Arc::new(table),
                interrupted: false,
                elapsed: started.elapsed(),
                disk: transect::internal::disk_space_of(&roots),
                is_followed: true,
            }),
            None => read(plan, &roots, None),
        })
    }

    /// Starts to read one directory of a table again, with the same options. The result is the table
    /// with the new content of the directory; the old table if it was stopped.
    ///
    /// # Errors
    /// The options are invalid.
    pub(crate) fn start_directory(
        options: &ScanOptions,
        table: Arc<Table>,
        directory: Row,
    ) -> Result<Self, Error> {
        let roots = options.roots.clone();
        let path = table.path(directory);
        let mut options = options.clone();
        options.roots = vec![path.clone()];
        options.filters.read_roots = true;
        Self::with(options, move |plan| {
            let again = read(plan, &roots, None)?;
            // A directory that is still there, but cannot be read, stays as it was.
            let is_unknown = again.table.is_empty() && path.symlink_metadata().is_ok();
            let table = match again.interrupted || is_unknown {
                true => table,
                false => Arc::new(table.with_directory(directory, &again.table)?),
            };
            Ok(WalkResult { table, ..again })
        })
    }

    fn with(
        options: ScanOptions,
        read: impl FnOnce(&ScanPlan) -> Result<WalkResult, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let (cancel, progress) = (Cancel::new(), Arc::new(Progress::new()));
        let options = options.cancel(cancel.clone()).progress(Arc::clone(&progress));
        let plan = options.plan()?;
        let worker = Worker::start(cancel, move || read(&plan));
        Ok(Self { progress, started: Instant::now(), worker })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

fn read(
    plan: &ScanPlan,
    roots: &[PathBuf],
    partial_tables: Option<Sender<Message>>,
) -> Result<WalkResult, Error> {
    let partial_table = PartialTable::new();
    let mut builder = TableBuilder::new(FIELDS);
    if partial_tables.is_some() {
        builder = builder.partial_table(&partial_table);
    }
    let (end, ended) = channel::<()>();
    let publisher = partial_tables.map(|partial_tables| {
        std::thread::spawn(move || publish_partial_tables(&partial_table, &partial_tables, &ended))
    });
    let outcome = plan.run(|| builder.sink());
    let read = outcome.and_then(|outcome| {
        let (sink, outcome) = outcome.split();
        let table = Arc::new(sink.into_table()?);
        Ok(WalkResult {
            table,
            interrupted: outcome.interrupted,
            elapsed: outcome.elapsed,
            disk: transect::internal::disk_space_of(roots),
            is_followed: false,
        })
    });
    drop(end);
    if let Some(publisher) = publisher {
        // All partial tables are sent before the complete one.
        publisher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    read
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The pause after a partial table grows with the time it took to build.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Sends partial tables until the walk has ended.
fn publish_partial_tables(
    partial_table: &PartialTable,
    partial_tables: &Sender<Message>,
    ended: &Receiver<()>,
) {
    let mut pause = FIRST_PAUSE;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let started = Instant::now();
        // The table is full, which also ends the walk with an error.
        let Ok(table) = partial_table.table() else { return };
        if partial_tables.send(Message::PartialTable(Arc::new(table))).is_err() {
            return;
        }
        pause = (started.elapsed() * 4).clamp(MIN_PAUSE, MAX_PAUSE);
    }
}
