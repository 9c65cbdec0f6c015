//! Threads that do tasks, each with its own state.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, Builder};

/// The threads, for the one that shares out the tasks.
pub(crate) struct Workers<T, D> {
    tasks: mpsc::Sender<T>,
    results: mpsc::Receiver<thread::Result<D>>,
}

impl<T, D> Workers<T, D> {
    /// Gives a task to the next thread that has none.
    pub(crate) fn give(&self, task: T) {
        self.tasks.send(task).expect("BUG: the queue is kept until the end");
    }

    /// Waits for the result of any task. Continues the panic of a thread.
    pub(crate) fn take(&self) -> D {
        let result = self.results.recv().expect("BUG: the threads have ended");
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Starts at most `threads` threads, which do tasks with functions that `worker` returns, and calls `share_out` with them. At
/// its return, tasks that no thread has begun are dropped.
///
/// # Errors
/// The system has no more threads.
pub(crate) fn run<T: Send, D: Send, W: FnMut(T) -> D, R>(
    threads: usize,
    worker: impl Fn() -> W + Sync,
    share_out: impl FnOnce(&Workers<T, D>) -> R,
) -> io::Result<R> {
    let (tasks, queue) = mpsc::channel();
    let (queue, worker) = (&Mutex::new(queue), &worker);
    thread::scope(move |scope| {
        let (done, results) = mpsc::channel();
        for number in 0..threads {
            let done = done.clone();
            let work = move || {
                let mut run = worker();
                loop {
                    let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(task) = task else { return };
                    if done.send(catch_unwind(AssertUnwindSafe(|| run(task)))).is_err() {
                        return;
                    }
                }
            };
            match Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(error),
                // Those that run are enough.
                Err(_) => break,
            }
        }
        drop(done);
        // Dropped at the return, also early: then the threads end.
        Ok(share_out(&Workers { tasks, results }))
    })
}
