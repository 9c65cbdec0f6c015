//! Work on many items by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use transect::Cancel;

/// Calls `work` for the indices below `count`, in ascending order, on `threads` threads; `chunk`
/// indices at a time. Each thread has its own state. Returns the states. Stops early when cancelled.
pub(crate) fn in_parallel<S: Send>(
    threads: usize,
    count: usize,
    chunk: usize,
    cancel: &Cancel,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Vec<S> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        loop {
            let first = next.fetch_add(chunk, Ordering::Relaxed);
            if first >= count {
                return state;
            }
            for index in first..count.min(first + chunk) {
                if cancel.is_cancelled() {
                    return state;
                }
                work(&mut state, index);
            }
        }
    };
    let threads = threads.clamp(1, count.div_ceil(chunk).max(1));
    thread::scope(|scope| {
        // If a thread cannot be started, the others do its work.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, run).ok())
            .collect();
        let mut states = vec![run()];
        for other in others {
            match other.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_every_index_once() {
        for (threads, count, chunk) in [(1, 0, 1), (1, 10, 3), (4, 1000, 7), (8, 3, 16)] {
            let cancel = Cancel::new();
            let done = in_parallel(threads, count, chunk, &cancel, Vec::new, |done, index| {
                done.push(index);
            });
            let mut done: Vec<usize> = done.concat();
            done.sort_unstable();
            assert_eq!(done, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn parallel_cancelled_stops() {
        let cancel = Cancel::new();
        let done = in_parallel(
            2,
            1000,
            1,
            &cancel,
            || 0,
            |done, _| {
                *done += 1;
                cancel.cancel();
            },
        );
        assert!(done.iter().sum::<usize>() <= 2);
    }
}
