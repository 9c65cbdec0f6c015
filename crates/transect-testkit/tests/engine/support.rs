//! Shared by the tests of whole walks.

use std::path::{MAIN_SEPARATOR, Path};
use std::sync::Arc;

use transect::internal::{ListOutput, ListSink, Order};
use transect::table::TableBuilder;
use transect::{
    Diagnostics, Error, FieldMask, Outcome, ReaderKind, ScanOptions, Sink, SkipReason, Totals,
};
use transect_sys::fake::{FakeReader, FakeTree};
use transect_testkit::Counts;

/// The numbers of threads that matter: one, as many as cores, and more than cores.
pub(crate) const THREADS: &[usize] = &[1, 2, 16];

/// The readers that are available here.
pub(crate) fn readers() -> Vec<ReaderKind> {
    let usable = |reader: &ReaderKind| reader.unavailable_reason().is_none();
    ReaderKind::DIRECTORIES.iter().copied().filter(usable).collect()
}

/// The readers that open relative to handles.
pub(crate) fn native_readers() -> Vec<ReaderKind> {
    let mut readers = readers();
    readers.retain(|&reader| reader != ReaderKind::Portable);
    readers
}

/// Every order with every number of threads.
pub(crate) fn schedules() -> impl Iterator<Item = (Order, usize)> {
    let orders = Order::ALL.iter().copied();
    orders.flat_map(|order| THREADS.iter().map(move |&threads| (order, threads)))
}

/// Every reader with every order and every number of threads. Not all on Windows: it has many
/// readers, and under Wine every open is a request to another process. There, each number of
/// threads is combined with the default order, and each order with two threads.
pub(crate) fn combinations() -> impl Iterator<Item = (ReaderKind, Order, usize)> {
    let affordable = |&(order, threads): &(Order, usize)| {
        !cfg!(windows) || order == Order::default() || threads == 2
    };
    readers().into_iter().flat_map(move |reader| {
        schedules().filter(affordable).map(move |(order, threads)| (reader, order, threads))
    })
}

/// The default options for one root.
pub(crate) fn scan(root: impl AsRef<Path>) -> ScanOptions {
    ScanOptions::new([root.as_ref()])
}

pub(crate) fn totals(options: ScanOptions) -> Totals {
    run_totals(options).sink
}

pub(crate) fn run_totals(options: ScanOptions) -> Outcome<Totals> {
    let plan = options.plan().expect("the options are right");
    plan.run(|| Totals::new(20)).expect("the walk begins")
}

/// Returns the paths that a walk lists, sorted as bytes, and the diagnostics.
pub(crate) fn paths(options: ScanOptions) -> (Vec<Vec<u8>>, Diagnostics) {
    let plan = options.plan().expect("the options are right");
    listed(|output| {
        plan.run(|| ListSink::new(Arc::clone(&output), 100)).expect("the walk begins").sink
    })
}

/// As [`paths`], of a table of the whole tree; `None` if a filter reads files.
pub(crate) fn paths_of_table(options: ScanOptions) -> Option<(Vec<Vec<u8>>, Diagnostics)> {
    let builder = TableBuilder::new(FieldMask::all());
    let walked = ScanOptions::new(options.roots.clone()).plan().unwrap().run(|| builder.sink());
    let table = walked.unwrap().sink.into_table().unwrap();
    let plan = options.plan().expect("the options are right");
    if let Err(Error::FilterReadsFiles(_)) = plan.run_on(table.in_tree_order(), Totals::new(0)) {
        return None;
    }
    Some(listed(|output| plan.run_on(table.in_tree_order(), ListSink::new(output, 100)).unwrap().0))
}

/// As [`paths`], of a tree in memory, with slashes on every system.
pub(crate) fn fake_paths(
    tree: &Arc<FakeTree>,
    options: ScanOptions,
) -> (Vec<Vec<u8>>, Diagnostics) {
    let (mut paths, diagnostics) =
        listed(|output| run_fake(tree, options, || ListSink::new(Arc::clone(&output), 100)).sink);
    for byte in paths.iter_mut().flatten().filter(|&&mut byte| byte == MAIN_SEPARATOR as u8) {
        *byte = b'/';
    }
    paths.sort_unstable();
    (paths, diagnostics)
}

fn listed(
    run: impl FnOnce(Arc<ListOutput<Shared>>) -> ListSink<Shared>,
) -> (Vec<Vec<u8>>, Diagnostics) {
    let bytes = Shared::default();
    let output = Arc::new(ListOutput::new(bytes.clone(), 0));
    let sink = run(Arc::clone(&output));
    let entries = sink.entries;
    let (diagnostics, _) = sink.finish();
    output.finish().expect("memory can be written");
    let bytes = bytes.0.lock().unwrap();
    let mut paths: Vec<Vec<u8>> = bytes.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    // Nothing follows the last NUL.
    assert_eq!(paths.pop(), Some(Vec::new()));
    assert_eq!(entries, paths.len() as u64);
    paths.sort_unstable();
    (paths, diagnostics)
}

/// A writable buffer that can be read at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Walks a tree in memory, and checks that all handles were closed.
pub(crate) fn run_fake<S: Sink>(
    tree: &Arc<FakeTree>,
    options: ScanOptions,
    make: impl Fn() -> S + Sync,
) -> Outcome<S> {
    let open = Arc::default();
    let plan = options.plan().expect("the options are right");
    let outcome = plan
        .run_with(make, || FakeReader::new(Arc::clone(tree), Arc::clone(&open)))
        .expect("the walk begins");
    assert_eq!(Arc::strong_count(&open), 1, "something was left open");
    outcome
}

pub(crate) fn fake_totals(tree: &Arc<FakeTree>, options: ScanOptions) -> Totals {
    run_fake(tree, options, || Totals::new(20)).sink
}

/// The result of a walk in the form of the oracle.
pub(crate) fn counts(totals: &Totals) -> Counts {
    Counts {
        files: totals.files,
        directories: totals.directories,
        symlinks: totals.symlinks,
        others: totals.others,
        hard_links: totals.hard_links,
        apparent_size: totals.sizes.apparent,
        allocated_size: totals.sizes.allocated,
        directories_allocated_size: totals.sizes.directories_allocated,
        allocation_unknown: false,
    }
}

/// Asserts that nothing failed and nothing vanished.
#[track_caller]
pub(crate) fn assert_complete(diagnostics: &Diagnostics, context: impl std::fmt::Display) {
    assert!(
        diagnostics.errors == 0 && diagnostics.vanished == 0,
        "{context}: {} errors ({:?}), {} vanished: {:?}",
        diagnostics.errors,
        diagnostics.errors_by,
        diagnostics.vanished,
        diagnostics.kept_errors
    );
}

/// Returns how many entries were left out for a reason.
pub(crate) fn skipped(diagnostics: &Diagnostics, reason: SkipReason) -> u64 {
    diagnostics.skipped.get(&reason).copied().unwrap_or(0)
}

/// Returns paths for a message.
pub(crate) fn readable(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}
