//! Encodes row groups on several threads, and hands them out in order.
//!
//! ```text
//!            ┌─► threads: rows of a page ─► columns, most of them encoded ─┐
//! main thread┤   threads: a dictionary of all pages of a group             ├─► main thread: groups in order
//!            └─► tasks of few groups at a time                             ┘
//! ```

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError, mpsc};

use transect::Cancel;
use transect::table::Table;

use crate::schema::{COLUMNS, GROUP_ROWS, PAGE_ROWS};

use super::column::{ColumnEncoder, ColumnPage};
use super::columns::{PageColumns, build};
use super::dictionary::{self, DictionaryPages, IndexedPage};
use super::error::WriteError;
use super::name_index;
use super::outline::Outline;
use super::page::DataPage;

/// The number of pages in a row group.
const GROUP_PAGES: usize = GROUP_ROWS / PAGE_ROWS;

/// What a thread does.
enum Task {
    /// Encodes a page: of all pages the one with this number.
    Page(usize),
    /// Encodes the pages of a column with their dictionary.
    Dictionary { group: usize, column: usize, pages: Vec<IndexedPage> },
}

/// What came out of it.
enum Done {
    Page(usize, Vec<ColumnPage>, PageFindings),
    Dictionary { group: usize, column: usize, pages: DictionaryPages },
}

/// What a page has, beside its columns.
#[derive(Clone, Debug, Default)]
pub(super) struct PageFindings {
    /// The bits of its names; none in a small snapshot, which has no index of names.
    pub(super) names: Vec<u8>,
    /// A file may have several names.
    pub(super) is_linked: bool,
}

/// What a thread returns: a panic is continued by the main thread.
type Outcome = Result<io::Result<Done>, Box<dyn Any + Send>>;

/// A row group of which some pages are encoded.
struct OpenGroup {
    rows: usize,
    pages: Vec<Option<Vec<ColumnPage>>>,
    columns: Vec<Option<DictionaryPages>>,
}

/// Encodes all rows on `threads` threads, and calls `append` with the number of rows and the columns of
/// each row group. Returns what else was found in each page.
pub(super) fn encode(
    table: &Table,
    outline: &Outline,
    threads: usize,
    cancel: &Cancel,
    mut append: impl FnMut(usize, Vec<DictionaryPages>) -> io::Result<()>,
) -> Result<Vec<PageFindings>, WriteError> {
    let pages = outline.rows.len().div_ceil(PAGE_ROWS);
    let threads = threads.min(pages);
    let (tasks, queue) = mpsc::channel();
    let queue = Mutex::new(queue);
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (queue, done) = (&queue, done.clone());
            let run = move || work(table, outline, queue, &done);
            match std::thread::Builder::new().spawn_scoped(scope, run) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(WriteError::Encode(error)),
                // The system has no more; those that run are enough.
                Err(_) => break,
            }
        }
        drop(done);
        // Dropped at the return, also early: then the threads end.
        let mut findings = vec![PageFindings::default(); pages];
        let mut groups = Groups { tasks, outline, open: VecDeque::new(), first: 0, given: 0 };
        // Enough groups that no thread waits for the last pages of one.
        let ahead = 2 + threads.div_ceil(GROUP_PAGES);
        groups.give(ahead);
        while !groups.open.is_empty() {
            if cancel.is_cancelled() {
                return Err(WriteError::Cancelled);
            }
            match results.recv().expect("BUG: the threads have ended") {
                Ok(done) => groups.take(done.map_err(WriteError::Encode)?, &mut findings),
                Err(panic) => resume_unwind(panic),
            }
            while let Some((rows, columns)) = groups.pop() {
                append(rows, columns).map_err(WriteError::Output)?;
                groups.give(ahead);
            }
        }
        Ok(findings)
    })
}

/// Returns whether the snapshot has an index of names. A few pages are read as fast without.
pub(super) fn is_indexed(outline: &Outline) -> bool {
    outline.rows.len() > GROUP_ROWS
}

fn work(
    table: &Table,
    outline: &Outline,
    queue: &Mutex<mpsc::Receiver<Task>>,
    done: &mpsc::Sender<Outcome>,
) {
    let (mut columns, mut encoder) = (PageColumns::new(), None);
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = task else { return };
        let run = AssertUnwindSafe(|| run(table, outline, task, &mut columns, &mut encoder));
        if done.send(catch_unwind(run)).is_err() {
            return;
        }
    }
}

fn run(
    table: &Table,
    outline: &Outline,
    task: Task,
    columns: &mut PageColumns,
    encoder: &mut Option<ColumnEncoder>,
) -> io::Result<Done> {
    let encoder = match encoder {
        Some(encoder) => encoder,
        none => none.insert(ColumnEncoder::new()?),
    };
    match task {
        Task::Page(number) => {
            let begin = number * PAGE_ROWS;
            let rows = begin..outline.rows.len().min(begin + PAGE_ROWS);
            let count = rows.len();
            build(table, outline, rows, columns);
            let names = match is_indexed(outline) {
                true => name_index::bits_of_page(count, columns),
                false => Vec::new(),
            };
            let findings = PageFindings { names, is_linked: columns.is_linked };
            let pages = COLUMNS.iter().zip(&columns.all);
            let pages = pages.map(|(spec, column)| encoder.encode(spec, count, column));
            Ok(Done::Page(number, pages.collect::<io::Result<_>>()?, findings))
        }
        Task::Dictionary { group, column, pages } => {
            let pages = dictionary::encode(&COLUMNS[column], pages, &mut encoder.pages)?;
            Ok(Done::Dictionary { group, column, pages })
        }
    }
}

/// The groups that are being encoded.
struct Groups<'o> {
    tasks: mpsc::Sender<Task>,
    outline: &'o Outline,
    open: VecDeque<OpenGroup>,
    /// The number of the first open group.
    first: usize,
    /// The number of pages that were given to threads.
    given: usize,
}

impl Groups<'_> {
    /// Opens groups until there are `ahead`.
    fn give(&mut self, ahead: usize) {
        let rows = self.outline.rows.len();
        while self.open.len() < ahead && self.given * PAGE_ROWS < rows {
            let rows = (rows - self.given * PAGE_ROWS).min(GROUP_ROWS);
            let pages = rows.div_ceil(PAGE_ROWS);
            self.open.push_back(OpenGroup {
                rows,
                pages: (0..pages).map(|_| None).collect(),
                columns: COLUMNS.iter().map(|_| None).collect(),
            });
            (self.given..self.given + pages).for_each(|page| self.send(Task::Page(page)));
            self.given += pages;
        }
    }

    fn send(&self, task: Task) {
        self.tasks.send(task).expect("BUG: the queue is kept until the end");
    }

    /// Takes what a thread has done; findings are put at the place of their page.
    fn take(&mut self, done: Done, findings: &mut [PageFindings]) {
        match done {
            Done::Page(number, columns, found) => {
                findings[number] = found;
                let group = number / GROUP_PAGES;
                let open = &mut self.open[group - self.first];
                open.pages[number % GROUP_PAGES] = Some(columns);
                if open.pages.iter().all(Option::is_some) {
                    self.join(group);
                }
            }
            Done::Dictionary { group, column, pages } => {
                self.open[group - self.first].columns[column] = Some(pages);
            }
        }
    }

    /// Joins the pages of each column of a group.
    fn join(&mut self, group: usize) {
        let open = &mut self.open[group - self.first];
        let mut encoded: Vec<Vec<DataPage>> = COLUMNS.iter().map(|_| Vec::new()).collect();
        let mut indexed: Vec<Vec<IndexedPage>> = COLUMNS.iter().map(|_| Vec::new()).collect();
        for (column, page) in
            open.pages.drain(..).flatten().flat_map(|page| page.into_iter().enumerate())
        {
            match page {
                ColumnPage::Encoded(pages) => encoded[column].extend(pages),
                ColumnPage::Indexed(page) => indexed[column].push(page),
            }
        }
        for (column, pages) in
            encoded.into_iter().enumerate().filter(|(_, pages)| !pages.is_empty())
        {
            open.columns[column] = Some(DictionaryPages { dictionary: None, pages });
        }
        for (column, pages) in
            indexed.into_iter().enumerate().filter(|(_, pages)| !pages.is_empty())
        {
            self.send(Task::Dictionary { group, column, pages });
        }
    }

    /// Returns the first open group if it is encoded.
    fn pop(&mut self) -> Option<(usize, Vec<DictionaryPages>)> {
        let is_encoded = |group: &&mut OpenGroup| group.columns.iter().all(Option::is_some);
        let group = self.open.front_mut().filter(is_encoded)?;
        let columns = (group.rows, group.columns.drain(..).flatten().collect());
        self.open.pop_front();
        self.first += 1;
        Some(columns)
    }
}
