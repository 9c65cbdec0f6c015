//! What takes too long to be done between two keys: done on a thread beside, in the order in which
//! it is wanted.

use std::mem::discriminant;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use transect::FileType;
use transect::table::{Row, Table};
use transect_remove::Removal;

use crate::app::{Answer, Biggest, Found, Ticket};
use crate::order::{Measure, Order};
use crate::pattern::Pattern;
use crate::tree;

/// Something to find out of a table.
#[derive(Debug)]
pub(crate) enum Job {
    Sort {
        ticket: Ticket,
        rows: Vec<Row>,
        order: Order,
    },
    Find {
        ticket: Ticket,
        text: String,
        measure: Measure,
    },
    Largest {
        ticket: Ticket,
        below: Option<Row>,
    },
    /// What removing rows would come to.
    Survey {
        ticket: Ticket,
        rows: Vec<Row>,
    },
}

impl Job {
    pub(crate) fn do_with(self, table: &Table) -> Answer {
        match self {
            Self::Sort { ticket, rows, order } => {
                Answer::Sorted { ticket, entries: order.sort(table, rows) }
            }
            Self::Find { ticket, text, measure } => find(table, ticket, &text, measure),
            Self::Largest { ticket, below } => {
                let rows = largest_files(table, below);
                Answer::Largest { ticket, rows }
            }
            Self::Survey { ticket, rows } => {
                let removal = Removal::new(table, rows).map_err(|refused| refused.to_string());
                Answer::Surveyed { ticket, summary: removal.map(|removal| removal.summary()) }
            }
        }
    }
}

fn find(table: &Table, ticket: Ticket, text: &str, measure: Measure) -> Answer {
    let pattern = Pattern::new(text);
    let mut total = 0;
    let matching = table.iter().filter(|&row| pattern.is_in(table.name(row)));
    let counted = matching.inspect(|_| total += 1);
    // What is empty is found, too.
    let rows = table
        .largest(counted, Found::LISTED, |row| measure.of(&table.totals(row)).saturating_add(1));
    Answer::Found { ticket, rows, total }
}

/// Returns the files that occupy most: of a file with several names, the one that it is charged to.
fn largest_files(table: &Table, below: Option<Row>) -> Vec<Row> {
    let files = tree::entries(table, below)
        .into_iter()
        .flat_map(|row| table.subtree(row))
        .filter(|&row| table.file_type(row) == FileType::File);
    table.largest(files, Biggest::LISTED, |row| table.totals(row).disk_usage)
}

/// A thread that does one job after the other. Nobody waits for its end: what it does then is for
/// nothing.
pub(crate) struct Desk {
    jobs: Sender<(Arc<Table>, Job)>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    pub(crate) fn new(answers: Sender<Answer>) -> Self {
        let (jobs, wanted) = channel();
        let thread = std::thread::spawn(move || work(&wanted, &answers));
        Self { jobs, thread: Some(thread) }
    }

    pub(crate) fn give(&self, table: Arc<Table>, job: Job) {
        // If nobody takes it, the next check says why.
        let _ = self.jobs.send((table, job));
    }

    /// Goes on with a panic of the thread: who waits for an answer would wait for ever.
    pub(crate) fn check(&mut self) {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

fn work(wanted: &Receiver<(Arc<Table>, Job)>, answers: &Sender<Answer>) {
    while let Ok(first) = wanted.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(wanted.try_iter()).collect();
        let kinds: Vec<_> = waiting.iter().map(|(_, job)| discriminant(job)).collect();
        for (at, (table, job)) in waiting.into_iter().enumerate() {
            // Who wanted another order since does not wait for this one any more.
            if kinds[at + 1..].contains(&discriminant(&job)) {
                continue;
            }
            let answer = job.do_with(&table);
            drop(table);
            if answers.send(answer).is_err() {
                return;
            }
        }
    }
}
