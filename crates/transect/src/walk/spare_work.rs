//! Whether a walk on one thread has work for a second one.

use std::time::{Duration, Instant};

use crate::plan::ThreadLimits;
use crate::walk::device_wait::DeviceWait;

/// Starting a second thread, and waiting for it at the end, costs a quarter of a millisecond. The walk
/// gets it if one of these is true. That many directories wait:
const MANY_TASKS: usize = 32;
/// That many wait, and more than at first, so they hold directories themselves:
const GROWING_TASKS: usize = 8;
/// There were always several for that long:
const LONG_WALK: Duration = Duration::from_millis(1);
// Measured on two cores: /usr/include/linux, with 28 directories that hold none, takes 8 to 11 % longer
// on two threads; /usr/share/perl (209) a fifth less, and 467 directories with 3,315 files a third less.

/// The work that the first thread could share.
pub(super) struct SpareWork {
    /// The number of threads was given: they start as soon as there is work for two.
    is_requested: bool,
    /// Since when there were always several tasks, and how many at first.
    since: Option<(Instant, usize)>,
    waits: DeviceWait,
}

impl SpareWork {
    pub(super) fn new(limits: ThreadLimits) -> Self {
        Self { is_requested: limits.are_requested(), since: None, waits: DeviceWait::default() }
    }

    /// Adds a directory that was read.
    pub(super) fn add(&mut self, entries: u32, took: Duration) {
        self.waits.add(entries, took, 1);
    }

    /// Returns which directories were slow.
    pub(super) fn waits(&self) -> DeviceWait {
        self.waits
    }

    /// Returns whether the walk gets a second thread while `tasks` wait.
    pub(super) fn is_worth_a_thread(&mut self, tasks: usize) -> bool {
        if tasks < 2 {
            self.since = None;
            return false;
        }
        let (since, first) = *self.since.get_or_insert_with(|| (Instant::now(), tasks));
        self.is_requested
            || self.waits.is_proved()
            || tasks >= MANY_TASKS
            || tasks >= GROWING_TASKS.max(first + 1)
            || since.elapsed() >= LONG_WALK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare_work(is_requested: bool) -> SpareWork {
        // A slow machine must not make it a long walk.
        let since = Instant::now() + Duration::from_secs(3600);
        SpareWork { is_requested, since: Some((since, 20)), waits: DeviceWait::default() }
    }

    #[test]
    fn second_thread_worth_many_or_growing_tasks() {
        let worth = |tasks| spare_work(false).is_worth_a_thread(tasks);
        assert!([1, 2, 19, 20].into_iter().all(|tasks| !worth(tasks)));
        assert!([21, 31, 32, usize::MAX].into_iter().all(worth));
        let mut few = spare_work(false);
        few.since = few.since.map(|(since, _)| (since, 2));
        assert!(!few.is_worth_a_thread(7) && few.is_worth_a_thread(8));
    }

    #[test]
    fn second_thread_worth_long_walk_slow_device_or_request() {
        let mut long = spare_work(false);
        long.since = Instant::now().checked_sub(LONG_WALK).map(|since| (since, 20));
        assert!(long.is_worth_a_thread(2) && !long.is_worth_a_thread(1) && long.since.is_none());
        let mut slow = spare_work(false);
        (0..3).for_each(|_| slow.add(1, Duration::from_millis(1)));
        assert!(slow.is_worth_a_thread(2));
        assert!(spare_work(true).is_worth_a_thread(2) && !spare_work(true).is_worth_a_thread(1));
    }
}
