//! A future per directory, as `std::async` in C++: on a thread of its own while there are threads
//! left, otherwise deferred until its value is needed. A directory waits for all its futures before
//! it is finished.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use transect_sys::Reader;

use crate::error::Error;
use crate::lock::lock;
use crate::walk::recursive::{MAX_RECURSION, STACK_BYTES};
use crate::walk::shared::WalkShared;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::{WithWorker, Worker};

/// The state that all futures of a walk share.
struct Futures<'f, R: Reader> {
    with_worker: &'f WithWorker<'f, R>,
    /// The number of running threads, the first one included.
    running: AtomicUsize,
    /// The maximum of `running`.
    peak: AtomicUsize,
    limit: usize,
}

/// Visits `tasks` and all directories below them.
pub(super) fn drain<R: Reader>(
    shared: &WalkShared<R>,
    worker: &mut Worker<'_, R>,
    mut tasks: Tasks<R>,
    with_worker: &WithWorker<'_, R>,
) -> Result<usize, Error> {
    let limit = shared.plan.threads.busy();
    let (running, peak) = (AtomicUsize::new(1), AtomicUsize::new(1));
    let futures = Futures { with_worker, running, peak, limit };
    std::thread::scope(|scope| {
        let (futures, tasks) = (&futures, &mut tasks);
        let first = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            while let Some(task) = tasks.pop() {
                futures.visit_directory(scope, worker, task, 0, tasks);
            }
        });
        join_thread(first.map_err(Error::ThreadStart)?);
        Ok::<_, Error>(())
    })?;
    Ok(futures.peak.into_inner())
}

/// Waits for a thread, and resumes its panic.
fn join_thread(thread: ScopedJoinHandle<'_, ()>) {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl<R: Reader> Futures<'_, R> {
    /// Reads a directory and evaluates a future for each directory in it.
    fn visit_directory<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        worker: &mut Worker<'_, R>,
        task: Task<R::Handle>,
        level: u32,
        deeper: &mut Tasks<R>,
    ) {
        if level == MAX_RECURSION {
            return deeper.push(task);
        }
        let mut children = Vec::new();
        worker.visit(task, &mut children);
        let mut running = Vec::new();
        let mut deferred = Vec::new();
        for child in children {
            match self.start(scope, child) {
                Ok(thread) => running.push(thread),
                Err(child) => deferred.push(child),
            }
        }
        for child in deferred {
            self.visit_directory(scope, worker, child, level + 1, deeper);
        }
        for thread in running {
            join_thread(thread);
        }
    }

    /// Starts a future on a thread of its own, or returns the task if there are no threads left.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: Task<R::Handle>,
    ) -> Result<ScopedJoinHandle<'scope, ()>, Task<R::Handle>> {
        let id = self.running.fetch_add(1, Ordering::Relaxed);
        if id >= self.limit {
            self.running.fetch_sub(1, Ordering::Relaxed);
            return Err(task);
        }
        self.peak.fetch_max(id + 1, Ordering::Relaxed);
        // A thread that fails to start must not take the task with it.
        let task = std::sync::Arc::new(std::sync::Mutex::new(Some(task)));
        let given = std::sync::Arc::clone(&task);
        let started = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            (self.with_worker)(id, &mut |worker| {
                let mut tasks: Vec<_> = lock(&given).take().into_iter().collect();
                while let Some(task) = tasks.pop() {
                    self.visit_directory(scope, worker, task, 0, &mut tasks);
                }
            });
            self.running.fetch_sub(1, Ordering::Relaxed);
        });
        started.map_err(|_| {
            self.running.fetch_sub(1, Ordering::Relaxed);
            lock(&task).take().expect("BUG: a thread that did not start took its task")
        })
    }
}
