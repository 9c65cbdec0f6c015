//! A thread for jobs that take too long between two keys: sorting, searching, adding up.

use std::mem::discriminant;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use transect::FileType;
use transect::table::{Row, Table};
use transect_remove::Removal;

use crate::message::{Job, MAX_LISTED, MAX_PREVIEWED, Message, RequestId};
use crate::pattern::Pattern;
use crate::sort::Measure;
use crate::tree;

impl Job {
    pub(crate) fn run(self, table: &Table) -> Message {
        match self {
            Self::Sort { request, rows, order } => {
                Message::Sorted { request, entries: order.sort(table, rows) }
            }
            Self::Find { request, text, measure } => find(table, request, &text, measure),
            Self::Largest { request, below } => {
                let rows = largest_files(table, below);
                Message::Largest { request, rows }
            }
            Self::Preview { request, directory, measure } => {
                let (entries, files) = preview(table, directory, measure);
                Message::Previewed { request, entries, files }
            }
            Self::Prune { request, removed, names } => {
                let table = table.without(&removed, names).ok().map(Arc::new);
                Message::Pruned { request, table }
            }
            Self::Summarize { request, rows } => {
                let removal = Removal::new(table, rows).map_err(|refused| refused.to_string());
                Message::Summarized { request, summary: removal.map(|removal| removal.summary()) }
            }
        }
    }
}

fn find(table: &Table, request: RequestId, text: &str, measure: Measure) -> Message {
    let pattern = Pattern::new(text);
    let mut total = 0;
    let matching = table.iter().filter(|&row| pattern.matches(table.name(row)));
    let counted = matching.inspect(|_| total += 1);
    // Adds one, so that empty entries are listed as well.
    let rows =
        table.largest(counted, MAX_LISTED, |row| measure.of(&table.totals(row)).saturating_add(1));
    Message::Found { request, rows, total }
}

/// Returns the files that occupy the most space. A file with several names counts under the name
/// that it is charged to.
fn largest_files(table: &Table, below: Option<Row>) -> Vec<Row> {
    let files = tree::entries(table, below)
        .into_iter()
        .flat_map(|row| table.subtree(row))
        .filter(|&row| table.file_type(row) == FileType::File);
    table.largest(files, MAX_LISTED, |row| table.totals(row).disk_usage)
}

/// Returns the largest entries of a directory, and the largest files below it.
pub(crate) fn preview(table: &Table, directory: Row, measure: Measure) -> (Vec<Row>, Vec<Row>) {
    let size = |row| measure.of(&table.totals(row));
    let entries = table.largest(table.children(directory), MAX_PREVIEWED, size);
    let files = table.subtree(directory).filter(|&row| table.file_type(row) == FileType::File);
    (entries, table.largest(files, MAX_PREVIEWED, size))
}

/// A thread that runs one job after another. It is not joined at exit.
pub(crate) struct JobThread {
    jobs: Sender<(Arc<Table>, Job)>,
    thread: Option<JoinHandle<()>>,
}

impl JobThread {
    pub(crate) fn new(messages: Sender<Message>) -> Self {
        let (jobs, received) = channel();
        let thread = std::thread::spawn(move || run_jobs(&received, &messages));
        Self { jobs, thread: Some(thread) }
    }

    pub(crate) fn submit(&self, table: Arc<Table>, job: Job) {
        // A failed send means that the thread has panicked; `resume_panic` reports it.
        let _ = self.jobs.send((table, job));
    }

    /// Continues a panic of the thread; otherwise the app would wait for its messages forever.
    pub(crate) fn resume_panic(&mut self) {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

fn run_jobs(received: &Receiver<(Arc<Table>, Job)>, messages: &Sender<Message>) {
    while let Ok(first) = received.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(received.try_iter()).collect();
        let kinds: Vec<_> = waiting.iter().map(|(_, job)| discriminant(job)).collect();
        for (at, (table, job)) in waiting.into_iter().enumerate() {
            // A newer job of the same kind replaces this one.
            if kinds[at + 1..].contains(&discriminant(&job)) {
                continue;
            }
            let message = job.run(&table);
            drop(table);
            if messages.send(message).is_err() {
                return;
            }
        }
    }
}
