//! Threads for what takes too long between two keys: one for jobs (sorting, searching, adding up), and one for
//! each longer work.

use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use transect::table::{Row, Table, TableBuilder, TableImporter};
use transect::{Cancel, FieldMask, FileType, ScanOptions};
use transect_duplicates::{FindOptions, find as find_duplicates};
use transect_remove::{Counts, Removal, Trash, TrashedEntry};

use crate::message::{Job, MAX_LISTED, MAX_PREVIEWED, Message, Query, RequestId};
use crate::pattern::Pattern;
use crate::tree;
use transect_text::measure::Measure;
use transect_text::quote;

/// Work on a thread of its own.
pub(crate) struct Worker<T> {
    cancel: Cancel,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts work that `cancel` stops.
    pub(crate) fn start(cancel: Cancel, work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self { cancel, thread: std::thread::spawn(work) }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for the result.
    ///
    /// # Panics
    /// If the work panicked.
    pub(crate) fn join(self) -> T {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

pub(crate) fn search_duplicates(
    request: RequestId,
    table: Arc<Table>,
    options: FindOptions,
    messages: Sender<Message>,
) -> Worker<()> {
    Worker::start(options.cancel.clone(), move || {
        let found = find_duplicates(&table, &options);
        // A failed send means that the view has closed.
        let _ = messages.send(Message::Duplicates { request, table, found });
    })
}

/// Starts to remove entries of a table: puts them into a trash, or deletes them if that is `None`.
pub(crate) fn start_removal(
    table: Arc<Table>,
    rows: Vec<Row>,
    trash: Result<Option<Trash>, String>,
    messages: Sender<Message>,
) -> Worker<()> {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    Worker::start(cancel, move || {
        let remove = |trash: Option<Trash>| {
            let removal = Removal::new(&table, rows).map_err(|refused| refused.to_string())?;
            Ok(removal.run(trash.as_ref(), &stop, &mut show(&table, &messages)))
        };
        let message = match trash.and_then(remove) {
            Ok(report) => {
                let trashes = report.trashed.iter().map(|entry| entry.trash.clone());
                let changed = tree::spelled(&table, trashes);
                Message::Removed { table, report, changed }
            }
            Err(why) => Message::RemovalFailed(why),
        };
        // A failed send means that the view has closed.
        let _ = messages.send(message);
    })
}

/// Starts to delete entries of the trash.
pub(crate) fn start_emptying(
    trash: Arc<Table>,
    rows: Vec<Row>,
    shown: Arc<Table>,
    messages: Sender<Message>,
) -> Worker<()> {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    Worker::start(cancel, move || {
        let removal = Removal::new(&trash, rows);
        let report =
            removal.map(|removal| removal.empty_trash(&stop, &mut show(&trash, &messages)));
        let message = match report {
            Ok(report) => {
                let parents =
                    trash.roots().filter_map(|root| Some(trash.path(root).parent()?.into()));
                let changed = tree::spelled(&shown, parents);
                Message::Removed { table: trash, report, changed }
            }
            Err(refused) => Message::RemovalFailed(refused.to_string()),
        };
        // A failed send means that the view has closed.
        let _ = messages.send(message);
    })
}

/// Returns what shows the progress of a removal.
fn show<'a>(table: &'a Table, messages: &'a Sender<Message>) -> impl FnMut(&Counts, Row) + 'a {
    |counts, row| {
        let last = quote::for_terminal(table.path(row).as_os_str());
        let _ = messages.send(Message::RemovalProgress { counts: *counts, last });
    }
}

/// Starts to read what is in a trash: the table's roots are the directories with its entries.
pub(crate) fn start_reading_trash(
    trash: Result<Trash, String>,
    near: PathBuf,
    messages: Sender<Message>,
) -> Worker<()> {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    Worker::start(cancel, move || {
        let read = |trash: Trash| match trash.contents(&near) {
            contents if contents.is_empty() => Ok(empty_table()),
            contents => {
                let builder = TableBuilder::new(Removal::COLUMNS | FieldMask::FILE_ID);
                let plan = ScanOptions::new(contents).cancel(stop).plan();
                let table = plan.and_then(|plan| plan.run(|| builder.sink()));
                let table = table.and_then(|outcome| outcome.sink.into_table());
                table.map(Arc::new).map_err(|error| error.to_string())
            }
        };
        // A failed send means that the view has closed.
        let _ = messages.send(Message::TrashRead(trash.and_then(read)));
    })
}

/// Starts to move entries of the trash back.
pub(crate) fn start_restoring(
    entries: Vec<TrashedEntry>,
    shown: Arc<Table>,
    messages: Sender<Message>,
) -> Worker<()> {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    Worker::start(cancel, move || {
        let (mut restored, mut kept) = (Vec::new(), Vec::new());
        for entry in entries {
            let outcome = match stop.is_cancelled() {
                true => Err("stopped".to_owned()),
                false => entry.restore().map_err(|error| transect::reason(&error)),
            };
            match outcome {
                Ok(()) => restored.push(entry),
                Err(why) => kept.push((entry, why)),
            }
        }
        let parents = restored.iter().filter_map(|entry| Some(entry.original.parent()?.into()));
        let trashes = restored.iter().map(|entry| entry.trash.clone());
        let changed = tree::spelled(&shown, parents.chain(trashes));
        let restored = restored.len() as u64;
        // A failed send means that the view has closed.
        let _ = messages.send(Message::Restored { restored, kept, changed });
    })
}

/// Returns a table without entries.
pub(crate) fn empty_table() -> Arc<Table> {
    let table = TableImporter::new(FieldMask::empty()).finish();
    Arc::new(table.expect("BUG: a table can hold nothing"))
}

impl Job {
    pub(crate) fn run(self, request: RequestId, table: &Table) -> Message {
        match self {
            Self::Sort { rows, order, before } => {
                Message::Sorted { request, entries: order.sort(table, before.as_ref(), rows) }
            }
            Self::Find { query, measure } => find(table, request, query, measure),
            Self::Preview { directory, measure } => {
                let (entries, files) = preview(table, directory, measure);
                Message::Previewed { request, entries, files }
            }
            Self::Prune { removed, names } => {
                let table = table.without(&removed, names).ok().map(Arc::new);
                Message::Pruned { request, table }
            }
            Self::Summarize { rows } => {
                let removal = Removal::new(table, rows).map_err(|refused| refused.to_string());
                Message::Summarized { request, summary: removal.map(|removal| removal.summary()) }
            }
        }
    }
}

/// Finds the largest entries. A file with several names counts under the name that it is charged to.
fn find(table: &Table, request: RequestId, query: Query, measure: Measure) -> Message {
    let matching: Box<dyn Iterator<Item = Row>> = match query {
        Query::Named(text) => {
            let pattern = Pattern::new(&text);
            Box::new(table.iter().filter(move |&row| pattern.matches(table.name(row))))
        }
        Query::FilesBelow(directory) => {
            let below = tree::entries(table, directory).into_iter();
            Box::new(below.flat_map(|row| files(table, row)))
        }
    };
    let mut total = 0;
    let counted = matching.inspect(|_| total += 1);
    // Adds one, so that empty entries are listed as well.
    let rows = table
        .largest(counted, MAX_LISTED, |row| measure.size(&table.totals(row)).saturating_add(1));
    Message::Found { request, rows, total }
}

/// Returns the files at and below an entry.
fn files(table: &Table, row: Row) -> impl Iterator<Item = Row> {
    table.subtree(row).filter(move |&row| table.file_type(row) == FileType::File)
}

/// Returns the largest entries of a directory, and the largest files below it.
pub(crate) fn preview(table: &Table, directory: Row, measure: Measure) -> (Vec<Row>, Vec<Row>) {
    let size = |row| measure.size(&table.totals(row));
    let entries = table.largest(table.children(directory), MAX_PREVIEWED, size);
    (entries, table.largest(files(table, directory), MAX_PREVIEWED, size))
}

/// A thread that runs one job after another. It is not joined at exit.
pub(crate) struct JobThread {
    jobs: Sender<(Arc<Table>, RequestId, Job)>,
    thread: Option<JoinHandle<()>>,
}

impl JobThread {
    pub(crate) fn new(messages: Sender<Message>) -> Self {
        let (jobs, received) = channel();
        let thread = std::thread::spawn(move || run_jobs(&received, &messages));
        Self { jobs, thread: Some(thread) }
    }

    pub(crate) fn submit(&self, table: Arc<Table>, request: RequestId, job: Job) {
        // A failed send means that the thread has panicked; `resume_panic` reports it.
        let _ = self.jobs.send((table, request, job));
    }

    /// Continues a panic of the thread; otherwise the app would wait for its messages forever.
    pub(crate) fn resume_panic(&mut self) {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

fn run_jobs(received: &Receiver<(Arc<Table>, RequestId, Job)>, messages: &Sender<Message>) {
    while let Ok(first) = received.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(received.try_iter()).collect();
        let kinds: Vec<_> = waiting.iter().map(|(.., job)| discriminant(job)).collect();
        for (at, (table, request, job)) in waiting.into_iter().enumerate() {
            // A newer job of the same kind replaces this one.
            if kinds[at + 1..].contains(&discriminant(&job)) {
                continue;
            }
            let message = job.run(request, &table);
            drop(table);
            if messages.send(message).is_err() {
                return;
            }
        }
    }
}
