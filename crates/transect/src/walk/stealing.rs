//! A stack for every thread; whoever has nothing takes the oldest tasks of another.
//!
//! ```text
//!   thread 0   push ─►┐ ┌─► pop            thread 1 (empty)
//!              [ a │ b │ c │ d ]                │
//!                └──────────── steal ───────────┘
//!            oldest: nearest to the root, the largest part
//! ```
//!
//! **End.** `pending` counts tasks that wait or are being worked on. A task's children are added
//! to it before they can be taken and before the task itself is done, so it is zero only when
//! nothing can come any more.
//!
//! **Sleep.** A thread that finds nothing anywhere sleeps at the gate. It makes itself known in
//! `sleepers`, and looks once more into every stack, before it waits; who pushes looks at
//! `sleepers` afterwards. Between both lies a sequentially consistent fence on either side, so at
//! least one of them sees the other (Dekker). The one who pushes then takes the gate's lock, which
//! the sleeper holds until it waits: no wake-up is lost, and nobody polls.
//!
//! **Growth.** The walk begins on the caller's thread. As long as somebody has tasks to spare and
//! nobody sleeps, another thread is started: up to the number of cores while directories are read
//! at once, and beyond it only while they wait for a device. So a tree of ten files starts no
//! thread, a warm tree as many as can work, and a cold tree as many as the device can serve.
//! That a directory takes long is no proof of waiting: the scheduler may have taken the core away.
//! But that happens once in hundreds of directories, and a device makes nearly all of them slow;
//! so [`SLOW_OF_EIGHT`] of a thread's last eight must have been.

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

/// A directory that took longer than this, and [`SLOW_ENTRY`] for each entry, waited for a device.
/// Warm, a directory takes 5 µs and 2 µs an entry (peers-scan: the floor); the fastest device
/// takes some 60 µs to answer at all.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// How many of a thread's last eight directories were slow if it waits for a device.
const SLOW_OF_EIGHT: u32 = 3;

struct Pool<'p, R: Reader, S: Sink, F> {
    spawn: &'p F,
    stealers: Vec<Stealer<TaskOf<R, S>>>,
    /// The stacks of threads that have not been started.
    unstarted: Mutex<Stacks<R, S>>,
    started: AtomicUsize,
    /// The most threads while directories are read at once, and while they wait.
    busy: usize,
    waiting: usize,
    pending: AtomicUsize,
    sleepers: AtomicUsize,
    gate: Mutex<()>,
    wake: Condvar,
    /// A thread panicked: nobody waits for its tasks.
    aborted: AtomicBool,
    sinks: Mutex<Vec<S>>,
}

type TaskOf<R, S> = Task<<R as Reader>::Handle, <S as Sink>::Tag>;

/// Threads by number, each with its stack.
type Stacks<R, S> = Vec<(usize, Deque<TaskOf<R, S>>)>;

/// Visits `tasks` and all that they lead to.
pub(super) fn drain<'r, R: Reader, S: Sink>(
    shared: &'r WalkShared<'r, R, S>,
    mut first: Worker<'r, R, S>,
    mut tasks: Tasks<R, S>,
    spawn: &(impl Fn(usize) -> Worker<'r, R, S> + Sync),
) -> (Vec<S>, usize) {
    // While there is one directory at a time there is nothing to share, and no pool is made.
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
        // One bit for each of the last eight directories.
        let mut slow_ones = 0u8;
        if local.len() > 1 {
            self.share_work(scope, false);
        }
        while let Some(task) = self.next_task(id, &local) {
            let began = Instant::now();
            let entries = worker.visit(task, &mut children);
            let slow = began.elapsed() > SLOW_DIRECTORY + SLOW_ENTRY * entries;
            slow_ones = slow_ones << 1 | u8::from(slow);
            self.finish_task(children.len());
            children.drain(..).for_each(|child| local.push(child));
            // One task is for this thread itself.
            if local.len() > 1 {
                let slow_device = slow_ones.count_ones() >= SLOW_OF_EIGHT;
                self.share_work(scope, slow_device);
                if slow_device {
                    // The next thread wants new evidence: one stall of the machine must not
                    // start them all.
                    slow_ones = 0;
                }
            }
        }
        lock(&self.sinks).push(worker.into_sink());
    }

    /// Returns the next task: the newest of this thread's, or the oldest of another's. Sleeps
    /// while there are none but some may come.
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

    /// One task is done, and `found` new ones are about to be pushed.
    fn finish_task(&self, found: usize) {
        if found > 1 {
            self.pending.fetch_add(found - 1, Ordering::Relaxed);
        } else if found == 0 && self.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _gate = lock(&self.gate);
            self.wake.notify_all();
        }
    }

    /// There are tasks to spare: wakes a thread, or starts one.
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
        // A system that has no more threads to give is no reason to fail: there is one already.
        if thread.is_ok() {
            self.started.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A sink that panics ends the walk on all threads: nobody waits for what will not come.
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
