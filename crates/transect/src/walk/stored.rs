//! Delivers the entries of a table to a sink, as a walk of their tree would: for trees that were read before.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{Attributes, Batch, EntryRef, FileType, Verdict};

use crate::dir::{Dir, DirContext};
use crate::error::Error;
use crate::filter;
use crate::plan::ScanPlan;
use crate::sink::{Entering, Flow, Sink, SkipReason, Visit};
use crate::table::{Row, Table};

/// The maximum number of entries in a batch: as many as a reader lists with one call.
const MAX_BATCH: usize = 1024;

impl ScanPlan {
    /// Delivers the entries of a table to a sink, as a walk of their tree would: a directory before its entries,
    /// which are sorted by name. Runs on the caller's thread.
    ///
    /// Filters, depths and the request to stop apply. Other options choose how a tree is read, and do not.
    /// [`Filters::empty`](crate::Filters::empty) delivers directories of which the table has no entry, if
    /// they were read completely.
    ///
    /// The sink receives no errors: [`Table::diagnostics`] counts those of the walk that filled the table.
    /// The table must have the columns that the sink and the filters need.
    ///
    /// # Errors
    /// A filter reads files ([`Error::FilterReadsFiles`]).
    pub fn run_on<S: Sink>(&self, table: &Table, sink: S) -> Result<S, Error> {
        let reads_files = self.filter.as_ref().and_then(|filter| filter.reads_files());
        if let Some(name) = reads_files {
            return Err(Error::FilterReadsFiles(name));
        }
        let delivery = Delivery {
            plan: self,
            table,
            sink,
            batch: Batch::new(),
            relative: PathBuf::new(),
            is_stopped: false,
        };
        Ok(delivery.run())
    }
}

/// A directory that waits to be delivered.
struct Waiting<T> {
    parent: Arc<Dir<T>>,
    row: Row,
    listed: bool,
}

struct Delivery<'d, S> {
    plan: &'d ScanPlan,
    table: &'d Table,
    sink: S,
    batch: Batch,
    /// The path of the directory below its root; maintained only if a filter needs it.
    relative: PathBuf,
    is_stopped: bool,
}

impl<S: Sink> Delivery<'_, S> {
    fn run(mut self) -> S {
        let table = self.table;
        let entering = Entering {
            parent: None,
            name: OsStr::new(""),
            attributes: &Attributes::default(),
            listed: false,
        };
        let top = Dir::top(self.sink.enter(entering));
        let mut waiting = Vec::new();
        self.visit(&top, table.roots(), &mut waiting);
        self.release(top);
        while let Some(Waiting { parent, row, listed }) = waiting.pop() {
            if self.is_stopped || self.plan.cancel.is_cancelled() {
                self.is_stopped = true;
                self.release(parent);
                continue;
            }
            let (name, attributes) = (table.name(row), table.attributes(row));
            let entering =
                Entering { parent: Some(&parent), name, attributes: &attributes, listed };
            let tag = self.sink.enter(entering);
            let dir = Dir::child(parent, name.into(), DirContext::default(), tag);
            self.visit(&dir, table.children(row), &mut waiting);
            self.release(dir);
        }
        self.sink
    }

    /// Delivers the entries of a directory, and appends the directories among them to `waiting`, the first
    /// one last.
    fn visit(
        &mut self,
        dir: &Arc<Dir<S::Tag>>,
        mut rows: impl Iterator<Item = Row>,
        waiting: &mut Vec<Waiting<S::Tag>>,
    ) {
        let begin = waiting.len();
        loop {
            let rows: Vec<Row> = rows.by_ref().take(MAX_BATCH).collect();
            if rows.is_empty() || self.is_stopped {
                break;
            }
            self.batch.clear();
            for &row in &rows {
                self.batch.push(self.table.name(row), self.table.attributes(row));
            }
            let mut directories = self.judge(dir, &rows);
            match self.sink.visit(Visit { dir, batch: &self.batch, follow: false }) {
                Flow::Continue => {}
                Flow::Prune => self.prune(dir, &mut directories),
                Flow::Quit => self.is_stopped = true,
            }
            for (row, verdict) in directories {
                if dir.entry_depth() >= self.plan.max_depth {
                    self.sink.skipped(dir, SkipReason::MaxDepth);
                } else if verdict != Verdict::Prune {
                    let listed = verdict != Verdict::DescendOnly;
                    waiting.push(Waiting { parent: Arc::clone(dir), row, listed });
                }
            }
        }
        dir.add_pending(waiting.len() - begin);
        waiting[begin..].reverse();
    }

    /// Judges the batch of these rows. Returns the directories that are not dropped.
    fn judge(&mut self, dir: &Dir<S::Tag>, rows: &[Row]) -> Vec<(Row, Verdict)> {
        let Self { plan, table, sink, batch, relative, .. } = self;
        let filter = plan.filter.as_deref();
        if filter.is_some_and(|filter| filter.needs_paths()) {
            let mut names: Vec<&OsStr> = dir.ancestors().map(Dir::name).collect();
            names.pop(); // the root itself
            relative.clear();
            relative.extend(names.into_iter().rev());
        }
        let mut directories = Vec::new();
        let mut rows = rows.iter();
        batch.judge(|entry| {
            let row = *rows.next().expect("BUG: a batch has an entry for each row");
            let mut verdict = Verdict::Keep;
            if let Some(filter) = filter {
                let (judged, reason) = match dir.is_top() {
                    true => filter.judge_root(entry),
                    false => filter.judge(dir, relative, entry),
                };
                if let Some(reason) = reason {
                    sink.skipped(dir, reason);
                }
                verdict = filter.judge_attributes(EntryRef { verdict: judged, ..entry });
                if filter.requires_empty()
                    && entry.file_type() == FileType::Directory
                    && !is_empty(table, row)
                {
                    verdict = filter::without(verdict);
                }
            }
            if S::JUDGES && verdict == Verdict::Keep {
                verdict = sink.judge(dir, entry);
            }
            if entry.file_type() == FileType::Directory && verdict != Verdict::Drop {
                directories.push((row, verdict));
            }
            verdict
        });
        directories
    }

    /// Prunes the delivered directories of the batch that the sink does not want.
    fn prune(&mut self, dir: &Dir<S::Tag>, directories: &mut [(Row, Verdict)]) {
        let Self { sink, batch, .. } = self;
        let entries = batch.entries().filter(|it| it.attributes.file_type() == FileType::Directory);
        for ((_, verdict), entry) in directories.iter_mut().zip(entries) {
            let entry = EntryRef {
                name: batch.name(entry),
                verdict: *verdict,
                followed: false,
                attributes: &entry.attributes,
            };
            if *verdict == Verdict::Keep && sink.prunes(dir, entry) {
                *verdict = Verdict::Prune;
            }
        }
    }

    /// Finishes one part of a directory's work, and leaves every directory that this completes.
    fn release(&mut self, dir: Arc<Dir<S::Tag>>) {
        let mut next = Some(dir);
        while let Some(dir) = next.filter(|dir| dir.release_pending()) {
            self.sink.leave(&dir);
            next = dir.parent().cloned();
        }
    }
}

/// Returns whether a directory was read completely, and nothing was in it.
fn is_empty(table: &Table, row: Row) -> bool {
    table.children(row).len() == 0 && table.unread_reason(row).is_none() && table.errors(row) == 0
}
