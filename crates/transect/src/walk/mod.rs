//! The walk: which directory is read next, and on which thread.
//!
//! ```text
//!             ┌──────────── task: a directory to read ─────────────┐
//!             ▼                                                    │
//!   order ─► Worker::visit ─► open ─► list ─► judge ─► fill ─► sink │
//!             │               (relative to the parent's handle)    │
//!             └──► the directories found: more tasks ──────────────┘
//! ```
//!
//! While threads have nothing to do, [`helpers`] lets them query the entries of a large directory that
//! another one lists.
//!
//! [`stepped`] begins a walk on the caller's thread, one batch at a time, for iterators.
//!
//! [`stored`] delivers a tree that was read before.
//!
//! [`worker`] reads one directory, independently of all others. The orders (`sequential`,
//! `recursive`, `futures`, `shared_queue`, `stealing`) differ only in how they schedule the tasks
//! that a directory yields. All orders produce the same result.

mod budget;
mod device_wait;
mod futures;
mod helpers;
mod mounts;
mod recursive;
mod roots;
mod sequential;
mod shared;
mod shared_queue;
mod spare_work;
mod stealing;
mod stepped;
mod stored;
mod task;
mod worker;

use std::sync::Arc;

use transect_sys::Reader;

use crate::dir::Dir;
use crate::error::Error;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::sink::Sink;

use shared::WalkShared;
use task::Tasks;
use worker::{Prober, Worker};

pub(crate) use stepped::{Step, SteppedWalk, Stopper};
pub use stored::StoredRows;

/// The result of a walk.
pub(crate) struct WalkResult<S> {
    /// The merged sink.
    pub(crate) sink: S,
    /// The number of distinct roots.
    pub(crate) roots: usize,
    /// The number of threads that took part.
    pub(crate) threads: usize,
}

/// Runs a plan.
pub(crate) fn walk<R: Reader, S: Sink>(
    plan: &ScanPlan,
    make_sink: &(impl Fn() -> S + Sync),
    make_reader: &(impl Fn() -> R + Sync),
) -> Result<WalkResult<S>, Error> {
    let mut reader = make_reader();
    let sink = make_sink();
    let shared = WalkShared::new(plan, sink.want(), &mut reader);
    let prober = plan.probes().then(|| Prober::new(make_reader()));
    let mut worker = Worker::new(&shared, 0, reader, prober, sink);
    let (top, tasks) = worker.visit_roots();
    finish(&shared, worker, top, tasks, make_sink, make_reader)
}

/// Visits `tasks` and everything else that is left of a walk.
fn finish<'w, R: Reader, S: Sink>(
    shared: &'w WalkShared<R, S>,
    mut worker: Worker<'w, R, S>,
    top: Arc<Dir<S::Tag>>,
    mut tasks: Tasks<R, S>,
    make_sink: &(impl Fn() -> S + Sync),
    make_reader: &(impl Fn() -> R + Sync),
) -> Result<WalkResult<S>, Error> {
    let prober = || shared.plan.probes().then(|| Prober::new(make_reader()));
    let mut threads = 1;
    // Links to directories wait until all real directories are known. Only then is it certain, and
    // the same in every run, which of them lead to a directory that was not read.
    if tasks.is_empty() {
        tasks = worker.take_links();
    }
    while !tasks.is_empty() {
        let (sinks, used) = drain(shared, worker, tasks, make_sink, make_reader)?;
        threads = threads.max(used);
        worker = Worker::new(shared, 0, make_reader(), prober(), merged(sinks));
        tasks = worker.take_links();
    }
    worker.release(top);
    Ok(WalkResult { sink: worker.into_sink(), roots: shared.roots.distinct(), threads })
}

/// Visits `tasks` and all directories below them, in the plan's order.
fn drain<'r, R: Reader, S: Sink>(
    shared: &'r WalkShared<R, S>,
    worker: Worker<'r, R, S>,
    tasks: Tasks<R, S>,
    make_sink: &(impl Fn() -> S + Sync),
    make_reader: &(impl Fn() -> R + Sync),
) -> Result<(Vec<S>, usize), Error> {
    let prober = || shared.plan.probes().then(|| Prober::new(make_reader()));
    let spawn = |id| Worker::new(shared, id, make_reader(), prober(), make_sink());
    Ok(match shared.plan.order {
        Order::Recursive => recursive::drain(worker, tasks)?,
        Order::Queue => sequential::drain(worker, tasks, sequential::Queue::default()),
        Order::Stack => sequential::drain(worker, tasks, sequential::Stack::default()),
        Order::StackPresized => sequential::drain(worker, tasks, sequential::Stack::presized()),
        Order::Array => sequential::drain(worker, tasks, sequential::Array::default()),
        Order::Futures => futures::drain(shared, worker, tasks, &spawn)?,
        Order::SharedQueue => shared_queue::drain(shared, worker, tasks, &spawn),
        Order::WorkStealing => stealing::drain(shared, worker, tasks, &spawn),
    })
}

fn merged<S: Sink>(sinks: Vec<S>) -> S {
    let mut sinks = sinks.into_iter();
    let mut all = sinks.next().expect("BUG: the first worker always hands its sink back");
    sinks.for_each(|sink| all.merge(sink));
    all
}
