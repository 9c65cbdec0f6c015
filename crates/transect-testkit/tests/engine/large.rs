//! Large directories, in which several threads query the attributes.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use proptest::prelude::*;
use transect::internal::{ListOutput, ListSink, Order, Reader};
use transect::table::TableBuilder;
use transect::{
    Attributes, Batch, Cancel, Dir, FieldMask, FileType, Filters, Flow, Omission, ScanOptions,
    Sink, Totals, Visit, Want,
};
use transect_sys::fake::{FakeHandle, FakeReader, FakeTree, FaultPoint, FaultState};
use transect_sys::{Fault, ListStatus, Volume};
use transect_testkit::within;

use crate::support::{Shared, fake_paths, fake_totals, run_fake, scan};

/// The fewest entries of a batch that are shared (`MIN_QUERIES` in `walk/worker/large.rs`).
const SHARED_BATCH: usize = 256;

fn options(threads: usize) -> ScanOptions {
    scan("/").threads(threads)
}

fn tree(batch: usize) -> FakeTree {
    let mut tree = FakeTree::new();
    tree.batch = batch;
    tree
}

/// Adds files to a directory. Every 50th has a second name there.
fn add_files(tree: &mut FakeTree, directory: &str, files: usize) {
    for number in 0..files {
        let path = format!("{directory}/{number}");
        match number % 50 {
            49 => tree.link(&path, &format!("{directory}/{}", number - 1)),
            _ => tree.add(&path, FileType::File, number as u64 * 10),
        };
    }
}

/// Everything that three kinds of sinks report.
fn everything(tree: &Arc<FakeTree>, options: &ScanOptions) -> impl PartialEq + Debug + use<> {
    let mut totals = fake_totals(tree, options.clone());
    totals.diagnostics.sort();
    let errors: Vec<_> = totals.diagnostics.kept_errors.iter().map(ToString::to_string).collect();
    let builder = TableBuilder::new(FieldMask::all());
    let table = run_fake(tree, options.clone(), || builder.sink()).sink.into_table().unwrap();
    let rows: Vec<_> =
        table.iter().map(|row| (table.path(row), format!("{:?}", table.attributes(row)))).collect();
    (
        (totals.files, totals.directories, totals.hard_links, totals.sizes),
        (totals.largest_files().to_vec(), totals.largest_directories().to_vec()),
        (totals.diagnostics.errors, totals.diagnostics.vanished, errors),
        (table.grand_total(), table.hard_links(), rows),
        fake_paths(tree, options.clone()).0,
    )
}

#[track_caller]
fn assert_independent_of_threads(tree: FakeTree, options: impl Fn() -> ScanOptions) {
    let tree = Arc::new(tree);
    let alone = everything(&tree, &options().threads(1));
    for threads in [2, 8] {
        for order in [Order::WorkStealing, Order::SharedQueue] {
            let shared = everything(&tree, &options().threads(threads).order(order));
            assert!(
                shared == alone,
                "{} on {threads}: {shared:#?}, not {alone:#?}",
                order.as_str()
            );
        }
    }
}

#[test]
fn large_directory_sizes_around_limit_same_result() {
    for batch in [SHARED_BATCH - 1, SHARED_BATCH, SHARED_BATCH + 44] {
        for batches in [1, 2, 3, 9] {
            for files in [batch * batches - 1, batch * batches, batch * batches + 1] {
                let mut tree = tree(batch);
                add_files(&mut tree, "", files);
                assert_independent_of_threads(tree, || scan("/"));
            }
        }
    }
}

#[test]
fn large_directories_two_at_once_and_deep_same_result() {
    let mut tree = tree(SHARED_BATCH);
    for directory in ["/a", "/b", "/c/d/e/f"] {
        add_files(&mut tree, directory, 3000);
    }
    for number in (0..3000).step_by(100) {
        tree.link(&format!("/b/again{number}"), &format!("/a/{number}"));
        tree.add(&format!("/a/dir{number}/file"), FileType::File, number);
        tree.add(&format!("/a/link{number}"), FileType::Symlink, 5);
    }
    assert_independent_of_threads(tree, || scan("/"));
}

#[test]
fn large_directory_types_hidden_and_filters_same_result() {
    let mut tree = tree(SHARED_BATCH);
    tree.hide_types = true;
    add_files(&mut tree, "", 2000);
    for number in 0..300 {
        tree.add(&format!("/dir{number}/file"), FileType::File, number);
    }
    assert_independent_of_threads(tree, || {
        scan("/").filters(Filters::new().globs(["!*3", "!dir2*/"])).min_depth(1)
    });
}

#[test]
fn large_directory_faults_in_the_middle_same_result() {
    let mut tree = tree(SHARED_BATCH);
    add_files(&mut tree, "", 3000);
    for number in (0..3000).step_by(97) {
        let kind = if number % 2 == 0 { Some(ErrorKind::PermissionDenied) } else { None };
        tree.fail(&format!("/{number}"), FaultPoint::Stat, kind);
    }
    assert_independent_of_threads(tree, || scan("/"));
}

#[test]
fn large_directory_listing_failed_midway_listed_entries_delivered() {
    let mut tree = tree(SHARED_BATCH);
    add_files(&mut tree, "/large", 3000);
    tree.fail("/large", FaultPoint::List, Some(ErrorKind::TimedOut));
    assert_independent_of_threads(tree, || scan("/"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn large_directories_any_tree_same_result(
        sizes in prop::collection::vec((0_usize..1500, 0_usize..4), 1..5),
        batch in 200_usize..400,
        faults in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..40),
    ) {
        let mut tree = tree(batch);
        let mut paths = Vec::new();
        for (number, &(files, depth)) in sizes.iter().enumerate() {
            let directory = format!("/{number}{}", "/down".repeat(depth));
            add_files(&mut tree, &directory, files);
            paths.extend((0..files).map(|file| format!("{directory}/{file}")));
        }
        for (index, vanishes) in faults.iter().filter(|_| !paths.is_empty()) {
            let kind = if *vanishes { None } else { Some(ErrorKind::Other) };
            let path: &String = index.get(&paths);
            tree.fail(path, FaultPoint::Stat, kind);
        }
        assert_independent_of_threads(tree, || scan("/"));
    }
}

// ---- which directories are shared ----

fn threads_used(files: usize, sink: impl Fn() -> Totals + Sync) -> usize {
    let mut tree = tree(SHARED_BATCH);
    add_files(&mut tree, "", files);
    run_fake(&Arc::new(tree), options(2), sink).threads
}

#[test]
fn threads_started_for_large_directory_only() {
    assert_eq!(threads_used(SHARED_BATCH, || Totals::new(0)), 1);
    assert_eq!(threads_used(20 * SHARED_BATCH, || Totals::new(0)), 2);
}

/// Nothing is queried for a list of names.
#[test]
fn threads_not_started_for_names_alone() {
    let mut tree = tree(SHARED_BATCH);
    add_files(&mut tree, "", 20 * SHARED_BATCH);
    let output = Arc::new(ListOutput::new(Shared::default(), 0));
    let make = || ListSink::new(Arc::clone(&output), 0);
    assert_eq!(run_fake(&Arc::new(tree), options(2), make).threads, 1);
}

/// The readers that have queried attributes.
#[derive(Default)]
struct Meeting {
    readers: Mutex<HashSet<usize>>,
    arrived: Condvar,
}

/// A reader whose first query waits until another reader queries, too.
struct MeetingReader {
    inner: FakeReader,
    number: usize,
    meeting: Arc<Meeting>,
}

impl Reader for MeetingReader {
    type Handle = FakeHandle;

    fn stat_root(&mut self, path: &Path, want: FieldMask, follow: bool) -> Answer<Attributes> {
        self.inner.stat_root(path, want, follow)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Answer<FakeHandle> {
        self.inner.open_root(path, follow)
    }

    fn open(&mut self, at: &FakeHandle, steps: &[&OsStr], follow: bool) -> Answer<FakeHandle> {
        self.inner.open(at, steps, follow)
    }

    fn stat_open(&mut self, handle: &mut FakeHandle, want: FieldMask) -> Answer<Attributes> {
        self.inner.stat_open(handle, want)
    }

    fn stat(
        &mut self,
        at: &FakeHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Answer<Attributes> {
        self.inner.stat(at, steps, want, follow)
    }

    fn list(&mut self, at: &FakeHandle, batch: &mut Batch, want: &Want) -> Answer<ListStatus> {
        self.inner.list(at, batch, want)
    }

    fn fill(&mut self, handle: &FakeHandle, batch: &mut Batch, want: &Want) {
        let mut readers = self.meeting.readers.lock().unwrap();
        readers.insert(self.number);
        self.meeting.arrived.notify_all();
        drop(self.meeting.arrived.wait_while(readers, |readers| readers.len() < 2).unwrap());
        self.inner.fill(handle, batch, want);
    }

    fn volume(handle: &FakeHandle) -> Volume {
        FakeReader::volume(handle)
    }

    fn shares_queries(_: &FakeHandle) -> bool {
        true
    }
}

type Answer<T> = Result<T, Fault>;

#[test]
fn large_directory_queried_by_two_threads_at_once() {
    for order in [Order::WorkStealing, Order::SharedQueue] {
        let totals = within("a meeting of two readers", move || {
            let mut tree = tree(SHARED_BATCH);
            add_files(&mut tree, "", 20 * SHARED_BATCH);
            let (tree, state) = (Arc::new(tree), Arc::<FaultState>::default());
            let (meeting, number) = (Arc::<Meeting>::default(), AtomicUsize::new(0));
            let make_reader = || MeetingReader {
                inner: FakeReader::new(Arc::clone(&tree), Arc::clone(&state)),
                number: number.fetch_add(1, Ordering::Relaxed),
                meeting: Arc::clone(&meeting),
            };
            let plan = options(2).order(order).plan().unwrap();
            plan.run_with(|| Totals::new(0), make_reader).unwrap().sink
        });
        assert_eq!(totals.files, 20 * SHARED_BATCH as u64);
    }
}

// ---- walks that end early ----

/// Calls `then` when `at` entries were delivered, and returns how many were at the end.
fn deliver(
    options: ScanOptions,
    tree: &Arc<FakeTree>,
    at: u64,
    then: impl Fn() -> Flow + Sync,
) -> (u64, bool) {
    let names = Mutex::new(HashSet::new());
    let outcome = run_fake(tree, options, || EachName { names: &names, at, then: &then });
    let delivered = names.lock().unwrap().len() as u64;
    (delivered, outcome.interrupted)
}

/// Calls a closure at a number of entries, counted over all threads.
struct EachName<'a, F> {
    names: &'a Mutex<HashSet<OsString>>,
    at: u64,
    then: &'a F,
}

impl<F: Fn() -> Flow + Sync> Sink for EachName<'_, F> {
    fn want(&self) -> Want {
        FieldMask::SIZE.into()
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let mut names = self.names.lock().unwrap();
        for entry in visit.entries() {
            assert!(entry.attributes.size().is_some(), "{:?} was not queried", entry.name);
            assert!(names.insert(entry.name.to_owned()), "{:?} was delivered twice", entry.name);
        }
        if names.len() as u64 >= self.at { (self.then)() } else { Flow::Continue }
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        Flow::Continue
    }

    fn merge(&mut self, _: Self) {}
}

#[test]
fn large_directory_stopped_in_the_middle_nothing_delivered_afterwards() {
    const BATCHES: u64 = 40;
    let mut tree = tree(SHARED_BATCH);
    add_files(&mut tree, "", SHARED_BATCH * BATCHES as usize);
    let tree = Arc::new(tree);
    for order in [Order::WorkStealing, Order::SharedQueue] {
        for threads in [1, 2, 8] {
            // The root is an entry, too.
            for batches in [1, 2, 9] {
                let (options, batch) = (options(threads).order(order), SHARED_BATCH as u64);
                let context = format!("{batches} batches in {} on {threads}", order.as_str());
                let at = 1 + batches * batch;
                let got = deliver(options.clone(), &tree, at, || Flow::Quit);
                assert_eq!(got, (at, false), "quit: {context}");
                let cancel = Cancel::new();
                let got = deliver(options.cancel(cancel.clone()), &tree, at, || {
                    cancel.cancel();
                    Flow::Continue
                });
                assert_eq!(got, (at, true), "cancel: {context}");
            }
        }
    }
}

#[test]
fn large_directory_sink_panics_walk_ends() {
    for order in [Order::WorkStealing, Order::SharedQueue] {
        for at in [1, 1000, 5000] {
            let fell = within("a walk whose sink panics", move || {
                let mut tree = tree(SHARED_BATCH);
                add_files(&mut tree, "", 40 * SHARED_BATCH);
                let options = options(4).order(order);
                catch_unwind(AssertUnwindSafe(|| {
                    deliver(options, &Arc::new(tree), at, || panic!("this sink panics on purpose"))
                }))
            });
            assert!(fell.is_err());
        }
    }
}
