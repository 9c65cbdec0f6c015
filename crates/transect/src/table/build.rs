//! Fills a table: one sink per thread, without locks.
//!
//! Builder pair with `table/mod.rs`: [`Table::read`] uses the [`TableBuilder`], which creates the [`Table`]. They refer to
//! each other on purpose.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use transect_sys::{Attributes, FieldMask, FileType, Want};

use super::base::Base;
use super::columns::Rows;
use super::directories::{Directory, EnteredDirectory, SubtreeTotals, UnreadReason};
use super::directory_buffer::DirectoryBuffer;
use super::hard_links::LinkedName;
use super::partial::{
    DirectoryRead, DirectoryStart, LARGE_FILE, PartialTable, Publisher, PublisherSource, Update,
};
use super::row::Row;
use super::{Table, finish, hard_links};
use crate::dir::{Dir, Tag};
use crate::error::{Error, Operation};
use crate::sink::{Diagnostics, Entering, Flow, Omission, Sink, Visit};

/// Makes the sinks that fill a table together.
#[derive(Debug)]
pub struct TableBuilder {
    columns: FieldMask,
    directories: Arc<AtomicU32>,
    publishers: PublisherSource,
    kept_errors: usize,
}

impl TableBuilder {
    /// Returns a builder of a table with these columns, besides names, types and both sizes.
    pub fn new(columns: FieldMask) -> Self {
        Self {
            columns,
            directories: Arc::default(),
            publishers: PublisherSource::default(),
            kept_errors: Diagnostics::DEFAULT_KEPT,
        }
    }

    /// Keeps the text of every error, without a limit.
    pub fn keep_all_errors(mut self) -> Self {
        self.kept_errors = usize::MAX;
        self
    }

    /// Publishes the table to `partial_table` while it is filled. Drops the earlier content of
    /// `partial_table`.
    #[doc(hidden)]
    pub fn partial_table(mut self, partial_table: &PartialTable) -> Self {
        self.publishers = partial_table.start(self.columns);
        self
    }

    /// Returns the sink of one thread. All sinks of a walk come from the same builder; a builder
    /// serves one walk.
    pub fn sink(&self) -> TableSink {
        TableSink {
            next_number: Arc::clone(&self.directories),
            buffer: DirectoryBuffer::default(),
            current: None,
            rows: Rows::new(self.columns),
            own_rows: Rows::new(self.columns),
            entered: Vec::new(),
            links: Vec::new(),
            unread: Vec::new(),
            errors: Vec::new(),
            diagnostics: Diagnostics::new(self.kept_errors),
            publisher: self.publishers.publisher(),
            bytes: 0,
            too_large: false,
        }
    }
}

/// One thread's part of a table.
///
/// Directories are numbered in the order in which the threads enter them. The numbers identify them
/// until their rows are known.
#[derive(Debug)]
pub struct TableSink {
    next_number: Arc<AtomicU32>,
    /// The entries of the current directory, and its index in `entered`.
    buffer: DirectoryBuffer,
    current: Option<usize>,
    pub(super) rows: Rows,
    /// The names and own attributes of directories. Their rows lie in the parts of other threads,
    /// so the attributes are copied there at the end.
    pub(super) own_rows: Rows,
    pub(super) entered: Vec<EnteredDirectory>,
    pub(super) links: Vec<LinkedName>,
    pub(super) unread: Vec<(u32, UnreadReason)>,
    pub(super) errors: Vec<u32>,
    pub(super) diagnostics: Diagnostics,
    /// Publishes to a partial table, if there is one.
    publisher: Option<Publisher>,
    bytes: u64,
    pub(super) too_large: bool,
}

impl TableSink {
    /// Makes the table.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] if there are more than four thousand million rows.
    pub fn into_table(mut self) -> Result<Table, Error> {
        self.flush_buffer();
        if self.too_large {
            return Err(Error::TooManyEntries);
        }
        Ok(assemble(self))
    }

    /// Begins a directory and returns its number. The top has no `parent`, and is not `listed`.
    pub(super) fn begin(
        &mut self,
        parent: Option<u32>,
        name: &OsStr,
        own: &Attributes,
        listed: bool,
    ) -> u32 {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        // A directory beyond a boundary has no attributes, not even a type.
        let mut own = *own;
        own.set_file_type(FileType::Directory);
        let totals = if listed { SubtreeTotals::of_entry(&own) } else { SubtreeTotals::default() };
        self.bytes = self.bytes.saturating_add(totals.disk_usage);
        let Some(row) = self.own_rows.next_row(1) else {
            self.too_large = true;
            return number;
        };
        self.own_rows.push(name, &own);
        let parent = parent.unwrap_or(Directory::TOP);
        let first = Directory::UNREAD;
        let directory = Directory { row: row.0, parent, first, count: 0, totals };
        self.entered.push(EnteredDirectory { number, directory });
        let columns = self.own_rows.columns();
        self.publish(|update| {
            update.own.push(columns, name, &own);
            update.starts.push(DirectoryStart { number, parent, totals });
        });
        number
    }

    /// Moves the buffered entries into the rows. They are all entries of their directory, because
    /// no other is visited in between.
    fn flush_buffer(&mut self) {
        let Some(current) = self.current.take() else { return };
        let (columns, number) = (self.rows.columns(), self.entered[current].number);
        self.publish(|update| {
            let totals = self.buffer.totals_without_hard_links(columns);
            let files = self.buffer.copy_large_files(columns, LARGE_FILE, &mut update.files);
            update.read.push(DirectoryRead { number, totals, files });
        });
        let appended = self.buffer.flush_into(&mut self.rows, &mut self.links);
        self.set_entries(current, appended);
    }

    /// Stores which rows a directory has, and their totals; `None` if there are too many.
    fn set_entries(&mut self, current: usize, appended: Option<(Row, u32, SubtreeTotals)>) {
        match appended {
            Some((first, count, totals)) => {
                let directory = &mut self.entered[current].directory;
                (directory.first, directory.count) = (first.0, count);
                directory.totals += totals;
            }
            None => self.too_large = true,
        }
    }

    fn mark_unread(&mut self, number: u32, why: UnreadReason) {
        self.publish(|update| update.unread.push((number, why)));
        self.unread.push((number, why));
    }

    fn publish(&self, publish: impl FnOnce(&mut Update)) {
        if let Some(publisher) = &self.publisher {
            publisher.publish(publish);
        }
    }

    fn index_of(&self, number: u32) -> usize {
        // Nearly always the last: a directory is read right after it is entered.
        let index = self.entered.iter().rposition(|directory| directory.number == number);
        index.expect("BUG: a directory is read by the thread that entered it")
    }
}

/// Returns the number that [`TableSink`] gave a directory.
fn number_of(dir: &Dir) -> u32 {
    dir.tag.number().expect("BUG: every directory was entered")
}

/// Makes the table of the entries that all threads found.
fn assemble(sink: TableSink) -> Table {
    let TableSink {
        mut rows, own_rows, mut entered, links, unread, errors, mut diagnostics, ..
    } = sink;
    diagnostics.sort();
    rows.shrink();
    // Those of each thread are in order already: a stable sort merges such runs, one after the other
    // through memory.
    entered.sort_by_key(|entered| entered.number);
    let taken = finish::assign_rows(&mut rows, own_rows, &mut entered);
    let unread = unread
        .into_iter()
        .filter_map(|(number, why)| Some((finish::index_of(&taken, &entered, number)?, why)))
        .collect();
    let errors: Vec<u32> = errors
        .into_iter()
        .filter_map(|number| finish::index_of(&taken, &entered, number))
        .collect();
    let mut directories = finish::sort_by_row(taken, entered, unread);
    let order = directories.preorder();
    directories.errors = finish::accumulate_errors(&directories, errors, &order);
    let shared = hard_links::charge(links, &rows, &mut directories, &order);
    finish::accumulate_totals(&mut directories, &order);
    let (unlisted, name_grams) = (Vec::new(), OnceLock::new());
    Table::new(Base { rows, directories, shared, unlisted, name_grams }, diagnostics)
}

impl Sink for TableSink {
    fn want(&self) -> Want {
        // Totals hold the newest time, with or without a column.
        let columns = self.rows.columns() | FieldMask::MTIME;
        Want::nothing()
            .entries(columns | FieldMask::FILE_ID)
            .opportunistic(FieldMask::NLINK)
            .opened(columns | FieldMask::DEVICE)
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        self.flush_buffer();
        let parent = entering.parent.map(|parent| number_of(parent));
        Tag::Number(self.begin(parent, entering.name, entering.attributes, entering.listed))
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let current = self.current.take().unwrap_or_else(|| self.index_of(number_of(visit.dir)));
        // Entries are published from the buffer.
        if visit.is_last && self.buffer.is_empty() && self.publisher.is_none() {
            let Self { buffer, rows, links, .. } = self;
            let appended = buffer.append_directory(visit.batch, visit.follow, rows, links);
            let bytes = appended.map_or(0, |(.., totals)| totals.disk_usage);
            self.bytes = self.bytes.saturating_add(bytes);
            self.set_entries(current, appended);
        } else {
            self.current = Some(current);
            let bytes = self.buffer.add_batch(self.rows.columns(), visit.batch, visit.follow);
            self.bytes = self.bytes.saturating_add(bytes);
        }
        if self.too_large { Flow::Quit } else { Flow::Continue }
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        let number = number_of(dir);
        self.publish(|update| update.omit(number, &omission));
        match &omission {
            Omission::Failed(error) => {
                if matches!(error.operation(), Operation::OpenDirectory | Operation::ReadDirectory)
                {
                    self.mark_unread(number, UnreadReason::Failed(error.kind()));
                }
                self.errors.push(number);
            }
            Omission::Skipped { reason, name: None } => {
                self.mark_unread(number, UnreadReason::Skipped(*reason));
            }
            _ => {}
        }
        self.diagnostics.add(omission);
        Flow::Continue
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn merge(&mut self, mut other: Self) {
        self.flush_buffer();
        other.flush_buffer();
        let moved = (self.rows.append(other.rows), self.own_rows.append(other.own_rows));
        let (Some(rows), Some(own)) = moved else {
            self.too_large = true;
            return;
        };
        for EnteredDirectory { directory, .. } in &mut other.entered {
            directory.row += own;
            if directory.first != Directory::UNREAD {
                directory.first += rows;
            }
        }
        for link in &mut other.links {
            link.row += rows;
        }
        self.entered.append(&mut other.entered);
        self.links.append(&mut other.links);
        self.unread.append(&mut other.unread);
        self.errors.append(&mut other.errors);
        self.diagnostics.merge(other.diagnostics);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.too_large |= other.too_large;
    }
}
