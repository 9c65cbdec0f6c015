//! Work on several threads.

use std::sync::{Mutex, PoisonError};

/// What reading a volume may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) threads: usize,
    /// Keep also times of access, of creation, and of changes of attributes.
    pub(super) all_times: bool,
}

/// Does two things, with more than one thread at once.
pub(super) fn both<A: Send, B>(
    threads: usize,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second)
    })
}

/// Hands out pieces of work to so many threads, and returns their states, which `begin` makes.
pub(super) fn share_out<P, T: Send>(
    threads: usize,
    pieces: impl Iterator<Item = P> + Send,
    begin: impl Fn() -> T + Sync,
    work: impl Fn(&mut T, P) + Sync,
) -> Vec<T> {
    let left = Mutex::new(pieces);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    on_threads(threads, || {
        let mut state = begin();
        while let Some(piece) = next() {
            work(&mut state, piece);
        }
        state
    })
}

/// Runs the same work on so many threads, and returns all results.
pub(super) fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut all = vec![work()];
        for other in others {
            all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
