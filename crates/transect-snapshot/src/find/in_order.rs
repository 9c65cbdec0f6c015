//! Runs tasks on several threads, and hands out their results in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::workers::{self, Workers};

/// How many results each thread may be ahead of the one that is waited for.
const AHEAD: usize = 2;

/// Runs `tasks` tasks on at most `threads` threads, each with a function that `worker` returns. Calls `take` with
/// the results in the order of the tasks, until it breaks. Few results wait at a time.
pub(super) fn run<T: Send, W: FnMut(usize) -> T>(
    tasks: usize,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let threads = threads.min(tasks);
    let numbered = || {
        let mut run = worker();
        move |task| (task, run(task))
    };
    let in_order = |workers: &Workers<usize, (usize, T)>| {
        let (mut given, mut waiting) = (0, BTreeMap::new());
        for task in 0..tasks {
            while given < tasks.min(task + threads * AHEAD) {
                workers.give(given);
                given += 1;
            }
            let result = loop {
                if let Some(result) = waiting.remove(&task) {
                    break result;
                }
                let (done, result) = workers.take();
                waiting.insert(done, result);
            };
            if take(result).is_break() {
                return;
            }
        }
    };
    // Alone, or where the system has no more threads.
    if threads < 2 || workers::run(threads, numbered, in_order).is_err() {
        let mut run = worker();
        let _ = (0..tasks).try_for_each(|task| take(run(task)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn run_delivers_all_in_order_for_any_number_of_threads() {
        for (tasks, threads) in [(0, 2), (1, 2), (100, 1), (100, 2), (100, 7), (3, 100)] {
            let mut all = Vec::new();
            let worker = || |task: usize| task * 2;
            run(tasks, threads, worker, |result| {
                all.push(result);
                ControlFlow::Continue(())
            });
            assert_eq!(all, (0..tasks).map(|task| task * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn run_stops_at_a_break_and_never_runs_far_ahead() {
        let begun = AtomicUsize::new(0);
        let mut taken = 0;
        let worker = || |task| begun.fetch_max(task, Ordering::Relaxed);
        run(10_000, 3, worker, |_| {
            taken += 1;
            if taken == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(taken, 5);
        assert!(begun.load(Ordering::Relaxed) < 5 + 3 * AHEAD);
    }

    #[test]
    #[should_panic(expected = "a task fails")]
    fn run_ends_when_a_thread_panics() {
        let worker = || |task| assert!(task != 2, "a task fails");
        run(5, 2, worker, |()| ControlFlow::Continue(()));
    }
}
