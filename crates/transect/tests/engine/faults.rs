//! Faults that are too rare on real file systems, injected into a tree in memory.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use transect::{
    Cancel, Dir, Entering, FaultKind, FileType, Filters, Flow, Operation, Order, ScanError,
    ScanOptions, Sink, SkipReason, Totals, Visit, Want,
};
use transect_sys::fake::{FakeTree, FaultPoint};
use transect_testkit::{Counts, wait_until, within};

use crate::support::{
    assert_complete, counts, fake_paths, fake_totals, readable, run_fake, scan, schedules, skipped,
};

/// 1 + 5 + 25 + 125 directories; 4 files in each of the lowest, one link and one pipe in each of
/// the middle ones.
fn forest() -> FakeTree {
    let mut tree = FakeTree::new();
    for a in 0..5 {
        for b in 0..5 {
            tree.add(&format!("/{a}/{b}/link"), FileType::Symlink, 7);
            tree.add(&format!("/{a}/{b}/pipe"), FileType::Fifo, 0);
            for c in 0..5 {
                for file in 0..4 {
                    let path = format!("/{a}/{b}/{c}/file{file}");
                    tree.add(&path, FileType::File, 100 + file);
                }
            }
        }
    }
    tree
}

/// The counts of [`forest`], by hand. Its root has 0 bytes, all other directories 4,096.
fn forest_counts() -> Counts {
    Counts {
        files: 500,
        directories: 156,
        symlinks: 25,
        others: 25,
        hard_links: 0,
        apparent_size: 125 * (100 + 101 + 102 + 103) + 25 * 7,
        allocated_size: 525 * 512,
        directories_allocated_size: 155 * 4096,
        allocation_unknown: false,
    }
}

fn options() -> ScanOptions {
    scan("/")
}

// ---- nothing wrong ----

/// Windows marks directories whose content a cloud service has not downloaded yet.
#[test]
fn placeholder_directory_counted_not_read() {
    const RECALL_ON_OPEN: u32 = 0x0004_0000;
    let mut tree = FakeTree::new();
    tree.add("/here/file", FileType::File, 10).add("/elsewhere/file", FileType::File, 100);
    tree.change("/elsewhere", |attributes| attributes.set_attribute_bits(RECALL_ON_OPEN));
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let context = format!("{} on {threads}", order.as_str());
        let options = options().order(order).threads(threads);
        let got = fake_totals(&tree, options.clone());
        assert_complete(&got.diagnostics, &context);
        assert_eq!((got.files, got.directories), (1, 3), "{context}");
        assert_eq!(skipped(&got.diagnostics, SkipReason::Placeholder), 1, "{context}");
        let got = fake_totals(&tree, options.follow(true));
        assert_eq!((got.files, got.directories), (2, 3), "{context}");
        assert!(got.diagnostics.skipped.is_empty(), "{context}");
    }
}

#[test]
fn totals_fake_tree_complete_in_every_order() {
    let tree = Arc::new(forest());
    for (order, threads) in schedules() {
        let got = fake_totals(&tree, options().order(order).threads(threads));
        assert_complete(&got.diagnostics, order.as_str());
        counts(&got).assert_are(&forest_counts(), order.as_str());
    }
}

#[test]
fn listing_last_entry_of_batch_not_lost() {
    for batch in [1, 2, 3, 4, 5, 7, 1000] {
        let mut tree = forest();
        tree.batch = batch;
        let tree = Arc::new(tree);
        for (order, threads) in schedules() {
            let options = options().order(order).threads(threads);
            let context = format!("{batch} a batch in {}", order.as_str());
            let got = fake_totals(&tree, options.clone());
            counts(&got).assert_are(&forest_counts(), &context);
            let (listed, _) = fake_paths(&tree, options);
            assert_eq!(listed.len(), 500 + 156 + 25 + 25, "{context}");
        }
    }
}

#[test]
fn types_hidden_by_listing_queried() {
    let mut tree = forest();
    tree.link("/1/1/1/again", "/0/0/0/file0");
    let known = Arc::new(tree);
    let mut tree = forest();
    tree.link("/1/1/1/again", "/0/0/0/file0");
    tree.hide_types = true;
    let hidden = Arc::new(tree);
    for (order, threads) in schedules() {
        let options = options().order(order).threads(threads);
        let (a, b) = (fake_totals(&known, options.clone()), fake_totals(&hidden, options.clone()));
        assert_complete(&b.diagnostics, order.as_str());
        counts(&b).assert_are(&counts(&a), order.as_str());
        assert_eq!(b.hard_links, 1);
        assert_eq!(b.largest_files(), a.largest_files());
        assert_eq!(b.largest_directories(), a.largest_directories());
        let paths = [&known, &hidden].map(|tree| fake_paths(tree, options.clone()).0);
        assert!(paths[0] == paths[1], "{}", order.as_str());
    }
}

#[test]
fn filters_types_hidden_same_result() {
    let make = |hide_types| {
        let mut tree = FakeTree::new();
        for path in ["/src/one.rs", "/src/two.c", "/build/out.rs", "/src/deep/build", "/top.rs"] {
            tree.add(path, FileType::File, 10);
        }
        tree.add("/link.rs", FileType::Symlink, 3);
        tree.hide_types = hide_types;
        Arc::new(tree)
    };
    let (known, hidden) = (make(false), make(true));
    for globs in [
        &["*.rs"][..],
        &["!*.rs"],
        &["!build"],
        &["!build/"],
        &["build/"],
        &["*.rs", "!build/"],
        &["src/"],
        &["src", "!deep/"],
    ] {
        for min_depth in 0..3 {
            for max_depth in [2, 9] {
                let filters = Filters {
                    globs: globs.iter().map(|&glob| glob.to_owned()).collect(),
                    min_depth,
                    ..Filters::default()
                };
                let options = options().filters(filters).max_depth(max_depth);
                let context = format!("{globs:?} from {min_depth} to {max_depth}");
                let [a, b] =
                    [&known, &hidden].map(|tree| readable(&fake_paths(tree, options.clone()).0));
                assert_eq!(b, a, "listed: {context}");
                let [a, b] = [&known, &hidden].map(|tree| fake_totals(tree, options.clone()));
                counts(&b).assert_are(&counts(&a), &context);
                assert_eq!(b.diagnostics.skipped, a.diagnostics.skipped, "skipped: {context}");
            }
        }
    }
}

/// While a file grows or shrinks, its names are met with different sizes. Whichever size counts,
/// others must not be subtracted from what was never added.
#[test]
fn totals_hard_link_shrinking_during_walk_consistent() {
    for (order, threads) in schedules() {
        for sizes in [[1000, 0, 0], [0, 1000, 0], [0, 0, 1000], [1000, 10, 500]] {
            let mut tree = FakeTree::new();
            tree.add("/a/x", FileType::File, 0);
            tree.link("/b/x", "/a/x").link("/c/x", "/a/x");
            for (path, size) in ["/a/x", "/b/x", "/c/x"].into_iter().zip(sizes) {
                tree.change(path, |attributes| {
                    attributes.set_size(size);
                    attributes.set_allocated(size);
                    attributes.set_nlink(5);
                });
            }
            let got = fake_totals(&Arc::new(tree), options().order(order).threads(threads));
            assert!(
                sizes.contains(&got.sizes.apparent),
                "{sizes:?} in {}: {}",
                order.as_str(),
                got.sizes.apparent
            );
            assert_eq!(got.hard_links, 2);
        }
    }
}

// ---- faults ----

const KINDS: &[(ErrorKind, FaultKind)] = &[
    (ErrorKind::PermissionDenied, FaultKind::Denied),
    (ErrorKind::NotFound, FaultKind::NotFound),
    (ErrorKind::NotADirectory, FaultKind::NotADirectory),
    (ErrorKind::InvalidFilename, FaultKind::NameTooLong),
    (ErrorKind::InvalidData, FaultKind::InvalidData),
    (ErrorKind::TimedOut, FaultKind::TimedOut),
    (ErrorKind::Other, FaultKind::Other),
    (ErrorKind::ResourceBusy, FaultKind::Other),
];

/// Walks a forest with one fault in every order, and checks that all orders agree.
fn assert_fault(
    path: &str,
    at: FaultPoint,
    kind: Option<ErrorKind>,
    check: impl Fn(&Totals, &str),
) {
    let mut tree = forest();
    tree.fail(path, at, kind);
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let got = fake_totals(&tree, options().order(order).threads(threads));
        let context = format!("{at:?} {kind:?} at {path} in {}", order.as_str());
        check(&got, &context);
    }
}

fn assert_one_error(
    got: &Totals,
    operation: Operation,
    kind: FaultKind,
    path: &str,
    context: &str,
) {
    assert_eq!(got.diagnostics.errors, 1, "{context}");
    assert_eq!(got.diagnostics.vanished, 0, "{context}");
    let by: Vec<_> = got.diagnostics.errors_by.iter().collect();
    assert_eq!(by, [(&(operation, kind), &1)], "{context}");
    let [error] = got.diagnostics.kept_errors.as_slice() else {
        panic!("{context}: {:?}", got.diagnostics.kept_errors);
    };
    assert_eq!(error.path(), Path::new(path), "{context}");
    assert_eq!((error.operation(), error.kind()), (operation, kind));
    let depth = path.split('/').filter(|step| !step.is_empty()).count() as u32;
    assert_eq!(error.depth(), depth, "{context}");
    // A root whose listing fails is partial; a root that cannot be opened has failed.
    let failed = depth == 0 && operation != Operation::ReadDirectory;
    assert_eq!(got.diagnostics.failed_roots, u64::from(failed), "{context}");
}

#[test]
fn unopenable_directory_counted_without_content() {
    for &(error, kind) in KINDS {
        assert_fault("/2/3", FaultPoint::Open, Some(error), |got, context| {
            assert_one_error(got, Operation::OpenDirectory, kind, "/2/3", context);
            let mut expected = forest_counts();
            expected.directories -= 5;
            expected.directories_allocated_size -= 5 * 4096;
            expected.files -= 20;
            expected.symlinks -= 1;
            expected.others -= 1;
            expected.apparent_size -= 5 * 406 + 7;
            expected.allocated_size -= 21 * 512;
            counts(got).assert_are(&expected, context);
        });
    }
}

#[test]
fn listing_failed_midway_keeps_listed_entries() {
    for &(error, kind) in KINDS {
        // Batches of three: one of four files is lost.
        assert_fault("/2/3/4", FaultPoint::List, Some(error), |got, context| {
            assert_one_error(got, Operation::ReadDirectory, kind, "/2/3/4", context);
            let mut expected = forest_counts();
            expected.files -= 1;
            expected.apparent_size -= 103;
            expected.allocated_size -= 512;
            counts(got).assert_are(&expected, context);
        });
    }
}

#[test]
fn listing_failed_midway_listed_directories_read() {
    // The link, the pipe and the first of five directories arrive before the fault.
    assert_fault("/2/3", FaultPoint::List, Some(ErrorKind::Other), |got, context| {
        let (operation, kind) = (Operation::ReadDirectory, FaultKind::Other);
        assert_one_error(got, operation, kind, "/2/3", context);
        assert_eq!(got.directories, 156 - 4, "{context}");
        assert_eq!(got.files, 500 - 16, "{context}");
    });
}

#[test]
fn stat_failed_file_counted_without_size() {
    for &(error, kind) in KINDS {
        assert_fault("/2/3/4/file1", FaultPoint::Stat, Some(error), |got, context| {
            assert_one_error(got, Operation::Stat, kind, "/2/3/4/file1", context);
            let mut expected = forest_counts();
            expected.apparent_size -= 101;
            expected.allocated_size -= 512;
            counts(got).assert_are(&expected, context);
        });
    }
}

#[test]
fn errors_counted_in_all_directories_above() {
    let denied = Some(ErrorKind::PermissionDenied);
    for (path, at) in [
        ("/2/3/4", FaultPoint::Open),
        ("/2/3/4", FaultPoint::List),
        ("/2/3/4/file0", FaultPoint::Stat),
    ] {
        let mut tree = forest();
        tree.fail(path, at, denied);
        let tree = Arc::new(tree);
        for (order, threads) in schedules() {
            let options = options().order(order).threads(threads);
            let got = run_fake(&tree, options, || Totals::new(200)).sink;
            let with_errors: Vec<_> = got
                .largest_directories()
                .iter()
                .filter(|largest| largest.errors > 0)
                .map(|largest| (largest.path.as_path(), largest.errors))
                .collect();
            let context = format!("{at:?} in {}", order.as_str());
            let mut sorted = with_errors.clone();
            sorted.sort_unstable();
            let expected = ["/2", "/2/3", "/2/3/4"].map(|path| (Path::new(path), 1));
            assert_eq!(sorted, expected, "{context}");
        }
    }
}

#[test]
fn vanished_entry_not_counted_no_error() {
    assert_fault("/2/3/4", FaultPoint::Open, None, |got, context| {
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (0, 1), "{context}");
        assert_eq!((got.directories, got.files), (155, 496), "{context}");
    });
    assert_fault("/2/3/4/file3", FaultPoint::Stat, None, |got, context| {
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (0, 1), "{context}");
        assert_eq!((got.directories, got.files), (156, 499), "{context}");
        assert_eq!(got.sizes.apparent, forest_counts().apparent_size - 103);
    });
    assert_fault("/2/3/link", FaultPoint::Stat, None, |got, context| {
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (0, 1), "{context}");
        assert_eq!((got.symlinks, got.others), (24, 25), "{context}");
    });
}

/// Regression: entries that every listing shows and no call finds were counted as vanished, and the
/// result as complete.
#[test]
fn missing_entry_still_listed_is_error() {
    // Windows also lists entries that are deleted and still open: there they have vanished.
    if transect_sys::host::LISTS_DELETED {
        return;
    }
    for (path, at) in [
        ("/2/3/4/file3", FaultPoint::Stat),
        ("/2/3/link", FaultPoint::Stat),
        ("/2/3", FaultPoint::Open),
    ] {
        let mut tree = forest();
        tree.never_find(path, at);
        let tree = Arc::new(tree);
        for (order, threads) in schedules() {
            let got = fake_totals(&tree, options().order(order).threads(threads));
            let context = format!("{path} in {}", order.as_str());
            assert_one_error(&got, Operation::Stat, FaultKind::Inconsistent, path, &context);
        }
    }
    let mut tree = forest();
    for a in 0..5 {
        for b in 0..5 {
            for c in 0..5 {
                for file in 0..4 {
                    tree.never_find(&format!("/{a}/{b}/{c}/file{file}"), FaultPoint::Stat);
                }
            }
        }
    }
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let got = fake_totals(&tree, options().order(order).threads(threads));
        assert_eq!(
            (got.diagnostics.errors, got.diagnostics.vanished),
            (500, 0),
            "{}",
            order.as_str()
        );
        assert_eq!((got.files, got.directories), (0, 156), "{}", order.as_str());
    }
}

#[test]
fn directory_opened_but_gone_when_listed_is_error() {
    let mut tree = forest();
    tree.never_find("/2/3", FaultPoint::List);
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let got = fake_totals(&tree, options().order(order).threads(threads));
        let kind = FaultKind::Inconsistent;
        assert_one_error(&got, Operation::ReadDirectory, kind, "/2/3", order.as_str());
    }
}

#[test]
fn missing_entry_recreated_no_error() {
    for (path, at) in
        [("/2/3/4/file3", FaultPoint::Stat), ("/2/3", FaultPoint::Open), ("/2/3", FaultPoint::List)]
    {
        let mut tree = forest();
        tree.vanish_once(path, at);
        let tree = Arc::new(tree);
        for (order, threads) in schedules() {
            let got = fake_totals(&tree, options().order(order).threads(threads));
            let context = format!("{path} in {}", order.as_str());
            let vanished = u64::from(at != FaultPoint::List);
            assert_eq!(
                (got.diagnostics.errors, got.diagnostics.vanished),
                (0, vanished),
                "{context}"
            );
        }
    }
}

#[test]
fn vanished_entry_of_unknown_type_not_counted() {
    let mut tree = forest();
    tree.hide_types = true;
    tree.fail("/2/3", FaultPoint::Stat, None);
    tree.fail("/1/1/1/file0", FaultPoint::Stat, None);
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let got = fake_totals(&tree, options().order(order).threads(threads));
        let context = order.as_str();
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (0, 2), "{context}");
        assert_eq!((got.directories, got.files), (150, 479), "{context}");
    }
}

#[test]
fn errors_many_counted_by_operation_and_kind() {
    let mut tree = forest();
    for c in 0..5 {
        let denied = Some(ErrorKind::PermissionDenied);
        tree.fail(&format!("/0/0/{c}"), FaultPoint::Open, denied);
        tree.fail(&format!("/0/1/{c}"), FaultPoint::List, Some(ErrorKind::TimedOut));
        tree.fail(&format!("/0/2/{c}/file1"), FaultPoint::Stat, denied);
        tree.fail(&format!("/0/3/{c}/file2"), FaultPoint::Stat, None);
        tree.fail(&format!("/0/4/{c}"), FaultPoint::Open, None);
    }
    // Both opening and querying it fail: one error is enough.
    tree.fail("/1/0/0", FaultPoint::Open, Some(ErrorKind::PermissionDenied));
    tree.fail("/1/0/0", FaultPoint::Stat, Some(ErrorKind::TimedOut));
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let mut got = fake_totals(&tree, options().order(order).threads(threads));
        let by: Vec<_> =
            got.diagnostics.errors_by.iter().map(|(&by, &count)| (by, count)).collect();
        assert_eq!(
            by,
            [
                ((Operation::OpenDirectory, FaultKind::Denied), 6),
                ((Operation::ReadDirectory, FaultKind::TimedOut), 5),
                ((Operation::Stat, FaultKind::Denied), 5),
            ],
            "{}",
            order.as_str()
        );
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (16, 10));
        assert_eq!(got.directories, 151, "one without a size among them");
        got.diagnostics.sort();
        let paths: Vec<_> = got.diagnostics.kept_errors.iter().map(|error| error.path()).collect();
        assert!(paths.is_sorted() && paths.len() == 16, "{paths:?}");
    }
}

#[test]
fn failed_root_counted_separately() {
    for (at, operation, directories) in
        [(FaultPoint::Stat, Operation::Stat, 0), (FaultPoint::Open, Operation::OpenDirectory, 1)]
    {
        assert_fault("/", at, Some(ErrorKind::PermissionDenied), |got, context| {
            assert_one_error(got, operation, FaultKind::Denied, "/", context);
            assert_eq!((got.directories, got.files), (directories, 0), "{context}");
        });
    }
    assert_fault("/", FaultPoint::List, Some(ErrorKind::PermissionDenied), |got, context| {
        assert_one_error(got, Operation::ReadDirectory, FaultKind::Denied, "/", context);
        assert_eq!(got.directories, 1 + 3 * 31, "{context}");
    });
}

// ---- sinks that stop, and sinks that panic ----

/// What a [`Watched`] sink does at its n-th batch, counted over all threads.
#[derive(Clone, Debug)]
enum Interruption {
    Nothing,
    Quit(u64),
    Cancel(u64, Cancel),
}

/// What the sinks of one walk received.
#[derive(Debug, Default)]
struct Seen {
    batches: AtomicU64,
    bytes: AtomicU64,
    entered: AtomicU64,
    left: AtomicU64,
}

/// Totals that also count what they receive.
struct Watched {
    inner: Totals,
    seen: Arc<Seen>,
    interruption: Interruption,
}

impl Sink for Watched {
    type Tag = <Totals as Sink>::Tag;

    fn want(&self) -> Want {
        self.inner.want()
    }

    fn enter(&mut self, entering: Entering<'_, Self::Tag>) -> Self::Tag {
        self.seen.entered.fetch_add(1, Ordering::Relaxed);
        self.inner.enter(entering)
    }

    fn visit(&mut self, visit: Visit<'_, Self::Tag>) -> Flow {
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
            Interruption::Cancel(at, cancel) if batch == *at => {
                cancel.cancel();
                flow
            }
            _ => flow,
        }
    }

    fn leave(&mut self, dir: &Dir<Self::Tag>) {
        self.seen.left.fetch_add(1, Ordering::Relaxed);
        self.inner.leave(dir);
    }

    fn error(&mut self, dir: &Dir<Self::Tag>, error: ScanError) -> Flow {
        let flow = self.inner.error(dir, error);
        if matches!(self.interruption, Interruption::Quit(0)) {
            return Flow::Quit;
        }
        flow
    }

    fn merge(&mut self, other: Self) {
        self.inner.merge(other.inner);
    }
}

/// Walks a forest with a watched sink. However the walk ends, the totals must equal what was
/// delivered, and every directory entered must have been left.
fn walk_watched(options: ScanOptions, interruption: &Interruption) -> (Totals, Arc<Seen>, bool) {
    let tree = Arc::new(forest());
    let seen = Arc::new(Seen::default());
    let context = format!("{interruption:?} in {}", options.order.as_str());
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
            assert!(!interrupted, "{context}: nobody cancelled");
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
    // The other extreme: the walk is not stopped.
    let (got, ..) = walk_watched(options(), &Interruption::Nothing);
    counts(&got).assert_are(&forest_counts(), "nothing was done");
}

/// When a [`Bomb`] panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fuse {
    Enter,
    Visit,
    Leave,
    Error,
    Judge,
    Merge,
}

const BANG: &str = "the sink was told to panic";

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
    type Tag = ();
    const JUDGES: bool = true;

    fn want(&self) -> Want {
        Totals::new(0).want()
    }

    fn enter(&mut self, _: Entering<'_, ()>) {
        self.tick(Fuse::Enter);
    }

    fn judge(&mut self, _: &Dir<()>, _: transect::EntryRef<'_>) -> transect::Verdict {
        self.tick(Fuse::Judge);
        transect::Verdict::Keep
    }

    fn visit(&mut self, _: Visit<'_, ()>) -> Flow {
        self.tick(Fuse::Visit);
        Flow::Continue
    }

    fn leave(&mut self, _: &Dir<()>) {
        self.tick(Fuse::Leave);
    }

    fn error(&mut self, _: &Dir<()>, _: ScanError) -> Flow {
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
    type Tag = ();

    fn want(&self) -> Want {
        Want::default()
    }

    fn enter(&mut self, _: Entering<'_, ()>) {}

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
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

    fn error(&mut self, _: &Dir<()>, _: ScanError) -> Flow {
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

// ---- depth and boundaries, with values that real file systems rarely have ----

#[test]
fn mount_boundary_only_with_one_file_system() {
    // The mount table gives the names that may be mount points; `/proc` is in every one.
    let mut tree = FakeTree::new();
    tree.add("/a/file", FileType::File, 10);
    tree.add("/proc/file", FileType::File, 100);
    tree.change("/proc", |attributes| attributes.set_device(2));
    tree.change("/proc/file", |attributes| attributes.set_device(2));
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        let options = options().order(order).threads(threads);
        let got = fake_totals(&tree, options.clone());
        assert_eq!((got.files, got.sizes.apparent), (2, 110), "{}", order.as_str());
        let got = fake_totals(&tree, options.one_file_system(true));
        assert_eq!((got.files, got.sizes.apparent), (1, 10), "{}", order.as_str());
        assert_eq!(got.directories, 3, "the mount point is a directory");
        assert_eq!(skipped(&got.diagnostics, SkipReason::MountBoundary), 1);
    }
}
