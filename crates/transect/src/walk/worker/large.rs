//! A large directory, read with the help of threads that have nothing else to do.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use transect_sys::{Attributes, Batch, FileType, ListStatus, Reader, Want};

use super::{Listed, Reading, TaskOf, Worker};
use crate::walk::device_wait::DeviceWait;
use crate::walk::helpers::{Helpers, PendingBatch, PendingBatches};
use crate::walk::task::Tasks;

/// The fewest entries of a batch to be queried that are worth sharing.
const MIN_QUERIES: usize = 256;

/// Batches that are listed ahead, besides one for each thread, so that a thread that becomes free
/// finds one.
const AHEAD: usize = 2;

impl<R: Reader> Worker<'_, R> {
    /// As [`Self::visit`]; threads that have nothing else to do help with a large directory.
    pub(in crate::walk) fn visit_with(
        &mut self,
        helpers: &impl Helpers<R::Handle>,
        task: TaskOf<R>,
        children: &mut Tasks<R>,
    ) -> u32 {
        let large = self.visit_until_shared(task, children, || helpers.are_free(), |_| ());
        if let Some(reading) = large {
            self.visit_shared(helpers, reading, children);
        }
        self.report_progress()
    }

    /// As [`Self::visit`], unless the directory is large and `may_share` returns true: then returns
    /// it for [`Self::visit_shared`]. Calls `on_listed` with the number of entries of each listing call, before they are
    /// queried.
    pub(in crate::walk) fn visit_until_shared(
        &mut self,
        task: TaskOf<R>,
        children: &mut Tasks<R>,
        may_share: impl Fn() -> bool,
        mut on_listed: impl FnMut(usize),
    ) -> Option<Reading<R>> {
        let first = children.len();
        let mut reading = self.begin(task)?;
        while let Some((status, is_judged)) = self.next_listed(&mut reading) {
            on_listed(self.batch.len());
            if status == ListStatus::More && self.is_worth_sharing(&reading.handle) && may_share() {
                let batch = std::mem::take(&mut self.batch);
                reading.ahead.insert(0, Listed { batch, status, is_judged });
                return Some(reading);
            }
            if self.read_listed(&mut reading, status, is_judged, children) == ListStatus::End {
                break;
            }
        }
        self.finish(reading, &mut children[first..]);
        None
    }

    /// Returns whether the listed batch has enough entries to be queried.
    fn is_worth_sharing(&self, handle: &R::Handle) -> bool {
        let queried = self.batch.attributes().filter(|it| is_queried(it, &self.shared.want));
        R::shares_queries(handle) && queried.count() >= MIN_QUERIES
    }

    /// Reads the rest of a directory, some of which is listed, together with other threads.
    /// `children` are the directories found in it so far, and no others.
    pub(in crate::walk) fn visit_shared(
        &mut self,
        helpers: &impl Helpers<R::Handle>,
        reading: Reading<R>,
        children: &mut Tasks<R>,
    ) {
        let shared = self.shared;
        let Reading { dir, handle, above, ahead: listed, mut links } = reading;
        let mut ahead = ListedAhead::new(handle, helpers.pending());
        let mut waits = DeviceWait::default();
        let mut more = true;
        for Listed { mut batch, status, is_judged } in listed {
            ahead.push(&mut batch, is_judged);
            more = status == ListStatus::More;
        }
        if helpers.pending().len() > 1 {
            helpers.call(waits.take_proof());
        }
        while (more || !ahead.batches.is_empty()) && !shared.is_stopped() {
            if let Some((batch, is_judged)) = ahead.take_filled() {
                self.batch = batch;
                self.complete(&dir, &ahead.handle, (is_judged, false), children, &mut links);
                ahead.spare.push(std::mem::take(&mut self.batch));
            } else if more && ahead.batches.len() < helpers.threads() + AHEAD {
                self.batch = ahead.empty_batch();
                let listing = self.list(&dir, &ahead.handle);
                if let Some(listing) = listing {
                    let is_judged = self.prepare(&dir, &ahead.handle, listing);
                    ahead.push(&mut self.batch, is_judged);
                }
                more = listing == Some(ListStatus::More);
                // This thread queries one of them.
                if helpers.pending().len() > 1 {
                    helpers.call(waits.take_proof());
                }
            } else if let Some(batch) = ahead.take_back() {
                let entries = batch.len() as u32;
                let began = Instant::now();
                batch.finish(|handle, batch| self.reader.fill(handle, batch, &shared.want));
                waits.add(entries, began.elapsed(), helpers.threads());
            } else {
                ahead.wait();
            }
        }
        self.batch = ahead.empty_batch();
        let handle = ahead.close();
        let reading = Reading { dir, handle, above, ahead: Vec::new(), links };
        self.finish(reading, children);
    }

    /// Queries the attributes of a batch that another thread listed.
    pub(in crate::walk) fn help(&mut self, batch: PendingBatch<R::Handle>) {
        let Self { reader, shared, .. } = self;
        if !shared.is_stopped() {
            batch.finish(|handle, batch| reader.fill(handle, batch, &shared.want));
        }
    }
}

/// Returns whether the listing lacks wanted ones of the attributes of an entry.
fn is_queried(attributes: &Attributes, want: &Want) -> bool {
    let wanted = match attributes.file_type() {
        FileType::Unknown => return true,
        FileType::Directory => want.directories,
        _ => want.entries,
    };
    !attributes.known().contains(wanted)
}

/// The batches of a large directory that were listed and not delivered.
struct ListedAhead<'w, H> {
    handle: Arc<H>,
    pending: &'w PendingBatches<H>,
    /// Oldest first.
    batches: VecDeque<Queried>,
    /// The number of the oldest.
    first: usize,
    back: Sender<(usize, Batch)>,
    filled: Receiver<(usize, Batch)>,
    /// Delivered ones, whose memory is used again.
    spare: Vec<Batch>,
}

/// A batch that was listed; `None` while its attributes are queried.
struct Queried {
    filled: Option<Batch>,
    is_judged: bool,
}

impl<'w, H> ListedAhead<'w, H> {
    fn new(handle: H, pending: &'w PendingBatches<H>) -> Self {
        let (back, filled) = channel();
        Self {
            handle: Arc::new(handle),
            pending,
            batches: VecDeque::new(),
            first: 0,
            back,
            filled,
            spare: Vec::new(),
        }
    }

    /// Takes a listed batch, and offers it to all threads.
    fn push(&mut self, batch: &mut Batch, is_judged: bool) {
        let (number, batch) = (self.first + self.batches.len(), std::mem::take(batch));
        self.batches.push_back(Queried { filled: None, is_judged });
        self.pending.push(PendingBatch::new(batch, number, &self.handle, &self.back));
    }

    /// Takes back the oldest batch that no thread has begun.
    fn take_back(&self) -> Option<PendingBatch<H>> {
        self.pending.take_of(&self.handle)
    }

    /// Removes and returns the oldest batch if its attributes were queried, and whether it was judged.
    fn take_filled(&mut self) -> Option<(Batch, bool)> {
        while let Ok(filled) = self.filled.try_recv() {
            self.store(filled);
        }
        let Queried { filled, is_judged } = self.batches.front_mut()?;
        let taken = (filled.take()?, *is_judged);
        self.batches.pop_front();
        self.first += 1;
        Some(taken)
    }

    /// Waits until another thread has finished a batch.
    fn wait(&mut self) {
        let filled = self.filled.recv().expect("BUG: this thread has a sender, too");
        self.store(filled);
    }

    fn store(&mut self, (number, batch): (usize, Batch)) {
        self.batches[number - self.first].filled = Some(batch);
    }

    fn empty_batch(&mut self) -> Batch {
        self.spare.pop().unwrap_or_default()
    }

    /// Waits until no thread works on the directory, and returns its handle. Drops the batches that are
    /// left after the walk was stopped.
    fn close(mut self) -> H {
        while let Some(batch) = self.take_back() {
            drop(batch);
        }
        while self.batches.iter().any(|listed| listed.filled.is_none()) {
            self.wait();
        }
        Arc::into_inner(self.handle).expect("BUG: every batch is back, without its handle")
    }
}
