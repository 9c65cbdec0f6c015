//! Idle threads of a job.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the idle threads of a job. The pass of a large file borrows them. As long as there are
/// enough files for all threads, none is idle.
#[derive(Debug, Default)]
pub struct IdleThreads(AtomicUsize);

impl IdleThreads {
    /// Returns a counter that starts with `threads`.
    pub fn new(threads: usize) -> Self {
        Self(AtomicUsize::new(threads))
    }

    /// Adds a thread that has ended.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one thread, if there is one. Dropping the value returns it.
    pub(super) fn borrow(&self) -> Option<Borrowed<'_>> {
        let less = |idle: usize| idle.checked_sub(1);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.is_ok().then(|| Borrowed(self))
    }
}

/// The right to start one thread.
#[derive(Debug)]
pub(super) struct Borrowed<'a>(&'a IdleThreads);

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.0.add();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_threads_borrowed_and_returned() {
        let idle = IdleThreads::new(1);
        let borrowed = idle.borrow();
        assert!(borrowed.is_some() && idle.borrow().is_none());
        idle.add();
        let second = idle.borrow();
        assert!(second.is_some() && idle.borrow().is_none());
        drop((borrowed, second));
        assert!([idle.borrow(), idle.borrow()].iter().all(Option::is_some));
    }
}
