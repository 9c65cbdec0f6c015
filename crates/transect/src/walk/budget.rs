//! A limit on directory handles that stay open.
//!
//! A directory is opened relative to its parent, which therefore stays open until the last
//! directory in it has been opened. Depth first, that is one handle per level and thread; breadth
//! first, it may be one per directory. When the budget is spent, handles are closed at once and the
//! directories below are opened from the nearest ancestor that is open: slower, but the walk never
//! runs out of descriptors, not even with `ulimit -n 64`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use transect_sys::{Fault, FaultKind};

/// How often to retry opening a directory when no descriptor is free, and the delay between
/// retries.
const DESCRIPTOR_RETRIES: u32 = 100;
const DESCRIPTOR_WAIT: Duration = Duration::from_millis(5);

/// Counts the handles that may still be kept open.
///
/// Holds the limit. The references to it are the count, because all threads write to it: a permit costs one write when it
/// is taken and one when it is returned.
#[derive(Debug)]
pub(super) struct HandleBudget(Arc<AtomicUsize>);

/// The permission to keep one handle open; returned to the budget when dropped.
#[derive(Debug)]
pub(super) struct HandlePermit(
    #[expect(dead_code, reason = "it is the reference that counts")] Arc<AtomicUsize>,
);

impl HandleBudget {
    pub(super) fn new(handles: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(handles)))
    }

    /// Returns a permit, if there is one left.
    ///
    /// Takes it before it checks the count. So of several threads that take the last one at once, some get none, and
    /// never too many get one.
    pub(super) fn take(&self) -> Option<HandlePermit> {
        let permit = HandlePermit(Arc::clone(&self.0));
        (self.permits() <= self.0.load(Ordering::Relaxed)).then_some(permit)
    }

    /// Reduces the budget to the permits in use, because the system has no descriptors left. From
    /// now on a permit is granted only after another one is returned.
    pub(super) fn exhausted(&self) {
        self.0.fetch_min(self.permits(), Ordering::Relaxed);
    }

    /// Returns the number of permits in use. One reference is that of the budget.
    fn permits(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Calls `open`, again and again while no descriptor is free.
    pub(super) fn with_descriptor<T>(
        &self,
        mut open: impl FnMut() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        for _ in 0..DESCRIPTOR_RETRIES {
            match open() {
                Err(Fault::Failed(error)) if FaultKind::of(&error) == FaultKind::TooManyOpen => {
                    // Keep no more handles open, and wait until some are closed.
                    self.exhausted();
                    std::thread::sleep(DESCRIPTOR_WAIT);
                }
                result => return result,
            }
        }
        open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_budget_returned_permit_available_again() {
        let budget = HandleBudget::new(2);
        let (a, b) = (budget.take(), budget.take());
        assert!(a.is_some() && b.is_some() && budget.take().is_none());
        drop(a);
        assert!(budget.take().is_some());
        let none = HandleBudget::new(0);
        assert!(none.take().is_none());
    }

    #[test]
    fn handle_budget_exhausted_only_returned_permits_left() {
        let budget = HandleBudget::new(5);
        let kept = budget.take();
        budget.exhausted();
        assert!(budget.take().is_none());
        drop(kept);
        assert!(budget.take().is_some());
    }
}
