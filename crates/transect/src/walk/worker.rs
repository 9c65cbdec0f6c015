//! One worker reads one directory: enter, list, judge, fill, deliver.

mod enter;
mod large;
mod links;
mod missing;
mod probe;
mod prober;
mod top;

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use transect_sys::{Attributes, Batch, Fault, FieldMask, FileType, ListStatus, Reader, Verdict};

use crate::dir::Dir;
use crate::error::{Operation, ScanError};
use crate::progress::ProgressCounts;
use crate::sink::{Flow, Omission, Sink, SkipReason, Visit};
use crate::walk::judge::{judge, prune};
use crate::walk::shared::{DeferredLink, WalkShared};
use crate::walk::task::{Anchor, Task, TaskFlags, TaskOf, Tasks};

pub(super) use prober::Prober;

/// One thread's share of a walk: a reader, a sink, and buffers reused for every directory.
pub(super) struct Worker<'w, R: Reader> {
    shared: &'w WalkShared<R>,
    id: usize,
    reader: R,
    /// For filters that look into directories and at the targets of links.
    prober: Option<Prober<R>>,
    sink: &'w mut dyn Sink,
    batch: Batch,
    /// Path below the root of the directory being judged; maintained only if a filter needs paths.
    relative: PathBuf,
    counts: ProgressCounts,
    bytes_reported: u64,
}

/// Calls a function with the worker of another thread, which has this number.
pub(super) type WithWorker<'a, R> = dyn Fn(usize, &mut dyn FnMut(&mut Worker<'_, R>)) + Sync + 'a;

/// A directory that has been entered; without a handle if it is not to be read.
struct EnteredDir<R: Reader> {
    dir: Arc<Dir>,
    handle: Option<R::Handle>,
}

/// A worker between two steps: without the references to its sink and the shared state, so that all can be
/// stored side by side.
pub(super) struct PausedWorker<R: Reader> {
    reader: R,
    prober: Option<Prober<R>>,
    batch: Batch,
}

impl<R: Reader> PausedWorker<R> {
    /// Continues as the first worker of a walk.
    pub(super) fn resume<'w>(
        self,
        shared: &'w WalkShared<R>,
        sink: &'w mut dyn Sink,
    ) -> Worker<'w, R> {
        let Self { reader, prober, batch } = self;
        Worker { batch, ..Worker::new(shared, 0, (reader, prober), sink) }
    }
}

/// A directory that is being read.
pub(super) struct Reading<R: Reader> {
    dir: Arc<Dir>,
    handle: R::Handle,
    /// The nearest open directory above it.
    above: Option<Arc<Anchor<R::Handle>>>,
    /// Entries that were listed and not queried, oldest first.
    ahead: Vec<Listed>,
    /// The links to directories found so far.
    links: Vec<DeferredLink<R::Handle>>,
}

/// Entries of a directory that were listed.
struct Listed {
    batch: Batch,
    status: ListStatus,
    /// They were judged by name and type.
    is_judged: bool,
}

impl<'w, R: Reader> Worker<'w, R> {
    pub(super) fn new(
        shared: &'w WalkShared<R>,
        id: usize,
        (reader, prober): (R, Option<Prober<R>>),
        sink: &'w mut dyn Sink,
    ) -> Self {
        let bytes_reported = sink.bytes();
        Self {
            shared,
            id,
            reader,
            prober,
            sink,
            batch: Batch::new(),
            relative: PathBuf::new(),
            counts: ProgressCounts::default(),
            bytes_reported,
        }
    }

    /// Gives up the references to the sink and the shared state, until [`PausedWorker::resume`].
    pub(super) fn pause(self) -> PausedWorker<R> {
        let Self { reader, prober, batch, .. } = self;
        PausedWorker { reader, prober, batch }
    }

    /// Returns how long the sink waited since the last call.
    pub(super) fn take_sink_wait(&mut self) -> Duration {
        self.sink.take_wait()
    }

    /// Reads one directory, appends the directories in it to `children`, and returns the number of
    /// its entries.
    ///
    /// After the walk was stopped, nothing is read, but every directory is still finished, so that
    /// the counts below it reach the top.
    pub(super) fn visit(&mut self, task: TaskOf<R>, children: &mut Tasks<R>) -> u32 {
        let first = children.len();
        if let Some(mut reading) = self.begin(task) {
            while self.read_batch(&mut reading, children) == ListStatus::More {}
            self.finish(reading, &mut children[first..]);
        }
        self.report_progress()
    }

    /// Enters a directory. Returns `None`, and finishes it, if it is not to be read.
    ///
    /// Always inline, as the steps below: they are called in two or three places, and as separate
    /// functions they took 150 instructions more a directory (callgrind).
    #[inline(always)]
    pub(super) fn begin(&mut self, mut task: TaskOf<R>) -> Option<Reading<R>> {
        let entered = if self.shared.is_stopped() { None } else { self.enter(&mut task) };
        let Some(EnteredDir { dir, handle }) = entered else {
            self.release(task.parent);
            return None;
        };
        let Some(handle) = handle else {
            self.release(dir);
            return None;
        };
        if self.shared.is_left_over() && is_reachable(&dir) {
            self.omit(&dir, SkipReason::LeftOver);
            self.release(dir);
            return None;
        }
        if let Some(progress) = &self.shared.plan.progress {
            progress.at(|| dir.path());
        }
        let (above, ahead, links) = (task.anchor, Vec::new(), Vec::new());
        let mut reading = Reading { dir, handle, above, ahead, links };
        if let Some(limit) =
            self.shared.plan.options.work_limit.and_then(|it| it.entries_of_directory)
            && is_reachable(&reading.dir)
            && R::shares_queries(&reading.handle)
            && !self.list_ahead(&mut reading, limit)
        {
            self.omit(&reading.dir, SkipReason::LargeDirectory);
            self.release(reading.dir);
            return None;
        }
        Some(reading)
    }

    /// Lists all entries of a directory. Returns false if there are more than `limit`.
    #[cold]
    fn list_ahead(&mut self, reading: &mut Reading<R>, limit: u64) -> bool {
        let mut entries = 0;
        loop {
            let listed = self.list(&reading.dir, &reading.handle);
            let status = listed.unwrap_or(ListStatus::End);
            if listed.is_none() {
                self.batch.clear();
            }
            let is_judged = self.prepare(&reading.dir, &reading.handle, status);
            entries += self.batch.len() as u64;
            if entries > limit {
                return false;
            }
            let batch = std::mem::take(&mut self.batch);
            reading.ahead.push(Listed { batch, status, is_judged });
            if status == ListStatus::End {
                return true;
            }
        }
    }

    /// Finishes one part of a directory's work, and leaves every directory that this completes.
    pub(super) fn release(&mut self, dir: Arc<Dir>) {
        // The directory holds those above it, so no count of references has to change.
        let mut next = Some(&dir);
        while let Some(dir) = next.filter(|dir| dir.release_pending()) {
            self.report_missing(dir);
            self.sink.leave(dir);
            next = dir.parent();
        }
    }

    /// Reads and delivers the next entries of a directory, and appends the directories among them to
    /// `children`.
    pub(super) fn read_batch(
        &mut self,
        reading: &mut Reading<R>,
        children: &mut Tasks<R>,
    ) -> ListStatus {
        match self.next_listed(reading) {
            Some((status, is_judged)) => self.read_listed(reading, status, is_judged, children),
            None => ListStatus::End,
        }
    }

    /// Takes the entries that were listed ahead, or lists the next ones and judges them by name and type, if
    /// that is possible; `None` after an error.
    #[inline(always)]
    fn next_listed(&mut self, reading: &mut Reading<R>) -> Option<(ListStatus, bool)> {
        if !reading.ahead.is_empty() {
            let Listed { batch, status, is_judged } = reading.ahead.remove(0);
            self.batch = batch;
            return Some((status, is_judged));
        }
        let status = self.list(&reading.dir, &reading.handle)?;
        Some((status, self.prepare(&reading.dir, &reading.handle, status)))
    }

    /// Lists the next entries of a directory; `None` after an error.
    #[inline(always)]
    fn list(&mut self, dir: &Arc<Dir>, handle: &R::Handle) -> Option<ListStatus> {
        match self.reader.list(handle, &mut self.batch, &self.shared.want) {
            Ok(listing) => Some(listing),
            Err(Fault::Vanished) => {
                self.report_unlistable(dir);
                None
            }
            Err(Fault::Failed(error)) => {
                let depth = dir.entry_depth() - 1;
                self.error(dir, Operation::ReadDirectory, dir.path(), depth, error);
                None
            }
        }
    }

    /// Queries and delivers the listed entries. Returns `End` if the walk was stopped.
    #[inline(always)]
    fn read_listed(
        &mut self,
        reading: &mut Reading<R>,
        listing: ListStatus,
        is_judged: bool,
        children: &mut Tasks<R>,
    ) -> ListStatus {
        let Reading { dir, handle, links, .. } = reading;
        self.reader.fill(handle, &mut self.batch, &self.shared.want);
        let is_last = listing == ListStatus::End;
        self.complete(dir, handle, (is_judged, is_last), children, links);
        if self.shared.is_stopped() { ListStatus::End } else { listing }
    }

    /// Judges the listed entries by name and type. Returns false, and leaves it to
    /// [`Self::complete`], if their attributes must be queried first.
    #[inline(always)]
    fn prepare(&mut self, dir: &Arc<Dir>, handle: &R::Handle, listing: ListStatus) -> bool {
        self.load_ignore_rules(dir, listing);
        let is_judged = !self.must_ask_first();
        if is_judged {
            self.judge(dir, handle);
        }
        is_judged
    }

    /// Delivers the entries whose attributes were queried, and collects the directories among them.
    #[inline(always)]
    fn complete(
        &mut self,
        dir: &Arc<Dir>,
        handle: &R::Handle,
        (is_judged, is_last): (bool, bool),
        children: &mut Tasks<R>,
        links: &mut Vec<DeferredLink<R::Handle>>,
    ) {
        self.report_faults(dir);
        if !is_judged {
            self.judge(dir, handle);
        }
        self.judge_attributes();
        self.judge_contents(dir, Some(handle));
        self.deliver(dir, is_last);
        self.collect(dir, children, links);
    }

    /// Finishes a directory that was read, except for `children`, the directories in it.
    pub(super) fn finish(&mut self, reading: Reading<R>, children: &mut [TaskOf<R>]) {
        let Reading { dir, handle, above, links, .. } = reading;
        if children.is_empty() && links.is_empty() {
            drop(handle);
            self.release(dir);
            return;
        }
        let anchor = self.keep_open(handle, dir.entry_depth()).or(above);
        dir.hand_over(children.len() + links.len());
        for child in children {
            child.anchor.clone_from(&anchor);
        }
        for mut link in links {
            link.task.anchor.clone_from(&anchor);
            self.shared.defer(link);
        }
    }

    /// Keeps a directory open for those in it, or closes it if the budget is spent.
    fn keep_open(&self, handle: R::Handle, entry_depth: u32) -> Option<Arc<Anchor<R::Handle>>> {
        let permit = self.shared.budget.take()?;
        Some(Arc::new(Anchor { handle, entry_depth, _permit: permit }))
    }

    /// Loads the rules of a directory after its first listing call. If the first call
    /// lists the whole directory, it shows whether there are any.
    fn load_ignore_rules(&mut self, dir: &Arc<Dir>, listing: ListStatus) {
        let filter = self.shared.plan.filter.as_ref();
        let Some(filter) = filter.filter(|it| it.rules_files.are_used()) else { return };
        if dir.ignore_rules.get().is_some() {
            return;
        }
        let has_rules_file = || self.batch.entries().any(|it| filter.rules_files.may_be(it.name));
        let holds_rules = listing == ListStatus::More || has_rules_file();
        let (ignore_rules, error) = filter.load_rules(dir, holds_rules);
        dir.ignore_rules.set(ignore_rules).expect("BUG: one thread lists a directory");
        if let Some(error) = error {
            self.error(dir, Operation::ReadRules, dir.path(), dir.entry_depth(), error);
        }
    }

    /// Returns whether a filter or the sink needs more than the listing contains: whether an entry is a
    /// directory, or the target of a followed link.
    fn must_ask_first(&self) -> bool {
        let plan = &self.shared.plan;
        (plan.filter.is_some() || plan.options.entry_filter.is_some())
            && self.batch.attributes().any(|attributes| match attributes.file_type() {
                FileType::Unknown => true,
                FileType::Symlink => plan.options.follow_links,
                _ => false,
            })
    }

    /// Drops entries by name and type, before their attributes are queried.
    fn judge(&mut self, dir: &Arc<Dir>, handle: &R::Handle) {
        let Self { shared, sink, batch, relative, .. } = self;
        shared.obey(judge(&shared.plan, *sink, dir, relative, batch));
        if shared.roots.has_several()
            && batch.entries().any(|entry| shared.roots.may_contain(entry.name))
        {
            self.drop_roots(dir, handle);
        }
    }

    fn judge_attributes(&mut self) {
        let filter = self.shared.plan.filter.as_ref();
        if let Some(filter) = filter.filter(|filter| filter.has_conditions()) {
            self.batch.judge(|entry| filter.judge_attributes(entry));
        }
    }

    /// Drops entries that are roots themselves, and counted there. The identity of the directory
    /// decides, not its path; this is rare enough for a system call.
    fn drop_roots(&mut self, dir: &Arc<Dir>, handle: &R::Handle) {
        let here = OsStr::new(".");
        let id = self
            .reader
            .stat(handle, &[here], FieldMask::FILE_ID, false)
            .ok()
            .and_then(|attributes| attributes.file_id());
        let Self { shared, sink, batch, .. } = self;
        batch.judge(|entry| {
            if shared.roots.may_contain(entry.name) && shared.roots.contains_entry(id, entry.name) {
                shared.obey(
                    sink.omit(dir, Omission::of_entry(entry.name, SkipReason::OverlappingRoot)),
                );
                return Verdict::Drop;
            }
            entry.verdict
        });
    }

    /// Reports queries that failed, and removes entries that are gone.
    fn report_faults(&mut self, dir: &Arc<Dir>) {
        let Self { shared, sink, batch, counts, .. } = self;
        batch.drain_faults(|name, file_type, fault| match fault {
            Fault::Vanished => dir.note_missing(name, file_type),
            Fault::Failed(error) => {
                counts.errors += 1;
                let path = dir.path_of(name);
                let error = ScanError::new(Operation::Stat, path, dir.entry_depth(), error);
                shared.obey(sink.omit(dir, error.into()));
            }
        });
    }

    fn deliver(&mut self, dir: &Arc<Dir>, is_last: bool) {
        self.counts.entries += self.batch.len() as u64;
        self.shared.count(self.batch.len());
        let follow = self.shared.plan.options.follow_links;
        let visit = Visit { dir, batch: &self.batch, follow, is_last };
        match self.sink.visit(visit) {
            Flow::Continue => {}
            Flow::Skip => prune(self.sink, dir, &mut self.batch),
            Flow::Quit => self.shared.quit(),
        }
    }

    /// Makes tasks of the directories in the batch.
    fn collect(
        &mut self,
        dir: &Arc<Dir>,
        children: &mut Tasks<R>,
        links: &mut Vec<DeferredLink<R::Handle>>,
    ) {
        for entry in self.batch.directories().filter(|it| it.verdict != Verdict::Drop) {
            let unread = self.unread_reason(dir, entry.attributes);
            if let Some(reason) = unread {
                self.shared.obey(self.sink.omit(dir, Omission::of_entry(entry.name, reason)));
            }
            let flags = TaskFlags {
                read: unread.is_none() && entry.verdict != Verdict::Prune,
                listed: entry.verdict != Verdict::DescendOnly,
                followed: entry.followed,
            };
            let name = entry.name.into();
            let task = Task { parent: Arc::clone(dir), anchor: None, name, flags };
            let target = entry.attributes.file_id();
            match entry.followed {
                true if !self.shared.plan.options.every_link => {
                    links.push(DeferredLink { task, target })
                }
                true if SkipReason::for_revisit(dir, target) == SkipReason::Loop => {
                    self.shared.obey(
                        self.sink.omit(dir, Omission::of_entry(entry.name, SkipReason::Loop)),
                    );
                }
                _ => children.push(task),
            }
        }
    }

    /// Returns why a directory among the entries of `dir` is not read; `None` if it is.
    fn unread_reason(&self, dir: &Arc<Dir>, attributes: &Attributes) -> Option<SkipReason> {
        match dir.entry_depth() >= self.shared.plan.max_depth {
            true => Some(SkipReason::MaxDepth),
            false if self.shared.plan.options.follow_links => None,
            false => attributes.is_placeholder().then_some(SkipReason::Placeholder),
        }
    }

    fn report_stat_fault(&mut self, dir: &Arc<Dir>, name: &OsStr, fault: Fault) {
        match fault {
            Fault::Vanished => self.note_missing(dir, name, FileType::Unknown),
            Fault::Failed(error) => {
                self.error(dir, Operation::Stat, dir.path_of(name), dir.entry_depth(), error);
            }
        }
    }

    fn error(
        &mut self,
        dir: &Arc<Dir>,
        operation: Operation,
        path: PathBuf,
        depth: u32,
        source: io::Error,
    ) {
        self.counts.errors += 1;
        self.omit(dir, ScanError::new(operation, path, depth, source));
    }

    pub(super) fn omit<'o>(&mut self, dir: &Arc<Dir>, omission: impl Into<Omission<'o>>) {
        self.shared.obey(self.sink.omit(dir, omission.into()));
    }

    /// Adds the counts since the last call to the progress, if it is wanted; returns the number of entries.
    pub(super) fn report_progress(&mut self) -> u32 {
        let mut counts = std::mem::take(&mut self.counts);
        if let Some(progress) = &self.shared.plan.progress {
            let bytes = self.sink.bytes();
            counts.bytes = bytes - self.bytes_reported;
            self.bytes_reported = bytes;
            progress.add(self.id, counts);
        }
        u32::try_from(counts.entries).unwrap_or(u32::MAX)
    }
}

/// The maximum length of the path of a directory that is left over, in bytes: system calls take 4,096.
const MAX_LEFT_OVER_PATH: usize = 3072;

/// Returns whether a directory can be the root of another walk.
fn is_reachable(dir: &Dir) -> bool {
    dir.path().as_os_str().len() <= MAX_LEFT_OVER_PATH
}
