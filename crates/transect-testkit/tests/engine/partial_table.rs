//! Partial tables: always a part of the finished table, and finally all its directories and large files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use transect::internal::Order;
use transect::table::{
    PartialTable, Row, SubtreeTotals, Table, TableBuilder, TableSink, UnreadReason,
};
use transect::{
    Dir, Entering, FieldMask, FileId, FileType, Filters, Flow, Omission, ScanOptions, Sink,
    SkipReason, Tag, Visit, Want,
};
use transect_sys::fake::{FakeTree, FaultPoint};

use crate::properties::{build, forest};
use crate::support::{run_fake, scan};
use crate::table::{columns, is_well_formed};

/// Observes a walk, and stores the last totals.
#[derive(Default)]
struct Watch {
    partial_table: PartialTable,
    before: Mutex<BTreeMap<PathBuf, SubtreeTotals>>,
}

impl Watch {
    /// Checks that everything seen before still exists, and is not smaller.
    fn check_growth(&self) {
        let mut before = self.before.lock().unwrap();
        let table = self.partial_table.table().unwrap();
        is_well_formed(&table, "an outline");
        let now: BTreeMap<PathBuf, SubtreeTotals> =
            table.iter().map(|row| (table.path(row), table.totals(row))).collect();
        for (path, before) in before.iter() {
            let now = now.get(path).unwrap_or_else(|| panic!("{path:?} has gone"));
            assert_eq!(at_least(now, before), *now, "{path:?} has shrunk from {before:?}");
        }
        *before = now;
    }
}

/// Returns the larger of each number.
fn at_least(a: &SubtreeTotals, b: &SubtreeTotals) -> SubtreeTotals {
    let mut sums = *a;
    sums.files = a.files.max(b.files);
    sums.directories = a.directories.max(b.directories);
    sums.others = a.others.max(b.others);
    sums.apparent = a.apparent.max(b.apparent);
    sums.disk_usage = a.disk_usage.max(b.disk_usage);
    sums
}

/// Fills a table, with observations in between.
struct Watched<'w> {
    sink: TableSink,
    watch: &'w Watch,
}

impl Sink for Watched<'_> {
    fn want(&self) -> Want {
        self.sink.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        let tag = self.sink.enter(entering);
        self.watch.check_growth();
        tag
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.sink.visit(visit)
    }

    fn leave(&mut self, dir: &Dir) {
        self.sink.leave(dir);
        self.watch.check_growth();
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        self.sink.omit(dir, omission)
    }

    fn merge(&mut self, other: Self) {
        self.sink.merge(other.sink);
        self.watch.check_growth();
    }
}

/// Walks a tree in memory under observation. Returns the partial table at the end, and the finished
/// one.
fn observe(tree: &Arc<FakeTree>, options: ScanOptions) -> (Table, Table) {
    let watch = Watch::default();
    let builder = TableBuilder::new(columns()).partial_table(&watch.partial_table);
    let make = || Watched { sink: builder.sink(), watch: &watch };
    let finished = run_fake(tree, options, make).sink.sink.into_table().unwrap();
    watch.check_growth();
    (watch.partial_table.table().unwrap(), finished)
}

/// The facts that a table contains about a directory.
type Described = (PathBuf, FieldMask, Option<FileId>, SubtreeTotals, Option<UnreadReason>, u64);

fn directories(table: &Table, sums: impl Fn(Row) -> SubtreeTotals) -> Vec<Described> {
    let directories = table.iter().filter(|&row| table.file_type(row) == FileType::Directory);
    let said = |row| {
        let (attributes, unread) = (table.attributes(row), table.unread_reason(row));
        let (have, id) = (attributes.known(), attributes.file_id());
        (table.path(row), have, id, sums(row), unread, table.errors(row))
    };
    directories.map(said).collect()
}

/// Returns the path, attributes and totals of each entry.
fn entries(table: &Table) -> Vec<(PathBuf, String, SubtreeTotals)> {
    let described =
        |row| (table.path(row), format!("{:?}", table.attributes(row)), table.totals(row));
    table.iter().map(described).collect()
}

/// Asserts that the partial table has the directories of the finished one, and that only bytes of
/// files with several names are missing.
#[track_caller]
fn assert_partial_of(partial_table: &Table, finished: &Table) {
    let expected = directories(finished, |row| {
        let mut sums = finished.totals(row);
        for below in finished.subtree(row) {
            let several = finished.attributes(below).nlink().is_some_and(|names| names > 1);
            if several && finished.file_type(below) != FileType::Directory {
                sums.apparent -= finished.totals(below).apparent;
                sums.disk_usage -= finished.totals(below).disk_usage;
            }
        }
        sums
    });
    assert_eq!(directories(partial_table, |row| partial_table.totals(row)), expected);
    let large_files = |table: &Table| -> Vec<(PathBuf, SubtreeTotals)> {
        let rows = table.iter().filter(|&row| {
            let attributes = table.attributes(row);
            let is_large = attributes.size().max(attributes.allocated()) >= Some(64 << 10);
            table.file_type(row) == FileType::File && is_large && attributes.nlink() <= Some(1)
        });
        rows.map(|row| (table.path(row), table.totals(row))).collect()
    };
    assert_eq!(large_files(partial_table), large_files(finished));
    for row in partial_table.iter() {
        if partial_table.file_type(row) != FileType::Directory {
            continue;
        }
        let mut sums = partial_table.unlisted(row);
        partial_table.children(row).for_each(|child| sums += partial_table.totals(child));
        let all = partial_table.totals(row);
        assert_eq!((sums.files, sums.others, sums.apparent), (all.files, all.others, all.apparent));
        assert_eq!(finished.unlisted(row), SubtreeTotals::default());
    }
    assert_eq!(partial_table.len(), finished.len());
    let (told, diagnostics) = (partial_table.diagnostics(), finished.diagnostics());
    assert_eq!(told.errors_by, diagnostics.errors_by);
    assert_eq!((told.errors, told.failed_roots), (diagnostics.errors, diagnostics.failed_roots));
    assert_eq!((told.vanished, &told.skipped), (diagnostics.vanished, &diagnostics.skipped));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn partial_table_grows_to_finished_directories(
        nodes in forest(),
        order in prop::sample::select(Order::ALL),
        threads in 1_usize..6,
        batch in 1_usize..9,
    ) {
        let (mut tree, ..) = build(&nodes, 1);
        tree.batch = batch;
        let tree = Arc::new(tree);
        let options = || scan("/").order(order).threads(threads);
        let (partial_table, finished) = observe(&tree, options());
        assert_partial_of(&partial_table, &finished);
        // A table that is not published sorts directories of one batch without a buffer.
        let builder = TableBuilder::new(columns());
        let unpublished = run_fake(&tree, options(), || builder.sink()).sink.into_table().unwrap();
        prop_assert_eq!(entries(&unpublished), entries(&finished));
    }
}

fn tree() -> FakeTree {
    let mut tree = FakeTree::new();
    for path in ["/a", "/a/b", "/a/b/c", "/locked", "/locked/inside", "/other", "/torn"] {
        tree.add(path, FileType::Directory, 4096);
    }
    for path in ["/a/kept.c", "/a/b/kept.c", "/a/b/c/dropped.h", "/other/kept.c", "/torn/kept.c"] {
        tree.add(path, FileType::File, 600);
    }
    tree.fail("/locked", FaultPoint::Open, Some(io::ErrorKind::PermissionDenied));
    // Its listing fails after the first entry.
    tree.batch = 1;
    tree.add("/torn/second", FileType::File, 600);
    tree.fail("/torn", FaultPoint::List, Some(io::ErrorKind::Other));
    tree.change("/other", |attributes| attributes.set_device(9));
    tree
}

#[test]
fn partial_table_large_files_have_rows() {
    let mut tree = tree();
    tree.add("/a/b/large.c", FileType::File, 64 << 10);
    tree.add("/a/b/small.c", FileType::File, 60 << 10);
    tree.add("/a/Large.c", FileType::File, 1 << 20);
    tree.add("/a/two-names.c", FileType::File, 1 << 30);
    tree.link("/other/second.c", "/a/two-names.c");
    let (partial_table, finished) = observe(&Arc::new(tree), scan("/").threads(2));
    assert_partial_of(&partial_table, &finished);
    let files = partial_table.iter().filter(|&row| partial_table.file_type(row) == FileType::File);
    let files: Vec<PathBuf> = files.map(|row| partial_table.path(row)).collect();
    assert_eq!(files, [PathBuf::from("/a/Large.c"), PathBuf::from("/a/b/large.c")]);
}

#[test]
fn partial_table_unread_reasons_known_early() {
    let tree = Arc::new(tree());
    let (partial_table, finished) = observe(&tree, scan("/").max_depth(2).same_file_system(true));
    assert_partial_of(&partial_table, &finished);
    let unread = |path: &str| {
        let row =
            partial_table.iter().find(|&row| partial_table.path(row) == Path::new(path)).unwrap();
        partial_table.unread_reason(row)
    };
    assert!(matches!(unread("/locked"), Some(UnreadReason::Failed(_))));
    assert!(matches!(unread("/torn"), Some(UnreadReason::Failed(_))));
    assert_eq!(unread("/a/b"), Some(UnreadReason::Unvisited));
    assert_eq!(unread("/other"), Some(UnreadReason::Skipped(SkipReason::MountBoundary)));
    assert_eq!(unread("/a"), None);
    assert_eq!(partial_table.diagnostics().errors, 2);
}

#[test]
fn partial_table_filters_and_roots_applied() {
    let filters = Filters::new().globs(["*.c"]);
    let tree = Arc::new(tree());
    let options = ScanOptions::new(["/other", "/a"]).filters(filters).threads(2);
    let (partial_table, finished) = observe(&tree, options);
    assert_partial_of(&partial_table, &finished);
    let roots: Vec<PathBuf> = partial_table.roots().map(|root| partial_table.path(root)).collect();
    assert_eq!(roots, [PathBuf::from("/a"), PathBuf::from("/other")]);
    assert_eq!(
        (partial_table.grand_total().files, partial_table.grand_total().directories),
        (3, 0)
    );
}

#[test]
fn partial_table_starts_empty_and_restarts() {
    let partial_table = PartialTable::new();
    let nothing = partial_table.table().unwrap();
    assert!(nothing.is_empty() && nothing.roots().len() == 0);
    let (tree, once) = (Arc::new(tree()), scan("/a"));
    for _ in 0..2 {
        let builder = TableBuilder::new(columns()).partial_table(&partial_table);
        assert!(partial_table.table().unwrap().is_empty());
        let finished = run_fake(&tree, once.clone(), || builder.sink()).sink.into_table().unwrap();
        assert_eq!(partial_table.table().unwrap().grand_total(), finished.grand_total());
        assert_eq!(partial_table.table().unwrap().columns(), finished.columns());
    }
}

#[test]
fn partial_table_dropped_walk_continues() {
    let builder = TableBuilder::new(columns()).partial_table(&PartialTable::new());
    let sink = run_fake(&Arc::new(tree()), scan("/a"), || builder.sink()).sink;
    assert_eq!(sink.into_table().unwrap().grand_total().files, 3);
}
