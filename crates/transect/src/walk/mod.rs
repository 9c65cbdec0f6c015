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
//! [`known_dirs`] starts threads for directories that are no walk.
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
mod judge;
mod known_dirs;
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

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};

use transect_sys::{Attributes, Reader};

use crate::dir::Dir;
use crate::error::Error;
use crate::lock::lock;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::sink::{Entering, Sink};

use shared::WalkShared;
use task::Tasks;
use worker::{Prober, WithWorker, Worker};

pub use known_dirs::for_each_dir;
pub(crate) use stepped::{Step, SteppedWalk, Stopper};
pub use stored::StoredRows;

/// What is known of a walk that ended.
pub(crate) struct Walked {
    /// The number of distinct roots.
    pub(crate) roots: usize,
    /// The number of threads that took part.
    pub(crate) threads: usize,
}

/// Calls a function with the sink of another thread, and keeps the sink.
pub(crate) type WithSink<'a> = dyn Fn(&mut dyn FnMut(&mut dyn Sink)) + Sync + 'a;

/// Runs `walk` with `first` and with sinks of the same type for other threads, and merges them all.
///
/// Only this function knows the type of the sinks. The walk calls them through [`Sink`] a few times for each
/// directory, so that it is compiled once, and not anew for each type.
pub(crate) fn merged<S: Sink, T>(
    mut first: S,
    make: &(impl Fn() -> S + Sync),
    walk: impl FnOnce(&mut S, &WithSink<'_>) -> Result<T, Error>,
) -> Result<(S, T), Error> {
    let others = Mutex::new(Vec::new());
    let walked = walk(&mut first, &|work| {
        let mut sink = make();
        work(&mut sink);
        lock(&others).push(sink);
    })?;
    let others = others.into_inner().unwrap_or_else(PoisonError::into_inner);
    others.into_iter().for_each(|sink| first.merge(sink));
    Ok((first, walked))
}

/// Runs a plan on the caller's thread, with `sink`, and on others.
pub(crate) fn walk<R: Reader>(
    plan: &ScanPlan,
    sink: &mut dyn Sink,
    with_sink: &WithSink<'_>,
    make_reader: &(dyn Fn() -> R + Sync),
) -> Result<Walked, Error> {
    let mut reader = make_reader();
    let shared = WalkShared::new(plan, sink.want(), &mut reader);
    let mut worker = Worker::new(&shared, 0, (reader, prober(plan, make_reader)), sink);
    let (top, tasks) = worker.visit_roots();
    finish(&shared, worker, top, tasks, with_sink, make_reader)
}

/// Enters the top, which holds the roots.
fn enter_top(sink: &mut dyn Sink) -> Arc<Dir> {
    let attributes = &Attributes::default();
    let entering = Entering { parent: None, name: OsStr::new(""), attributes, listed: false };
    Dir::top(sink.enter(entering))
}

/// Returns the second reader of a worker, if a filter needs one.
fn prober<R: Reader>(plan: &ScanPlan, make_reader: &dyn Fn() -> R) -> Option<Prober<R>> {
    let filter = plan.filter.as_ref().filter(|filter| filter.probes());
    filter.map(|_| Prober::new(make_reader()))
}

/// Visits `tasks` and everything else that is left of a walk.
fn finish<R: Reader>(
    shared: &WalkShared<R>,
    mut worker: Worker<'_, R>,
    top: Arc<Dir>,
    mut tasks: Tasks<R>,
    with_sink: &WithSink<'_>,
    make_reader: &(dyn Fn() -> R + Sync),
) -> Result<Walked, Error> {
    let with_worker: &WithWorker<'_, R> = &|id, work| {
        with_sink(&mut |sink| {
            let readers = (make_reader(), prober(&shared.plan, make_reader));
            work(&mut Worker::new(shared, id, readers, sink));
        });
    };
    let mut threads = 1;
    // Links to directories wait until all real directories are known. Only then is it certain, and
    // the same in every run, which of them lead to a directory that was not read.
    if tasks.is_empty() {
        tasks = worker.take_links();
    }
    while !tasks.is_empty() {
        threads = threads.max(drain(shared, &mut worker, tasks, with_worker)?);
        tasks = worker.take_links();
    }
    worker.release(top);
    Ok(Walked { roots: shared.roots.distinct(), threads })
}

/// Visits `tasks` and all directories below them, in the plan's order. Returns the number of threads.
fn drain<R: Reader>(
    shared: &WalkShared<R>,
    worker: &mut Worker<'_, R>,
    tasks: Tasks<R>,
    with_worker: &WithWorker<'_, R>,
) -> Result<usize, Error> {
    Ok(match shared.plan.order {
        Order::Recursive => recursive::drain(worker, tasks)?,
        Order::Queue => sequential::drain(worker, tasks, VecDeque::new()),
        Order::Stack => sequential::drain(worker, tasks, Vec::new()),
        Order::StackPresized => {
            sequential::drain(worker, tasks, Vec::with_capacity(sequential::PRESIZED))
        }
        Order::Array => sequential::drain(worker, tasks, sequential::Array::default()),
        Order::Futures => futures::drain(shared, worker, tasks, with_worker)?,
        Order::SharedQueue => shared_queue::drain(shared, worker, tasks, with_worker),
        Order::WorkStealing => stealing::drain(shared, worker, tasks, with_worker),
    })
}
