//! A stack per thread; an idle thread steals the oldest tasks of another.
//!
//! ```text
//!   thread 0   push ─►┐ ┌─► pop            thread 1 (empty)
//!              [ a │ b │ c │ d ]                │
//!                └──────────── steal ───────────┘
//!            oldest: nearest to the root, the largest subtree
//! ```
//!
//! **End.** `pending` counts the tasks that wait or are in progress. The children of a task are
//! added before they can be taken, and before the task itself is finished. So `pending` is zero
//! only when no more tasks can appear.
//!
//! **Sleep.** A thread that finds no task registers in `sleepers`, checks every stack once more,
//! and waits at the gate. A pusher checks `sleepers` after it has pushed. There is a sequentially
//! consistent fence between the two steps on either side, so at least one of them sees the other
//! (Dekker). The pusher then takes the gate's lock, which the sleeper holds until it waits: no
//! wake-up is lost, and no thread polls.
//!
//! **Growth.** The walk starts on the caller's thread. While a thread has tasks to spare and no
//! thread sleeps, another one is started: up to the number of cores while directories come from
//! memory, beyond it only while they wait for a device. So a tree of ten files starts no thread, a
//! warm tree as many as can work, and a cold tree as many as the device can serve. A single slow
//! directory does not prove waiting: the scheduler may have taken the core away. That happens once
//! in hundreds of directories, though, and a device makes nearly all of them slow, so
//! [`SLOW_OF_EIGHT`] of a thread's last eight directories must have been slow.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use transect_sys::Reader;

use crate::sink::Sink;
use crate::walk::shared::WalkShared;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

/// A directory that takes longer than this, plus [`SLOW_ENTRY`] per entry, has waited for a device.
/// Warm, a directory takes 5 µs and 2 µs per entry (peers-scan: the floor); the fastest devices
/// take some 60 µs per request.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// How many of its last eight directories must be slow before a thread counts as waiting.
const SLOW_OF_EIGHT: u32 = 3;

struct Pool<'p, R: Reader, S: Sink, F> {
    spawn: &'p F,
    stealers: Vec<Stealer<TaskOf<R, S>>>,
    /// The stacks of threads that have not been started.
    unstarted: Mutex<Stacks<R, S>>,
    started: AtomicUsize,
    /// The maximum number of threads while directories come from memory, and while they wait.
    busy: usize,
    waiting: usize,
    pending: AtomicUsize,
    sleepers: AtomicUsize,
    gate: Mutex<()>,
    wake: Condvar,
    /// A thread panicked: the others must not wait for its tasks.
    aborted: AtomicBool,
    sinks: Mutex<Vec<S>>,
}

type TaskOf<R, S> = Task<<R as Reader>::Handle, <S as Sink>::Tag>;

/// Thread numbers, each with its stack.
type Stacks<R, S> = Vec<(usize, Deque<TaskOf<R, S>>)>;

/// Visits `tasks` and all directories below them.
pub(super) fn drain<'r, R: Reader, S: Sink>(
    shared: &'r WalkShared<R, S>,
    mut first: Worker<'r, R, S>,
    mut tasks: Tasks<R, S>,
    spawn: &(impl Fn(usize) -> Worker<'r, R, S> + Sync),
) -> (Vec<S>, usize) {
    // A single task cannot be shared: no pool is needed yet.
    while tasks.len() < 2 {
        match tasks.pop() {
            Some(task) => first.visit(task, &mut tasks),
            None => return (vec![first.into_sink()], 1),
        };
    }
    let (busy, waiting) = (shared.plan.threads.busy(), shared.plan.threads.waiting());
    let mut deques: Stacks<R, S> = (0..waiting).map(|id| (id, Deque::new_lifo())).collect();
    let stealers = deques.iter().map(|(_, deque)| deque.stealer()).collect();
    deques.reverse();
    let (id, local) = deques.pop().expect("BUG: a walk has at least one thread");
    let pool = Pool {
        spawn,
        stealers,
        unstarted: Mutex::new(deques),
        started: AtomicUsize::new(1),
        busy,
        waiting,
        pending: AtomicUsize::new(tasks.len()),
        sleepers: AtomicUsize::new(0),
        gate: Mutex::new(()),
        wake: Condvar::new(),
        aborted: AtomicBool::new(false),
        sinks: Mutex::new(Vec::new()),
    };
    tasks.into_iter().for_each(|task| local.push(task));
    std::thread::scope(|scope| pool.work(scope, id, local, first));
    let started = pool.started.into_inner();
    (pool.sinks.into_inner().unwrap_or_else(PoisonError::into_inner), started)
}

impl<'p, 'r, R: Reader, S: Sink + 'r, F: Fn(usize) -> Worker<'r, R, S> + Sync> Pool<'p, R, S, F> {
    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        id: usize,
        local: Deque<TaskOf<R, S>>,
        mut worker: Worker<'r, R, S>,
    ) {
        let _abort = AbortOnPanic { aborted: &self.aborted, gate: &self.gate, wake: &self.wake };
        let mut children = Vec::new();
        // One bit per directory, the last eight.
        let mut slow_ones = 0u8;
        if local.len() > 1 {
            self.share_work(scope, false);
        }
        while let Some(task) = self.next_task(id, &local) {
            let began = Instant::now();
            let entries = worker.visit(task, &mut children);
            let limit = SLOW_DIRECTORY + SLOW_ENTRY * entries;
            // A sink that waits for its consumer says nothing about the device.
            let slow = began.elapsed().saturating_sub(worker.take_sink_wait()) > limit;
            slow_ones = slow_ones << 1 | u8::from(slow);
            self.finish_task(children.len());
            children.drain(..).for_each(|child| local.push(child));
            // This thread needs one task for itself.
            if local.len() > 1 {
                let slow_device = slow_ones.count_ones() >= SLOW_OF_EIGHT;
                self.share_work(scope, slow_device);
                if slow_device {
                    // Require new evidence for the next thread: one stall of the machine must not
                    // start them all.
                    slow_ones = 0;
                }
            }
        }
        lock(&self.sinks).push(worker.into_sink());
    }

    /// Returns the newest task of this thread, or the oldest of another one. Sleeps while there are
    /// none but tasks in progress may yield some.
    fn next_task(&self, id: usize, local: &Deque<TaskOf<R, S>>) -> Option<TaskOf<R, S>> {
        loop {
            if let Some(task) = local.pop().or_else(|| self.steal(id, local)) {
                return Some(task);
            }
            let mut gate = lock(&self.gate);
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let more = loop {
                if self.aborted.load(Ordering::Relaxed) || self.pending.load(Ordering::Acquire) == 0
                {
                    break false;
                }
                if self.stealers.iter().any(|stealer| !stealer.is_empty()) {
                    break true;
                }
                gate = self.wake.wait(gate).unwrap_or_else(PoisonError::into_inner);
            };
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            if !more {
                return None;
            }
        }
    }

    fn steal(&self, id: usize, local: &Deque<TaskOf<R, S>>) -> Option<TaskOf<R, S>> {
        let threads = self.stealers.len();
        for victim in (id + 1..id + threads).map(|victim| &self.stealers[victim % threads]) {
            loop {
                match victim.steal_batch_and_pop(local) {
                    Steal::Success(task) => {
                        self.wake_one();
                        return Some(task);
                    }
                    Steal::Empty => break,
                    Steal::Retry => {}
                }
            }
        }
        None
    }

    /// Finishes one task that yielded `found` new ones, which the caller pushes next.
    fn finish_task(&self, found: usize) {
        if found > 1 {
            self.pending.fetch_add(found - 1, Ordering::Relaxed);
        } else if found == 0 && self.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _gate = lock(&self.gate);
            self.wake.notify_all();
        }
    }

    /// Wakes a thread, or starts one, because there are tasks to spare.
    fn share_work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, slow_device: bool) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
            return;
        }
        let limit = if slow_device { self.waiting } else { self.busy };
        if self.started.load(Ordering::Relaxed) < limit {
            self.start_one(scope);
        }
    }

    fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0
            && self.stealers.iter().any(|stealer| !stealer.is_empty())
        {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
        }
    }

    fn start_one<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let Some((id, local)) = lock(&self.unstarted).pop() else {
            return;
        };
        let thread = Builder::new()
            .spawn_scoped(scope, move || self.work(scope, id, local, (self.spawn)(id)));
        // Without another thread the walk continues on those that run.
        if thread.is_ok() {
            self.started.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the walk on all threads when a sink panics: the others would wait forever.
struct AbortOnPanic<'a> {
    aborted: &'a AtomicBool,
    gate: &'a Mutex<()>,
    wake: &'a Condvar,
}

impl Drop for AbortOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.aborted.store(true, Ordering::Relaxed);
            let _gate = lock(self.gate);
            self.wake.notify_all();
        }
    }
}
