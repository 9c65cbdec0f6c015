//! Directories that are known beforehand, such as those of a batch of queries.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use crate::plan::{MaxThreads, ThreadLimits};
use crate::walk::device_wait::{DeviceWait, Latency};

/// Calls `visit` once for each directory. It reports how many entries it has read since its last report. Threads are
/// started only while these take long: the more at once, the longer, as in a walk. There are at most `threads`, the current
/// one included, if that is given.
pub fn for_each_dir<D: Sync>(
    dirs: &[D],
    threads: Option<usize>,
    visit: impl Fn(&D, &mut dyn FnMut(u32)) + Sync,
) {
    let pool = Pool {
        dirs,
        visit,
        next: AtomicUsize::new(0),
        started: AtomicUsize::new(1),
        most: threads.unwrap_or(usize::MAX),
        limits: LazyLock::new(|| ThreadLimits::default().limits()),
    };
    std::thread::scope(|scope| pool.work(scope, DeviceWait::default()));
}

struct Pool<'d, D, V> {
    dirs: &'d [D],
    visit: V,
    /// The next directory that a thread takes. Once there are none left, it is behind the last one.
    next: AtomicUsize,
    started: AtomicUsize,
    most: usize,
    limits: LazyLock<MaxThreads>,
}

impl<D: Sync, V: Fn(&D, &mut dyn FnMut(u32)) + Sync> Pool<'_, D, V> {
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, mut waits: DeviceWait) {
        let mut others = Vec::new();
        while let Some(dir) = self.dirs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let mut since = Instant::now();
            (self.visit)(dir, &mut |entries| {
                let took = since.elapsed();
                waits.add(entries, took, self.started.load(Ordering::Relaxed));
                let latency = waits.take_proof();
                let left = self.dirs.len().saturating_sub(self.next.load(Ordering::Relaxed));
                let threads = latency.threads_for(left).min(left);
                others.extend((0..threads).map_while(|_| self.start_one(scope, latency)));
                since = Instant::now();
            });
        }
        // The scope waits until they return, but not for the calls with which they end.
        for thread in others {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Starts a thread, unless there are as many as the latency is worth.
    fn start_one<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        latency: Latency,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        if latency.is_memory() {
            return None;
        }
        let limit = latency.max_threads(*self.limits).min(self.most);
        let next = |started| (started < limit).then_some(started + 1);
        self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        let work = move || self.work(scope, DeviceWait::expecting(latency));
        Builder::new().spawn_scoped(scope, work).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::{Barrier, Mutex};
    use std::time::Duration;

    use super::*;

    /// So many entries that reading them is fast even on a machine that stops for seconds.
    const FAST: u32 = 10_000_000;

    #[test]
    fn fast_directories_visited_in_order_on_one_thread() {
        let visited = Mutex::new(Vec::new());
        for_each_dir(&(0..100).collect::<Vec<u32>>(), None, |&dir, report| {
            visited.lock().unwrap().push((dir, std::thread::current().id()));
            report(FAST);
        });
        let here = std::thread::current().id();
        let expected: Vec<_> = (0..100).map(|dir| (dir, here)).collect();
        assert_eq!(visited.into_inner().unwrap(), expected);
    }

    #[test]
    fn slow_directories_visited_on_one_thread_if_no_more_are_wanted() {
        let here = std::thread::current().id();
        for_each_dir(&[0; 20], Some(1), |_, report| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(1) {}
            report(1);
            assert_eq!(std::thread::current().id(), here);
        });
    }

    /// Visits two directories, of which the first is slow. Each waits for the other one, so this ends only on two threads.
    fn visit_two(then: impl Fn(usize) + Sync) {
        let both = Barrier::new(2);
        for_each_dir(&[0, 1], None, |&dir, report| {
            for _ in 0..if dir == 0 { 3 } else { 0 } {
                let began = Instant::now();
                while began.elapsed() < Duration::from_millis(1) {}
                report(1);
            }
            both.wait();
            then(dir);
        });
    }

    #[test]
    fn slow_directories_each_visited_once_on_two_threads() {
        let visited = Mutex::new(HashSet::new());
        visit_two(|dir| assert!(visited.lock().unwrap().insert(dir)));
        assert_eq!(visited.into_inner().unwrap().len(), 2);
    }

    #[test]
    #[should_panic = "assertion `left == right` failed"]
    fn panic_on_another_thread_passed_on() {
        visit_two(|dir| assert_eq!(dir, 0));
    }
}
