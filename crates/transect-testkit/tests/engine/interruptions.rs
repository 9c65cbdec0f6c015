//! Sinks that stop a walk, and sinks that panic.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use transect::internal::Order;
use transect::{
    Cancel, Dir, Entering, FileType, Flow, Omission, ScanOptions, Sink, SkipReason, Tag, Totals,
    Visit, Want,
};
use transect_sys::fake::FaultPoint;
use transect_testkit::{wait_until, within};

use crate::faults::{forest, forest_counts, options};
use crate::support::{counts, run_fake, schedules};

/// The action of a [`Watched`] sink from its n-th batch on, counted over all threads.
#[derive(Clone, Debug)]
enum Interruption {
    Nothing,
    Quit(u64),
    Cancel(u64, Cancel),
}

/// The calls that the sinks of one walk received.
#[derive(Debug, Default)]
struct Seen {
    batches: AtomicU64,
    bytes: AtomicU64,
    entered: AtomicU64,
    left: AtomicU64,
}

/// Totals that also count their calls.
struct Watched {
    inner: Totals,
    seen: Arc<Seen>,
    interruption: Interruption,
}

impl Sink for Watched {
    fn want(&self) -> Want {
        self.inner.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        self.seen.entered.fetch_add(1, Ordering::Relaxed);
        self.inner.enter(entering)
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        for entry in visit.batch.iter() {
            if entry.file_type() != FileType::Directory {
                let size = entry.attributes.size().expect("sizes were wanted");
                self.seen.bytes.fetch_add(size, Ordering::Relaxed);
            }
        }
        let batch = 1 + self.seen.batches.fetch_add(1, Ordering::Relaxed);
        let flow = self.inner.visit(visit);
        match &self.interruption {
            Interruption::Quit(at) if batch >= *at => Flow::Quit,
            Interruption::Cancel(at, cancel) if batch >= *at => {
                cancel.cancel();
                flow
            }
            _ => flow,
        }
    }

    fn leave(&mut self, dir: &Dir) {
        self.seen.left.fetch_add(1, Ordering::Relaxed);
        self.inner.leave(dir);
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        let flow = self.inner.omit(dir, omission);
        if matches!(self.interruption, Interruption::Quit(0)) {
            return Flow::Quit;
        }
        flow
    }

    fn merge(&mut self, other: Self) {
        self.inner.merge(other.inner);
    }
}

/// Walks a forest with a watched sink. However the walk ends, the totals must equal the delivered
/// entries, and every entered directory must have been left.
fn walk_watched(options: ScanOptions, interruption: &Interruption) -> (Totals, Arc<Seen>, bool) {
    let tree = Arc::new(forest());
    let seen = Arc::new(Seen::default());
    let context = format!("{interruption:?} in {:?}", options.settings.order);
    let outcome = run_fake(&tree, options, || Watched {
        inner: Totals::new(3),
        seen: Arc::clone(&seen),
        interruption: interruption.clone(),
    });
    let totals = outcome.sink.inner;
    let at = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!(totals.sizes.apparent, at(&seen.bytes), "{context}");
    assert_eq!(at(&seen.entered), at(&seen.left), "{context}");
    assert_eq!(at(&seen.entered), totals.directories + 1, "{context}: the top");
    (totals, seen, outcome.interrupted)
}

#[test]
fn sink_quit_stops_all_threads() {
    for (order, threads) in schedules() {
        for at in [1, 2, 10, 100] {
            let options = options().order(order).threads(threads);
            let (got, seen, interrupted) = walk_watched(options, &Interruption::Quit(at));
            let context = format!("{at} in {} on {threads}", order.as_str());
            let batches = seen.batches.load(Ordering::Relaxed);
            // Each of the other threads may be in the middle of a batch.
            let others = if order.is_parallel() { threads as u64 - 1 } else { 0 };
            assert!((at..=at + others).contains(&batches), "{context}: {batches} batches");
            assert!(!interrupted, "{context}: the walk was not cancelled");
            assert!(got.directories < 156, "{context}");
        }
    }
}

#[test]
fn sink_quit_on_error_stops_walk() {
    let mut tree = forest();
    for a in 0..5 {
        tree.fail(&format!("/{a}"), FaultPoint::Open, Some(ErrorKind::Other));
    }
    let tree = Arc::new(tree);
    for &order in Order::ALL {
        let seen = Arc::new(Seen::default());
        let outcome = run_fake(&tree, options().order(order).threads(1), || Watched {
            inner: Totals::new(0),
            seen: Arc::clone(&seen),
            interruption: Interruption::Quit(0),
        });
        assert!(outcome.sink.inner.diagnostics.errors <= 1, "{}", order.as_str());
    }
}

#[test]
fn cancel_before_walk_reads_nothing() {
    for (order, threads) in schedules() {
        let cancel = Cancel::new();
        cancel.cancel();
        let options = options().order(order).threads(threads).cancel(cancel);
        let (got, _, interrupted) = walk_watched(options, &Interruption::Nothing);
        assert!(interrupted, "{}", order.as_str());
        assert_eq!((got.directories, got.files), (0, 0), "{}", order.as_str());
    }
}

#[test]
fn cancel_during_walk_keeps_delivered_entries() {
    for (order, threads) in schedules() {
        for at in [2, 20, 200] {
            let cancel = Cancel::new();
            let options = options().order(order).threads(threads).cancel(cancel.clone());
            let (got, seen, interrupted) = walk_watched(options, &Interruption::Cancel(at, cancel));
            let context = format!("{at} in {} on {threads}", order.as_str());
            assert!(interrupted, "{context}");
            assert!(got.directories < 156, "{context}: {}", got.directories);
            assert!(seen.batches.load(Ordering::Relaxed) >= at, "{context}");
        }
    }
    // Without an interruption, the walk is complete.
    let (got, ..) = walk_watched(options(), &Interruption::Nothing);
    counts(&got).assert_are(&forest_counts(), "nothing was done");
}

/// The call at which a [`Bomb`] panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fuse {
    Enter,
    Visit,
    Leave,
    Error,
    Judge,
    Merge,
}

const BANG: &str = "this sink panics on purpose";

/// Panics at the n-th call of one kind, counted over all threads.
struct Bomb {
    fuse: Fuse,
    left: Arc<AtomicU64>,
}

impl Bomb {
    fn tick(&self, at: Fuse) {
        if at == self.fuse && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            panic!("{BANG}");
        }
    }
}

impl Sink for Bomb {
    fn want(&self) -> Want {
        Totals::new(0).want()
    }

    fn enter(&mut self, _: Entering<'_>) -> Tag {
        self.tick(Fuse::Enter);
        Tag::None
    }

    fn judges(&self) -> bool {
        true
    }

    fn judge(&mut self, _: &Dir, _: transect::EntryRef<'_>) -> transect::Verdict {
        self.tick(Fuse::Judge);
        transect::Verdict::Keep
    }

    fn visit(&mut self, _: Visit<'_>) -> Flow {
        self.tick(Fuse::Visit);
        Flow::Continue
    }

    fn leave(&mut self, _: &Dir) {
        self.tick(Fuse::Leave);
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        self.tick(Fuse::Error);
        Flow::Continue
    }

    fn merge(&mut self, _: Self) {
        self.tick(Fuse::Merge);
    }
}

#[test]
fn sink_panic_ends_walk_in_every_order() {
    let mut tree = forest();
    for a in 0..5 {
        tree.fail(&format!("/{a}/0/0"), FaultPoint::Open, Some(ErrorKind::Other));
    }
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        for fuse in [Fuse::Enter, Fuse::Visit, Fuse::Leave, Fuse::Error, Fuse::Judge] {
            for nth in [1, 3, 5, 60] {
                let tree = Arc::clone(&tree);
                let left = Arc::new(AtomicU64::new(nth));
                let ticks = Arc::clone(&left);
                let what = format!("{fuse:?} {nth} in {} on {threads}", order.as_str());
                let fell = within(&what, move || {
                    let make = || Bomb { fuse, left: Arc::clone(&left) };
                    let options = options().order(order).threads(threads);
                    catch_unwind(AssertUnwindSafe(|| drop(run_fake(&tree, options, make))))
                });
                let went_off = !(fuse == Fuse::Error && nth == 60);
                assert_eq!(fell.is_err(), went_off, "{what}: {ticks:?}");
            }
        }
    }
}

#[test]
fn sink_panic_in_merge_ends_walk() {
    let tree = Arc::new(forest());
    // Whether sinks are merged depends on the schedule.
    wait_until("a walk that merges", || {
        let mut fallen = 0;
        for (order, threads) in schedules() {
            let tree = Arc::clone(&tree);
            let left = Arc::new(AtomicU64::new(1));
            let ticks = Arc::clone(&left);
            let what = format!("merging in {} on {threads}", order.as_str());
            let fell = within(&what, move || {
                let make = || Bomb { fuse: Fuse::Merge, left: Arc::clone(&left) };
                let options = options().order(order).threads(threads);
                catch_unwind(AssertUnwindSafe(|| drop(run_fake(&tree, options, make))))
            });
            assert_eq!(fell.is_err(), ticks.load(Ordering::Relaxed) != 1, "{what}");
            fallen += u64::from(fell.is_err());
        }
        fallen > 0
    });
}

/// Ends the walk at the first directory that is not read.
struct EndsAtSkip(u64);

impl Sink for EndsAtSkip {
    fn want(&self) -> Want {
        Want::nothing()
    }

    fn visit(&mut self, _: Visit<'_>) -> Flow {
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        assert!(
            matches!(omission, Omission::Skipped { reason: SkipReason::MaxDepth, .. }),
            "{omission:?}"
        );
        self.0 += 1;
        Flow::Quit
    }

    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[test]
fn sink_quit_at_omission_ends_walk() {
    let tree = Arc::new(forest());
    for &order in Order::ALL {
        let options = options().order(order).threads(1).max_depth(2);
        let skips = run_fake(&tree, options, || EndsAtSkip(0)).sink.0;
        // Those of one batch of one of the five directories below the root.
        assert!((1..=5).contains(&skips), "{skips} in {}", order.as_str());
    }
}

/// A sink panics on one thread while all others are in the middle of a batch, and return after the
/// walk has ended.
struct Ambush {
    caller: ThreadId,
    meeting: Arc<Meeting>,
}

#[derive(Debug, Default)]
struct Meeting {
    /// The caller's thread is in the middle of a batch.
    waits: Mutex<bool>,
    changed: Condvar,
    fallen: AtomicBool,
}

impl Sink for Ambush {
    fn want(&self) -> Want {
        Want::default()
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        // Two steps below the root, where there is work for every thread.
        if visit.dir.depth() < Some(2) {
            return Flow::Continue;
        }
        let meeting = &self.meeting;
        let mut waits = meeting.waits.lock().unwrap();
        if std::thread::current().id() == self.caller {
            if !*waits {
                *waits = true;
                meeting.changed.notify_all();
                drop(waits);
                while !meeting.fallen.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                // Long enough for the panic to reach the walk. With a shorter time the test would
                // check less.
                std::thread::sleep(Duration::from_millis(50));
            }
        } else {
            while !*waits {
                waits = meeting.changed.wait(waits).unwrap();
            }
            drop(waits);
            if !meeting.fallen.swap(true, Ordering::AcqRel) {
                panic!("{BANG}");
            }
        }
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        Flow::Continue
    }

    fn merge(&mut self, _: Self) {}
}

#[test]
fn sink_panic_on_one_thread_others_count_correctly() {
    let tree = Arc::new(forest());
    for order in [Order::SharedQueue, Order::WorkStealing] {
        for threads in [2, 4] {
            let tree = Arc::clone(&tree);
            let what = format!("an ambush in {} on {threads}", order.as_str());
            let fell = within(&what, move || {
                let caller = std::thread::current().id();
                let meeting = Arc::new(Meeting::default());
                let make = || Ambush { caller, meeting: Arc::clone(&meeting) };
                let options = options().order(order).threads(threads);
                catch_unwind(AssertUnwindSafe(|| drop(run_fake(&tree, options, make))))
            });
            let panic = fell.expect_err("one thread fell");
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or_default();
            assert!(
                text == BANG || text == "a scoped thread panicked",
                "{what}: another panic came of it: {text}"
            );
        }
    }
}
