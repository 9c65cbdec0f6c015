//! A walk in steps on the caller's thread, which can be continued on several threads.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::sync::Arc;

use transect_sys::{ListStatus, Reader};

use super::shared::WalkShared;
use super::task::{Task, Tasks};
use super::worker::{PausedWorker, Reading, Worker};
use super::{finish, merged, prober};
use crate::dir::Dir;
use crate::error::Error;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::sibling_order::SiblingOrder;
use crate::sink::Sink;

/// A walk that was begun, between two steps.
pub(crate) struct SteppedWalk<R: Reader, S: Sink> {
    shared: Arc<WalkShared<R>>,
    sink: S,
    /// `None` during a step, and after a panic in one.
    worker: Option<PausedWorker<R>>,
    top: Arc<Dir>,
    /// The directory that is being read, and the directories found in it so far.
    reading: Option<Reading<R>>,
    children: Tasks<R>,
    tasks: VecDeque<Task<R::Handle>>,
    breadth_first: bool,
    /// In which order the directories of a directory are read, if in a certain one.
    order: Option<SiblingOrder>,
}

/// Whether a walk has more steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Some entries of a directory were read; there are more.
    Inside,
    /// A directory is finished.
    BetweenDirectories,
    /// The walk is finished.
    End,
}

/// Stops a walk that runs on other threads.
pub(crate) struct Stopper<R: Reader>(Arc<WalkShared<R>>);

impl<R: Reader> Stopper<R> {
    pub(crate) fn stop(&self) {
        self.0.quit();
    }
}

impl<R: Reader, S: Sink> SteppedWalk<R, S> {
    /// Begins a walk: delivers the roots to the sink.
    pub(crate) fn begin(plan: &ScanPlan, mut sink: S, make_reader: &dyn Fn() -> R) -> Self {
        let mut reader = make_reader();
        let shared = Arc::new(WalkShared::new(plan, sink.want(), &mut reader));
        let readers = (reader, prober(plan, make_reader));
        let mut worker = Worker::new(&shared, 0, readers, &mut sink);
        let (top, mut tasks) = worker.visit_roots();
        worker.report_progress();
        let order = plan.options.sorts_by();
        if let Some(order) = &order {
            sort_last_first(&mut tasks, order);
        }
        let worker = Some(worker.pause());
        let breadth_first = order.is_none() && matches!(plan.order, Order::Queue | Order::Array);
        let (reading, children) = (None, Vec::new());
        let tasks = tasks.into();
        Self { shared, sink, worker, top, reading, children, tasks, breadth_first, order }
    }

    /// Reads and delivers the next entries: one batch of one directory.
    pub(crate) fn step(&mut self) -> Step {
        // After a panic in a sink there is nothing to continue with.
        let Some(worker) = self.worker.take() else { return Step::End };
        let mut worker = worker.resume(&self.shared, &mut self.sink);
        let step = match self.reading.take() {
            Some(mut reading) => match worker.read_batch(&mut reading, &mut self.children) {
                ListStatus::More => {
                    self.reading = Some(reading);
                    Step::Inside
                }
                ListStatus::End => {
                    worker.finish(reading, &mut self.children);
                    if let Some(order) = &self.order {
                        sort_last_first(&mut self.children, order);
                    }
                    self.tasks.extend(self.children.drain(..));
                    Step::BetweenDirectories
                }
            },
            None => {
                if self.tasks.is_empty() {
                    self.tasks = worker.take_links().into();
                }
                let next = match self.breadth_first {
                    true => self.tasks.pop_front(),
                    false => self.tasks.pop_back(),
                };
                match next.map(|task| worker.begin(task)) {
                    Some(Some(reading)) => {
                        self.reading = Some(reading);
                        Step::Inside
                    }
                    Some(None) => Step::BetweenDirectories,
                    None => {
                        worker.release(Arc::clone(&self.top));
                        Step::End
                    }
                }
            }
        };
        worker.report_progress();
        self.worker = Some(worker.pause());
        step
    }

    /// Returns the name of the entry of `dir` that is the directory to be read next, or that leads to it.
    pub(crate) fn next_below(&self, dir: &Dir) -> Option<&OsStr> {
        let next = self.tasks.back()?;
        let (mut name, mut parent) = (&*next.name, &next.parent);
        while !std::ptr::eq(&raw const **parent, dir) {
            name = parent.name();
            parent = parent.parent()?;
        }
        Some(name)
    }

    /// Returns whether there is work for several threads, and the plan allows them. To be called
    /// between directories.
    pub(crate) fn can_use_threads(&self) -> bool {
        let plan = &self.shared.plan;
        self.tasks.len() > 1 && plan.order.is_parallel() && plan.threads.limits().network > 1
    }

    /// Returns the sink; `None` after a panic in it.
    pub(crate) fn sink(&mut self) -> Option<&mut S> {
        self.worker.is_some().then_some(&mut self.sink)
    }

    pub(crate) fn stopper(&self) -> Stopper<R> {
        Stopper(Arc::clone(&self.shared))
    }

    /// Runs the rest of the walk in the plan's order. Must be called between directories.
    pub(crate) fn run_to_end(
        self,
        make_sink: &(impl Fn() -> S + Sync),
        make_reader: &(dyn Fn() -> R + Sync),
    ) -> Result<S, Error> {
        let Self { shared, sink, worker, top, tasks, .. } = self;
        let worker = worker.expect("BUG: a walk goes on after a panic");
        let (sink, _) = merged(sink, make_sink, |first, with_sink| {
            let worker = worker.resume(&shared, first);
            finish(&shared, worker, top, tasks.into(), with_sink, make_reader)
        })?;
        Ok(sink)
    }
}

/// Sorts directories in one directory, the first one last: the last one is read next.
fn sort_last_first<H>(directories: &mut [Task<H>], order: &SiblingOrder) {
    directories.sort_unstable_by(|a, b| order.compare(&a.parent, &b.name, &a.name));
}
