//! How many directory handles may be kept open.
//!
//! A directory is opened relative to its parent's handle, which therefore stays open until the
//! last directory in it has been opened. In depth first order that is a handle per level and
//! thread; in breadth first order it can be a handle per directory. When the budget is spent, a
//! handle is closed at once, and the directories below are opened from the nearest ancestor that
//! is still open: slower, but never out of descriptors, even with `ulimit -n 64`.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Counts the handles that are kept.
#[derive(Clone, Debug)]
pub(super) struct HandleBudget(Arc<AtomicIsize>);

/// The right to keep one handle; dropping it gives the right back.
#[derive(Debug)]
pub(super) struct HandlePermit(HandleBudget);

impl HandleBudget {
    pub(super) fn new(handles: usize) -> Self {
        Self(Arc::new(AtomicIsize::new(isize::try_from(handles).unwrap_or(isize::MAX))))
    }

    /// Takes the right to keep one handle, if there is one left.
    ///
    /// Relaxed: the counter guards a number, no memory.
    pub(super) fn take(&self) -> Option<HandlePermit> {
        if self.0.fetch_sub(1, Ordering::Relaxed) > 0 {
            return Some(HandlePermit(self.clone()));
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// The system has no descriptors left: somebody else uses them. From now on a handle is kept
    /// only when another one is given back.
    pub(super) fn exhausted(&self) {
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.fetch_sub(left, Ordering::Relaxed);
        }
    }
}

impl Drop for HandlePermit {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let budget = HandleBudget::new(2);
        let (a, b) = (budget.take(), budget.take());
        assert!(a.is_some() && b.is_some() && budget.take().is_none());
        drop(a);
        assert!(budget.take().is_some());
        let none = HandleBudget::new(0);
        assert!(none.take().is_none());
    }

    #[test]
    fn after_exhaustion_only_returned_permits_are_left() {
        let budget = HandleBudget::new(5);
        let kept = budget.take();
        budget.exhausted();
        assert!(budget.take().is_none());
        drop(kept);
        assert!(budget.take().is_some());
    }
}
