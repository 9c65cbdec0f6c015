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
//! can work, and a cold tree as many as the device can serve. A single slow directory does not prove
//! waiting: the scheduler may have taken the core away. That happens once in hundreds of directories,
//! though, and a device makes nearly all of them slow, so several of a thread's last eight directories
//! must have been slow ([`DeviceWait`]).
//!
//! **Large directories.** A thread that finds no task helps another one with a large directory
//! ([`helpers`](super::helpers)) before it sleeps. Batches that wait for it are looked for and
//! announced as tasks are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Instant;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use transect_sys::Reader;

use crate::lock::{OnPanic, lock};
use crate::walk::device_wait::DeviceWait;
use crate::walk::helpers::{Helpers, PendingBatches};
use crate::walk::shared::WalkShared;
use crate::walk::spare_work::SpareWork;
use crate::walk::task::{TaskOf, Tasks};
use crate::walk::worker::{Reading, WithWorker, Worker};

struct Pool<'p, R: Reader> {
    with_worker: &'p WithWorker<'p, R>,
    stealers: Vec<Stealer<TaskOf<R>>>,
    /// The stacks of threads that have not been started.
    unstarted: Mutex<Stacks<R>>,
    started: AtomicUsize,
    /// The maximum number of threads while directories come from memory, and while they wait.
    busy: usize,
    waiting: usize,
    pending: AtomicUsize,
    /// Batches of large directories, for threads without tasks.
    batches: PendingBatches<R::Handle>,
    sleepers: AtomicUsize,
    gate: Mutex<()>,
    wake: Condvar,
    /// A thread panicked: the others must not wait for its tasks.
    aborted: AtomicBool,
}

/// Thread numbers, each with its stack.
type Stacks<R> = Vec<(usize, Deque<TaskOf<R>>)>;

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
        let began = Instant::now();
        large = first.visit_until_shared(task, &mut children, may_share);
        let entries = first.report_progress();
        spare.add(entries, began.elapsed().saturating_sub(first.take_sink_wait()));
        if large.is_none() {
            tasks.append(&mut children);
        }
    }
    let (busy, waiting) = shared.plan.threads.limits();
    let mut deques: Stacks<R> = (0..waiting).map(|id| (id, Deque::new_lifo())).collect();
    let stealers = deques.iter().map(|(_, deque)| deque.stealer()).collect();
    deques.reverse();
    let (id, local) = deques.pop().expect("BUG: a walk has at least one thread");
    let pool = Pool {
        with_worker,
        stealers,
        unstarted: Mutex::new(deques),
        started: AtomicUsize::new(1),
        busy,
        waiting,
        pending: AtomicUsize::new(tasks.len() + usize::from(large.is_some())),
        batches: PendingBatches::default(),
        sleepers: AtomicUsize::new(0),
        gate: Mutex::new(()),
        wake: Condvar::new(),
        aborted: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        tasks.into_iter().for_each(|task| local.push(task));
        pool.begin(scope, (id, local), first, large.map(|large| (large, children)));
    });
    pool.started.into_inner()
}

impl<R: Reader> Pool<'_, R> {
    /// Visits the rest of a large directory, if there is one, and then tasks as the first thread.
    fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        (id, local): (usize, Deque<TaskOf<R>>),
        worker: &mut Worker<'_, R>,
        large: Option<(Reading<R>, Tasks<R>)>,
    ) {
        if let Some((large, mut children)) = large {
            let _abort = self.abort_on_panic();
            worker.visit_shared(&PoolHelpers { pool: self, scope }, large, &mut children);
            worker.report_progress();
            self.finish_task(children.len());
            children.into_iter().for_each(|child| local.push(child));
        }
        self.work(scope, id, &local, worker);
    }

    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        id: usize,
        local: &Deque<TaskOf<R>>,
        worker: &mut Worker<'_, R>,
    ) {
        let _abort = self.abort_on_panic();
        let helpers = PoolHelpers { pool: self, scope };
        let mut children = Vec::new();
        let mut waits = DeviceWait::default();
        if local.len() > 1 {
            self.share_work(scope, 0);
        }
        while let Some(task) = self.next_task(id, local, worker) {
            let began = Instant::now();
            let entries = worker.visit_with(&helpers, task, &mut children);
            // A sink that waits for its consumer says nothing about the device.
            waits.add(entries, began.elapsed().saturating_sub(worker.take_sink_wait()));
            self.finish_task(children.len());
            children.drain(..).for_each(|child| local.push(child));
            // This thread needs one task for itself.
            if local.len() > 1 {
                self.share_work(scope, waits.take_proof());
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
        self.batches.len() > 0 || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    fn steal(&self, id: usize, local: &Deque<TaskOf<R>>) -> Option<TaskOf<R>> {
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

    /// Wakes a thread, or starts one, because there are tasks to spare; starts more, if the device is worth it.
    fn share_work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, for_device: usize) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
            return;
        }
        let limit = if for_device > 0 { self.waiting } else { self.busy };
        for _ in 0..for_device.max(1) {
            if self.started.load(Ordering::Relaxed) < limit {
                self.start_one(scope);
            }
        }
    }

    fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 && self.is_anything_left() {
            let _gate = lock(&self.gate);
            self.wake.notify_one();
        }
    }

    fn start_one<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let Some((id, local)) = lock(&self.unstarted).pop() else {
            return;
        };
        let thread = Builder::new().spawn_scoped(scope, move || {
            (self.with_worker)(id, &mut |worker| self.work(scope, id, &local, worker));
        });
        // Without another thread the walk continues on those that run.
        if thread.is_ok() {
            self.started.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The other threads of a pool.
struct PoolHelpers<'scope, 'env, 'p, R: Reader> {
    pool: &'scope Pool<'p, R>,
    scope: &'scope Scope<'scope, 'env>,
}

impl<R: Reader> Helpers<R::Handle> for PoolHelpers<'_, '_, '_, R> {
    fn are_free(&self) -> bool {
        let Pool { sleepers, started, busy, .. } = self.pool;
        sleepers.load(Ordering::Relaxed) > 0 || started.load(Ordering::Relaxed) < *busy
    }

    fn threads(&self) -> usize {
        self.pool.started.load(Ordering::Relaxed).max(self.pool.busy)
    }

    fn pending(&self) -> &PendingBatches<R::Handle> {
        &self.pool.batches
    }

    fn call(&self, for_device: usize) {
        self.pool.share_work(self.scope, for_device);
    }
}
