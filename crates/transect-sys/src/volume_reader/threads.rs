//! Work on several threads.

/// What reading a volume may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) threads: usize,
    /// Keep also times of access, of creation, and of changes of attributes.
    pub(super) all_times: bool,
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
