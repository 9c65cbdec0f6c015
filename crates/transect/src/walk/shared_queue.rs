//! One queue shared by all threads, under one lock. A thread that finds it empty helps another one with
//! a large directory ([`helpers`](super::helpers)).

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;

use transect_sys::Reader;

use crate::lock::{OnPanic, lock};
use crate::walk::device_wait::Latency;
use crate::walk::helpers::{Helpers, PendingBatch, PendingBatches};
use crate::walk::shared::WalkShared;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::{WithWorker, Worker};

struct TaskQueue<H> {
    state: Mutex<QueueState<H>>,
    changed: Condvar,
    batches: PendingBatches<H>,
    threads: usize,
}

struct QueueState<H> {
    tasks: VecDeque<Task<H>>,
    /// The number of threads that have nothing to do, or have not begun.
    idle: usize,
    /// Tasks that wait or are in progress. At zero the walk is finished.
    pending: usize,
    /// A thread panicked: all others stop.
    aborted: bool,
}

/// Visits `tasks` and all directories below them.
pub(super) fn drain<R: Reader>(
    shared: &WalkShared<R>,
    first: &mut Worker<'_, R>,
    tasks: Tasks<R>,
    with_worker: &WithWorker<'_, R>,
) -> usize {
    let threads = shared.plan.threads.busy();
    let state =
        QueueState { pending: tasks.len(), tasks: tasks.into(), idle: threads, aborted: false };
    let (changed, batches) = (Condvar::new(), PendingBatches::default());
    let queue = &TaskQueue { state: Mutex::new(state), changed, batches, threads };
    std::thread::scope(|scope| {
        // The walk continues if a thread fails to start: the first one always works.
        let others: Vec<_> = (1..threads)
            .map_while(|id| {
                let work = move || with_worker(id, &mut |worker| queue.work(worker));
                Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        let threads = 1 + others.len();
        queue.work(first);
        for thread in others {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        threads
    })
}

/// What a thread does next.
enum Work<H> {
    Visit(Task<H>),
    Help(PendingBatch<H>),
}

impl<H> TaskQueue<H> {
    fn work<R: Reader<Handle = H>>(&self, worker: &mut Worker<'_, R>) {
        // The other threads would wait forever.
        let _end = OnPanic(|| {
            let mut state = lock(&self.state);
            state.aborted = true;
            state.tasks.clear();
            self.changed.notify_all();
        });
        let mut children = Vec::new();
        while let Some(work) = self.next() {
            match work {
                Work::Visit(task) => {
                    worker.visit_with(self, task, &mut children);
                    self.done(&mut children);
                }
                Work::Help(batch) => {
                    worker.help(batch);
                    lock(&self.state).idle += 1;
                }
            }
        }
    }

    /// Removes and returns the next task, or a batch if there is none; waits while tasks in progress
    /// may still yield some.
    fn next(&self) -> Option<Work<H>> {
        let mut state = lock(&self.state);
        loop {
            let task = state.tasks.pop_front().map(Work::Visit);
            if let Some(work) = task.or_else(|| self.batches.take().map(Work::Help)) {
                state.idle -= 1;
                return Some(work);
            }
            if state.pending == 0 || state.aborted {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Finishes one task, and adds those that it yielded.
    fn done(&self, children: &mut Vec<Task<H>>) {
        let mut state = lock(&self.state);
        state.idle += 1;
        if state.aborted {
            return children.clear();
        }
        state.pending = state.pending + children.len() - 1;
        state.tasks.extend(children.drain(..));
        if state.pending == 0 || state.tasks.len() > 1 {
            self.changed.notify_all();
        }
    }
}

impl<H> Helpers<H> for TaskQueue<H> {
    fn are_free(&self) -> bool {
        lock(&self.state).idle > 0
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn pending(&self) -> &PendingBatches<H> {
        &self.batches
    }

    fn call(&self, _: Latency) {
        // A thread that has found no batch waits once the lock is free.
        let _state = lock(&self.state);
        self.changed.notify_one();
    }
}
