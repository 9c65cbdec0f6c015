//! One queue shared by all threads, under one lock.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use transect_sys::Reader;

use crate::sink::Sink;
use crate::walk::shared::WalkShared;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

struct TaskQueue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    tasks: VecDeque<T>,
    /// Tasks that wait or are in progress. At zero the walk is finished.
    pending: usize,
    /// A thread panicked: all others stop.
    aborted: bool,
}

/// Visits `tasks` and all directories below them.
pub(super) fn drain<'r, R: Reader, S: Sink>(
    shared: &'r WalkShared<R, S>,
    first: Worker<'r, R, S>,
    tasks: Tasks<R, S>,
    spawn: &(impl Fn(usize) -> Worker<'r, R, S> + Sync),
) -> (Vec<S>, usize) {
    let state = QueueState { pending: tasks.len(), tasks: tasks.into(), aborted: false };
    let queue = &TaskQueue { state: Mutex::new(state), changed: Condvar::new() };
    std::thread::scope(|scope| {
        // The walk continues if a thread fails to start: the first one always works.
        let others: Vec<_> = (1..shared.plan.threads.busy())
            .map_while(|id| Builder::new().spawn_scoped(scope, move || queue.work(spawn(id))).ok())
            .collect();
        let threads = 1 + others.len();
        let mut sinks = vec![queue.work(first)];
        for thread in others {
            sinks.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        (sinks, threads)
    })
}

impl<H, T> TaskQueue<Task<H, T>> {
    fn work<R: Reader<Handle = H>, S: Sink<Tag = T>>(&self, mut worker: Worker<'_, R, S>) -> S {
        let _end = EndOnPanic(self);
        let mut children = Vec::new();
        while let Some(task) = self.next() {
            worker.visit(task, &mut children);
            self.done(&mut children);
        }
        worker.into_sink()
    }

    /// Removes and returns the next task; waits while tasks in progress may still yield some.
    fn next(&self) -> Option<Task<H, T>> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.pending == 0 || state.aborted {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Finishes one task, and adds those that it yielded.
    fn done(&self, children: &mut Vec<Task<H, T>>) {
        let mut state = self.lock();
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

impl<T> TaskQueue<T> {
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the walk on all threads when a sink panics: the others would wait forever.
struct EndOnPanic<'a, T>(&'a TaskQueue<T>);

impl<T> Drop for EndOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.lock();
            state.aborted = true;
            state.tasks.clear();
            self.0.changed.notify_all();
        }
    }
}
