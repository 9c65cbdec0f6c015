//! A future per directory, as `std::async` in C++: on a thread of its own while there are threads
//! left, otherwise deferred until its value is needed. A directory waits for all its futures before
//! it is finished.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use transect_sys::Reader;

use crate::error::Error;
use crate::lock::lock;
use crate::sink::Sink;
use crate::walk::recursive::{MAX_RECURSION, STACK_BYTES};
use crate::walk::shared::WalkShared;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

/// The state that all futures of a walk share.
struct Futures<'f, F> {
    spawn: &'f F,
    /// The number of running threads, the first one included.
    running: AtomicUsize,
    /// The maximum of `running`.
    peak: AtomicUsize,
    limit: usize,
}

/// Visits `tasks` and all directories below them.
pub(super) fn drain<'r, R: Reader, S: Sink>(
    shared: &'r WalkShared<R, S>,
    mut worker: Worker<'r, R, S>,
    mut tasks: Tasks<R, S>,
    spawn: &(impl Fn(usize) -> Worker<'r, R, S> + Sync),
) -> Result<(Vec<S>, usize), Error> {
    let limit = shared.plan.threads.busy();
    let futures = Futures { spawn, running: AtomicUsize::new(1), peak: AtomicUsize::new(1), limit };
    let sink = std::thread::scope(|scope| {
        let (futures, tasks) = (&futures, &mut tasks);
        let first = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            while let Some(task) = tasks.pop() {
                futures.visit_directory(scope, &mut worker, task, 0, tasks);
            }
            worker.into_sink()
        });
        Ok::<_, Error>(join_thread(first.map_err(Error::ThreadStart)?))
    })?;
    Ok((vec![sink], futures.peak.into_inner()))
}

/// Waits for a thread, and resumes its panic.
fn join_thread<S>(thread: ScopedJoinHandle<'_, S>) -> S {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl<F> Futures<'_, F> {
    /// Reads a directory and evaluates a future for each directory in it.
    fn visit_directory<'scope, 'r, R: Reader, S: Sink + 'r>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        worker: &mut Worker<'r, R, S>,
        task: Task<R::Handle, S::Tag>,
        level: u32,
        deeper: &mut Tasks<R, S>,
    ) where
        F: Fn(usize) -> Worker<'r, R, S> + Sync,
        'r: 'scope,
    {
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
            worker.absorb(join_thread(thread));
        }
    }

    /// Starts a future on a thread of its own, or returns the task if there are no threads left.
    fn start<'scope, 'r, R: Reader, S: Sink + 'r>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: Task<R::Handle, S::Tag>,
    ) -> Result<ScopedJoinHandle<'scope, S>, Task<R::Handle, S::Tag>>
    where
        F: Fn(usize) -> Worker<'r, R, S> + Sync,
        'r: 'scope,
    {
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
            let mut worker = (self.spawn)(id);
            let mut tasks: Vec<_> = lock(&given).take().into_iter().collect();
            while let Some(task) = tasks.pop() {
                self.visit_directory(scope, &mut worker, task, 0, &mut tasks);
            }
            self.running.fetch_sub(1, Ordering::Relaxed);
            worker.into_sink()
        });
        started.map_err(|_| {
            self.running.fetch_sub(1, Ordering::Relaxed);
            lock(&task).take().expect("BUG: a thread that did not start took its task")
        })
    }
}
