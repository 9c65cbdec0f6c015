//! Delivers the entries of a stored tree to a sink, as a walk of the tree would.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{Attributes, Batch, FieldMask, FileType, Verdict};

use crate::dir::{Dir, DirContext};
use crate::error::Error;
use crate::filter;
use crate::plan::ScanPlan;
use crate::sink::{Entering, Flow, Omission, Sink, SkipReason, Visit};
use crate::table::TreeOrder;
use crate::walk::enter_top;
use crate::walk::judge::{judge, prune};

/// The maximum number of entries in a batch: as many as a reader lists with one call.
const MAX_BATCH: usize = 1024;

/// Entries that were read before, in tree order: a directory comes before its entries, and each of these is
/// followed by everything below it.
pub trait StoredRows {
    /// Why an entry cannot be read.
    type Error;

    /// Goes to the next entry, and returns whether there is one. Unless it `enters`, skips everything below
    /// the current entry.
    ///
    /// # Errors
    /// The entry cannot be read.
    fn advance(&mut self, enters: bool) -> Result<bool, Self::Error>;

    /// Returns the number of steps from the root: 0 for a root.
    fn depth(&self) -> usize;

    /// Returns the name; of a root, its path.
    fn name(&self) -> &OsStr;

    /// Returns the type and some of the attributes.
    fn attributes(&self, fields: FieldMask) -> Attributes;

    /// Returns whether a directory was read completely, and nothing was in it.
    fn is_empty_directory(&self) -> bool;
}

impl<R: StoredRows> StoredRows for &mut R {
    type Error = R::Error;

    fn advance(&mut self, enters: bool) -> Result<bool, R::Error> {
        R::advance(self, enters)
    }

    fn depth(&self) -> usize {
        R::depth(self)
    }

    fn name(&self) -> &OsStr {
        R::name(self)
    }

    fn attributes(&self, fields: FieldMask) -> Attributes {
        R::attributes(self, fields)
    }

    fn is_empty_directory(&self) -> bool {
        R::is_empty_directory(self)
    }
}

impl StoredRows for TreeOrder<'_> {
    type Error = Infallible;

    fn advance(&mut self, enters: bool) -> Result<bool, Infallible> {
        Ok(TreeOrder::advance(self, enters))
    }

    fn depth(&self) -> usize {
        TreeOrder::depth(self)
    }

    fn name(&self) -> &OsStr {
        self.table().name(self.row())
    }

    fn attributes(&self, fields: FieldMask) -> Attributes {
        let mut attributes = self.table().attributes(self.row());
        attributes.retain(fields);
        attributes
    }

    fn is_empty_directory(&self) -> bool {
        let (table, row) = (self.table(), self.row());
        table.children(row).len() == 0
            && table.unread_reason(row).is_none()
            && table.errors(row) == 0
    }
}

impl ScanPlan {
    /// Returns the attributes of stored entries that the sink and the filters need.
    #[doc(hidden)]
    pub fn stored_fields(&self, sink: &impl Sink) -> FieldMask {
        let mut want = sink.want();
        self.filter.iter().for_each(|filter| filter.add_wanted(&mut want));
        want.entries | want.opportunistic | want.directories | want.opened
    }

    /// Delivers stored entries to a sink, as a walk of their tree would, on the caller's thread and in the
    /// order of `rows`. Between two batches of a directory come those of its subdirectories: a
    /// [`TableSink`](crate::table::TableSink), which collects one directory at a time, cannot receive them.
    /// Memory does not grow with the number of rows.
    ///
    /// Filters, depths and the request to stop apply. Other options choose how a tree is read, and do not.
    /// [`Filters::empty`](crate::Filters::empty) delivers directories without entries, if they were read
    /// completely. The rows must have the attributes that the sink and the filters need.
    ///
    /// The sink receives no errors of the walk that stored the tree. Returns the sink, and the error of `rows`
    /// if one ended the delivery.
    ///
    /// # Errors
    /// A filter reads files ([`Error::FilterReadsFiles`]).
    #[doc(hidden)]
    pub fn run_on<R: StoredRows, S: Sink>(
        &self,
        rows: R,
        sink: S,
    ) -> Result<(S, Result<(), R::Error>), Error> {
        let filter = self.filter.as_ref();
        if let Some(name) = filter.and_then(|filter| filter.reads_files()) {
            return Err(Error::FilterReadsFiles(name));
        }
        let delivery = Delivery {
            plan: self,
            rows,
            fields: self.stored_fields(&sink),
            sink,
            batch: Batch::new(),
            relative: PathBuf::new(),
            is_stopped: false,
        };
        Ok(delivery.run())
    }
}

struct Delivery<'d, R, S> {
    plan: &'d ScanPlan,
    rows: R,
    fields: FieldMask,
    sink: S,
    /// Entries of the innermost open directory. At most one is a directory itself: the last one, which is the
    /// current row.
    batch: Batch,
    /// The path of a directory below its root; maintained only if a filter needs it.
    relative: PathBuf,
    is_stopped: bool,
}

/// The directories from the top to the innermost open one.
type Open = Vec<Arc<Dir>>;

impl<R: StoredRows, S: Sink> Delivery<'_, R, S> {
    fn run(mut self) -> (S, Result<(), R::Error>) {
        let mut open = vec![enter_top(&mut self.sink)];
        let end = self.deliver_all(&mut open);
        self.leave_all(&mut open, 0);
        (self.sink, end)
    }

    fn deliver_all(&mut self, open: &mut Open) -> Result<(), R::Error> {
        let mut enters = true;
        while !self.is_stopped
            && !self.plan.options.cancel.is_cancelled()
            && self.rows.advance(enters)?
        {
            self.leave_all(open, self.rows.depth() + 1);
            let attributes = self.rows.attributes(self.fields);
            let is_directory = attributes.file_type() == FileType::Directory;
            self.batch.push(self.rows.name(), attributes);
            enters = is_directory && self.deliver_directory(open);
            if self.batch.len() >= MAX_BATCH {
                self.deliver(innermost(open));
            }
        }
        Ok(())
    }

    /// Delivers the batch, whose last entry is a directory, and enters that. Returns false if it is not to be
    /// entered.
    fn deliver_directory(&mut self, open: &mut Open) -> bool {
        let dir = Arc::clone(innermost(open));
        let attributes = self.rows.attributes(self.fields);
        let verdict = self.deliver(&dir);
        if verdict == Verdict::Drop {
            return false;
        }
        if dir.entry_depth() >= self.plan.max_depth {
            let omission = Omission::of_entry(self.rows.name(), SkipReason::MaxDepth);
            self.is_stopped |= self.sink.omit(&dir, omission) == Flow::Quit;
            return false;
        }
        if verdict == Verdict::Prune || self.is_stopped {
            return false;
        }
        let name = self.rows.name();
        let listed = verdict != Verdict::DescendOnly;
        let entering = Entering { parent: Some(&dir), name, attributes: &attributes, listed };
        let tag = self.sink.enter(entering);
        open.push(Dir::new(Some(dir), name.into(), DirContext::default(), tag));
        true
    }

    /// Delivers the batch, and returns the verdict on the directory in it.
    fn deliver(&mut self, dir: &Arc<Dir>) -> Verdict {
        self.judge(dir);
        match self.sink.visit(Visit { dir, batch: &self.batch, follow: false, is_last: true }) {
            Flow::Continue => {}
            Flow::Skip => prune(&mut self.sink, dir, &mut self.batch),
            Flow::Quit => self.is_stopped = true,
        }
        let directory = self.batch.directories().next();
        let verdict = directory.map_or(Verdict::Drop, |directory| directory.verdict);
        self.batch.clear();
        verdict
    }

    fn judge(&mut self, dir: &Dir) {
        let Self { plan, rows, sink, batch, relative, is_stopped, .. } = self;
        *is_stopped |= judge(plan, sink, dir, relative, batch) == Flow::Quit;
        let Some(filter) = &plan.filter else { return };
        batch.judge(|entry| {
            let verdict = filter.judge_attributes(entry);
            match entry.file_type() {
                FileType::Directory if filter.empty && !rows.is_empty_directory() => {
                    filter::without(verdict)
                }
                _ => verdict,
            }
        });
    }

    /// Delivers what is left of the innermost directory, and leaves directories until `left` are open.
    fn leave_all(&mut self, open: &mut Open, left: usize) {
        while open.len() > left {
            if !self.batch.is_empty() {
                self.deliver(innermost(open));
            }
            open.pop().into_iter().for_each(|dir| self.sink.leave(&dir));
        }
    }
}

fn innermost(open: &[Arc<Dir>]) -> &Arc<Dir> {
    open.last().expect("BUG: the top is open to the end")
}
