//! Encodes row groups on several threads, and hands them out in order.
//!
//! ```text
//!            ┌─► threads: rows of a page ─► columns, most of them encoded ─┐
//! main thread┤   threads: a dictionary of all pages of a group             ├─► main thread: groups in order
//!            └─► tasks of few groups at a time                             ┘
//! ```

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use transect::Cancel;

use crate::schema::{COLUMNS, GROUP_ROWS, PAGE_ROWS};
use crate::workers::{self, Workers};

use super::column::{ColumnEncoder, ColumnPage};
use super::columns::PageColumns;
use super::dictionary::{self, DictionaryPages, IndexedPage};
use super::name_index;
use super::page::DataPage;

const GROUP_PAGES: usize = GROUP_ROWS / PAGE_ROWS;

/// The maximum number of pages for each thread that wait for it or that it encodes.
const PAGES_EACH: usize = 2;

/// The rows of a file, page by page.
pub(crate) struct PageSource<N, B> {
    /// The number of all rows.
    pub(crate) rows: usize,
    /// Returns the next page, of which these are the rows. Called by the main thread.
    pub(crate) next: N,
    /// Sets the columns to those of a page. Called by the threads.
    pub(crate) build: B,
}

/// What a thread does.
enum Task<P> {
    /// Encodes a page: of all pages the one with this number, which has `rows` rows.
    Page { number: usize, rows: usize, page: P },
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

/// A row group that is encoded, or some of whose pages are.
pub(super) struct Group {
    pub(super) rows: usize,
    /// The pages whose columns are not joined yet.
    pages: Vec<Option<Vec<ColumnPage>>>,
    pub(super) columns: Vec<Option<DictionaryPages>>,
    /// What else was found in each of its pages.
    pub(super) findings: Vec<PageFindings>,
}

/// Encodes all rows on `threads` threads, and calls `append` with each row group, in order.
pub(super) fn encode<P: Send, E: From<io::Error>>(
    source: PageSource<
        impl FnMut(Range<usize>) -> Result<P, E>,
        impl Fn(P, &mut PageColumns) + Sync,
    >,
    threads: usize,
    cancel: &Cancel,
    mut append: impl FnMut(Group) -> io::Result<()>,
) -> Result<(), E> {
    let PageSource { rows, mut next, build } = source;
    let threads = threads.min(rows.div_ceil(PAGE_ROWS));
    let worker = || {
        let (is_indexed, columns) = (is_indexed(rows), PageColumns::new());
        let mut worker = Worker { is_indexed, columns, encoder: None };
        let build = &build;
        move |task| worker.run(task, build)
    };
    workers::run(threads, worker, |workers| {
        let mut groups =
            Groups { workers, rows, open: VecDeque::new(), first: 0, given: 0, running: 0 };
        // Enough groups that no thread waits for the last pages of one.
        let ahead = 2 + threads.div_ceil(GROUP_PAGES);
        loop {
            if cancel.is_cancelled() {
                return Err(interrupted().into());
            }
            while groups.running < threads * PAGES_EACH && groups.can_give(ahead) {
                groups.give(&mut next)?;
            }
            if groups.open.is_empty() {
                return Ok(());
            }
            groups.take(workers.take()?);
            while let Some(group) = groups.pop() {
                append(group)?;
            }
        }
    })?
}

/// Returns the error of a writer that was cancelled.
pub(super) fn interrupted() -> io::Error {
    io::Error::other("interrupted")
}

/// Returns whether a snapshot with `rows` rows has an index of names. A few pages are read as fast without one.
pub(super) fn is_indexed(rows: usize) -> bool {
    rows > GROUP_ROWS
}

/// What a thread uses again.
struct Worker {
    is_indexed: bool,
    columns: PageColumns,
    encoder: Option<ColumnEncoder>,
}

impl Worker {
    fn run<P>(&mut self, task: Task<P>, build: &impl Fn(P, &mut PageColumns)) -> io::Result<Done> {
        let Self { is_indexed, columns, encoder } = self;
        let encoder = match encoder {
            Some(encoder) => encoder,
            none => none.insert(ColumnEncoder::new()?),
        };
        match task {
            Task::Page { number, rows, page } => {
                build(page, columns);
                let names = match is_indexed {
                    true => name_index::bits_of_page(rows, columns),
                    false => Vec::new(),
                };
                let findings = PageFindings { names, is_linked: columns.is_linked };
                let pages = COLUMNS.iter().zip(&columns.all);
                let pages = pages.map(|(spec, column)| encoder.encode(spec, rows, column));
                Ok(Done::Page(number, pages.collect::<io::Result<_>>()?, findings))
            }
            Task::Dictionary { group, column, pages } => {
                let pages = dictionary::encode(&COLUMNS[column], pages, &mut encoder.pages)?;
                Ok(Done::Dictionary { group, column, pages })
            }
        }
    }
}

/// The groups that are being encoded.
struct Groups<'w, P> {
    workers: &'w Workers<Task<P>, io::Result<Done>>,
    /// The number of rows of the file.
    rows: usize,
    open: VecDeque<Group>,
    /// The number of the first open group.
    first: usize,
    /// The number of pages that were given to threads, and of those that are not encoded yet.
    given: usize,
    running: usize,
}

impl<P> Groups<'_, P> {
    /// Returns whether there is another page, and its group is one of the first `ahead`.
    fn can_give(&self, ahead: usize) -> bool {
        self.given * PAGE_ROWS < self.rows && self.given / GROUP_PAGES < self.first + ahead
    }

    /// Gives the next page to a thread.
    fn give<E>(&mut self, next: impl FnOnce(Range<usize>) -> Result<P, E>) -> Result<(), E> {
        let number = self.given;
        let first = number * PAGE_ROWS;
        if number.is_multiple_of(GROUP_PAGES) {
            let rows = (self.rows - first).min(GROUP_ROWS);
            let pages = rows.div_ceil(PAGE_ROWS);
            self.open.push_back(Group {
                rows,
                pages: (0..pages).map(|_| None).collect(),
                columns: COLUMNS.iter().map(|_| None).collect(),
                findings: vec![PageFindings::default(); pages],
            });
        }
        let rows = first..self.rows.min(first + PAGE_ROWS);
        self.workers.give(Task::Page { number, rows: rows.len(), page: next(rows)? });
        self.given += 1;
        self.running += 1;
        Ok(())
    }

    /// Takes what a thread has done.
    fn take(&mut self, done: Done) {
        match done {
            Done::Page(number, columns, found) => {
                self.running -= 1;
                let group = number / GROUP_PAGES;
                let open = &mut self.open[group - self.first];
                open.findings[number % GROUP_PAGES] = found;
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
        let pages = open.pages.drain(..).flatten();
        for (column, page) in pages.flat_map(|page| page.into_iter().enumerate()) {
            match page {
                ColumnPage::Encoded(pages) => encoded[column].extend(pages),
                ColumnPage::Indexed(page) => indexed[column].push(page),
            }
        }
        for (column, (pages, indexed)) in encoded.into_iter().zip(indexed).enumerate() {
            match indexed.is_empty() {
                true => open.columns[column] = Some(DictionaryPages { dictionary: None, pages }),
                false => {
                    self.workers.give(Task::Dictionary { group, column, pages: indexed });
                }
            }
        }
    }

    /// Returns the first open group if it is encoded.
    fn pop(&mut self) -> Option<Group> {
        let is_encoded = |group: &mut Group| group.columns.iter().all(Option::is_some);
        let group = self.open.pop_front_if(is_encoded)?;
        self.first += 1;
        Some(group)
    }
}
