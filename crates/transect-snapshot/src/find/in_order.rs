//! Runs tasks on several threads, and hands out their results in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many results each thread may be ahead of the one that is waited for.
const AHEAD: usize = 2;

struct State<T> {
    next: usize,
    taken: usize,
    done: BTreeMap<usize, T>,
    is_stopped: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

/// Stops all when a thread panics: its result would be waited for.
struct StopOnPanic<'s, T>(&'s Shared<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs `tasks` tasks on at most `threads` threads, each with a function that `worker` returns. Calls `take` with
/// the results in the order of the tasks, until it breaks. Few results wait at a time.
pub(super) fn run<T: Send, W: FnMut(usize) -> T>(
    tasks: usize,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let threads = threads.min(tasks);
    if threads < 2 {
        let mut run = worker();
        let _ = (0..tasks).try_for_each(|task| take(run(task)));
        return;
    }
    let state = State { next: 0, taken: 0, done: BTreeMap::new(), is_stopped: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    let work = || {
        let _stop = StopOnPanic(&shared);
        let mut run = worker();
        loop {
            let mut state = shared.lock();
            while !state.is_stopped && state.next >= state.taken + threads * AHEAD {
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.is_stopped || state.next == tasks {
                return;
            }
            let task = state.next;
            state.next += 1;
            drop(state);
            let result = run(task);
            shared.lock().done.insert(task, result);
            shared.changed.notify_all();
        }
    };
    std::thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads {
            // Those that run are enough.
            started += usize::from(std::thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        let _stop = StopOnPanic(&shared);
        let mut alone = (started == 0).then(&worker);
        for task in 0..tasks {
            let result = match &mut alone {
                Some(run) => run(task),
                None => {
                    let mut state = shared.lock();
                    loop {
                        if let Some(result) = state.done.remove(&task) {
                            state.taken = task + 1;
                            break result;
                        }
                        if state.is_stopped {
                            return;
                        }
                        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            shared.changed.notify_all();
            if take(result).is_break() {
                break;
            }
        }
        shared.stop();
    });
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
    #[should_panic(expected = "scoped thread panicked")]
    fn run_ends_when_a_thread_panics() {
        let worker = || |task| assert!(task != 2, "a task fails");
        run(5, 2, worker, |()| ControlFlow::Continue(()));
    }
}
