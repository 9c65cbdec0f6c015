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
//! **Growth.** The walk starts on the caller's thread, which gets a second one when many directories
//! wait, or more and more, or when several have waited for long ([`SpareWork`]). From then on, while a thread has tasks to spare and no thread sleeps,
//! another one is started: up to the number of cores while directories come from memory, beyond it
//! only while they wait for a device. So a tree of ten files starts no thread, a warm tree as many as
//! can work, and a cold tree as many as the device can serve. On a far slower device, such as a network, many start at once. A single slow directory does not prove
//! waiting: the scheduler may have taken the core away. That happens once in hundreds of directories,
//! though, and a device makes nearly all of them slow, so several of a thread's last eight directories
//! must have been slow ([`DeviceWait`]). Before there are threads, listing and queries of a directory count as two.
//!
//! **Large directories.** A thread that finds no task helps another one with a large directory
//! ([`helpers`](super::helpers)) before it sleeps. Batches that wait for it are looked for and
//! announced as tasks are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Instant;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use transect_sys::Reader;

use crate::lock::{OnPanic, lock};
use crate::plan::MaxThreads;
use crate::walk::device_wait::{DeviceWait, Latency};
use crate::walk::helpers::{Helpers, PendingBatches};
use crate::walk::shared::WalkShared;
use crate::walk::spare_work::SpareWork;
use crate::walk::task::{TaskOf, Tasks};
use crate::walk::worker::{Reading, WithWorker, Worker};

struct Pool<'p, R: Reader> {
    with_worker: &'p WithWorker<'p, R>,
    /// The stacks of all threads, each set by its thread when that begins.
    stealers: Vec<OnceLock<Stealer<TaskOf<R>>>>,
    /// The number of threads that were started, or failed to start.
    started: AtomicUsize,
    limits: MaxThreads,
    pending: AtomicUsize,
    /// Batches of large directories, for threads without tasks.
    batches: PendingBatches<R::Handle>,
    sleepers: AtomicUsize,
    gate: Mutex<()>,
    wake: Condvar,
    /// A thread panicked: the others must not wait for its tasks.
    aborted: AtomicBool,
}

/// Visits `tasks` and all directories below them.
pub(super) fn drain<R: Reader>(
    shared: &WalkShared<R>,
    first: &mut Worker<'_, R>,
    mut tasks: Tasks<R>,
    with_worker: &WithWorker<'_, R>,
) -> usize {
    let mut spare = SpareWork::new(shared.plan.threads);
    let (mut large, mut children) = (None, Vec::new());
    while large.is_none() && !spare.is_worth_a_thread(tasks.len()) {
        let Some(task) = tasks.pop() else { return 1 };
        let may_share = || shared.plan.threads.busy() > 1;
        let mut began = Instant::now();
        // Listing and queries count as two, so that one directory of a far slower device starts many threads.
        let on_listed = |entries: usize| {
            let listed = Instant::now();
            spare.add(entries as u32, listed - began);
            began = listed;
        };
        large = first.visit_until_shared(task, &mut children, may_share, on_listed);
        let entries = first.report_progress();
        spare.add(entries, began.elapsed().saturating_sub(first.take_sink_wait()));
        if large.is_none() {
            tasks.append(&mut children);
        }
    }
    let limits = shared.plan.threads.limits();
    let pool = Pool {
        with_worker,
        stealers: (0..limits.network).map(|_| OnceLock::new()).collect(),
        started: AtomicUsize::new(1),
        limits,
        pending: AtomicUsize::new(tasks.len() + usize::from(large.is_some())),
        batches: PendingBatches::default(),
        sleepers: AtomicUsize::new(0),
        gate: Mutex::new(()),
        wake: Condvar::new(),
        aborted: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let local = pool.new_stack(0);
        tasks.into_iter().for_each(|task| local.push(task));
        pool.begin(scope, &local, first, spare.waits(), large.map(|large| (large, children)));
    });
    pool.stealers.iter().filter(|stealer| stealer.get().is_some()).count()
}

impl<R: Reader> Pool<'_, R> {
    /// Visits the rest of a large directory, if there is one, and then tasks as the first thread.
    fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        local: &Deque<TaskOf<R>>,
        worker: &mut Worker<'_, R>,
        waits: DeviceWait,
        large: Option<(Reading<R>, Tasks<R>)>,
    ) {
        if let Some((large, mut children)) = large {
            let _abort = self.abort_on_panic();
            worker.visit_shared(&PoolHelpers { pool: self, scope }, large, &mut children);
            worker.report_progress();
            self.finish_task(children.len());
            children.into_iter().for_each(|child| local.push(child));
        }
        self.work(scope, 0, local, worker, waits);
    }

    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        id: usize,
        local: &Deque<TaskOf<R>>,
        worker: &mut Worker<'_, R>,
        mut waits: DeviceWait,
    ) {
        let _abort = self.abort_on_panic();
        let helpers = PoolHelpers { pool: self, scope };
        let mut children = Vec::new();
        if local.len() > 1 {
            self.share_work(scope, waits.take_proof(), local.len());
        }
        while let Some(task) = self.next_task(id, local, worker) {
            let began = Instant::now();
            let entries = worker.visit_with(&helpers, task, &mut children);
            // A sink that waits for its consumer says nothing about the device.
            let took = began.elapsed().saturating_sub(worker.take_sink_wait());
            waits.add(entries, took, self.started.load(Ordering::Relaxed));
            self.finish_task(children.len());
            children.drain(..).for_each(|child| local.push(child));
            // A proof is kept while there is nothing to start a thread for.
            if local.len() > 1 {
                self.share_work(scope, waits.take_proof(), local.len());
            }
        }
    }

    /// Ends the walk on all threads when a sink panics: the others would wait forever.
    fn abort_on_panic(&self) -> OnPanic<impl Fn()> {
        OnPanic(|| {
            self.aborted.store(true, Ordering::Relaxed);
            let _gate = lock(&self.gate);
            self.wake.notify_all();
        })
    }

    /// Returns the newest task of this thread, or the oldest of another one. While there are none,
    /// helps with large directories. Sleeps while there is nothing to do but tasks in progress may
    /// yield some.
    fn next_task(
        &self,
        id: usize,
        local: &Deque<TaskOf<R>>,
        worker: &mut Worker<'_, R>,
    ) -> Option<TaskOf<R>> {
        loop {
            if let Some(task) = local.pop().or_else(|| self.steal(id, local)) {
                return Some(task);
            }
            if let Some(batch) = self.batches.take() {
                worker.help(batch);
                continue;
            }
            let mut gate = lock(&self.gate);
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let more = loop {
                if self.aborted.load(Ordering::Relaxed) || self.pending.load(Ordering::Acquire) == 0
                {
                    break false;
                }
                if self.is_anything_left() {
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

    fn is_anything_left(&self) -> bool {
        self.batches.len() > 0
            || self.stacks().iter().any(|stack| !stack.get().is_none_or(Stealer::is_empty))
    }

    fn steal(&self, id: usize, local: &Deque<TaskOf<R>>) -> Option<TaskOf<R>> {
        let stacks = self.stacks();
        let others = stacks[id + 1..].iter().chain(&stacks[..id]);
        for victim in others.filter_map(OnceLock::get) {
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

    /// Wakes a thread, or starts one, because several `tasks` wait and the caller takes one of them. Starts more for
    /// the others if the device is worth it.
    fn share_work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        latency: Latency,
        tasks: usize,
    ) {
        fence(Ordering::SeqCst);
        let sleepers = self.sleepers.load(Ordering::Relaxed);
        if sleepers > 0 {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
        }
        // Other threads may have taken all of them by now.
        let waiting = tasks.saturating_sub(1);
        let threads = latency.threads_for(waiting).saturating_sub(sleepers);
        (0..threads).take_while(|_| self.start_one(scope, latency)).count();
    }

    fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 && self.is_anything_left() {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
        }
    }

    /// Starts a thread, unless there are as many as the latency is worth.
    fn start_one<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, latency: Latency) -> bool {
        let limit = latency.max_threads(self.limits);
        let next = |started| (started < limit).then_some(started + 1);
        let Ok(id) = self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else {
            return false;
        };
        let thread = Builder::new().spawn_scoped(scope, move || {
            let local = self.new_stack(id);
            let waits = DeviceWait::expecting(latency);
            (self.with_worker)(id, &mut |worker| self.work(scope, id, &local, worker, waits));
        });
        // Without another thread the walk continues on those that run.
        thread.is_ok()
    }

    /// Returns an empty stack, from which other threads can steal.
    fn new_stack(&self, id: usize) -> Deque<TaskOf<R>> {
        let stack = Deque::new_lifo();
        assert!(self.stealers[id].set(stack.stealer()).is_ok(), "BUG: two threads with one number");
        stack
    }

    /// Returns the stacks of the threads that were started.
    fn stacks(&self) -> &[OnceLock<Stealer<TaskOf<R>>>] {
        &self.stealers[..self.started.load(Ordering::Relaxed)]
    }
}

/// The other threads of a pool.
struct PoolHelpers<'scope, 'env, 'p, R: Reader> {
    pool: &'scope Pool<'p, R>,
    scope: &'scope Scope<'scope, 'env>,
}

impl<R: Reader> Helpers<R::Handle> for PoolHelpers<'_, '_, '_, R> {
    fn are_free(&self) -> bool {
        let Pool { sleepers, started, limits, .. } = self.pool;
        sleepers.load(Ordering::Relaxed) > 0 || started.load(Ordering::Relaxed) < limits.memory
    }

    fn threads(&self) -> usize {
        self.pool.started.load(Ordering::Relaxed).max(self.pool.limits.memory)
    }

    fn pending(&self) -> &PendingBatches<R::Handle> {
        &self.pool.batches
    }

    fn call(&self, latency: Latency) {
        self.pool.share_work(self.scope, latency, self.pending().len());
    }
}
