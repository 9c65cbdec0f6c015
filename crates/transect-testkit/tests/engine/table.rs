//! Tables: their content is independent of the walk, and totals equal a plain count.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use transect::internal::{Order, WorkLimit};
use transect::table::{
    Age, Row, SelectionTotals, SubtreeTotals, Table, TableBuilder, UnreadReason,
};
use transect::{
    Diagnostics, FieldMask, FileId, FileType, Filters, ScanOptions, SkipReason, Totals,
};
use transect_sys::fake::{FakeTree, FaultPoint};

use crate::properties::{build, forest};
use crate::support::{run_fake, scan};

pub(crate) fn columns() -> FieldMask {
    FieldMask::FILE_ID | FieldMask::NLINK | FieldMask::MTIME
}

fn table(options: ScanOptions) -> Table {
    let builder = TableBuilder::new(columns());
    let plan = options.plan().expect("the options are right");
    let outcome = plan.run(|| builder.sink()).expect("the walk begins");
    outcome.sink.into_table().expect("a small tree")
}

fn fake_table(tree: &Arc<FakeTree>, options: ScanOptions) -> Table {
    let builder = TableBuilder::new(columns());
    run_fake(tree, options, || builder.sink()).sink.into_table().expect("a small tree")
}

/// The facts that a table contains about an entry: path, type, size, totals; standalone, shared,
/// exclusive, errors.
type Described = (PathBuf, FileType, Option<u64>, SubtreeTotals, [u64; 4]);

/// Returns all facts in a table, without row numbers.
fn all_of(table: &Table) -> Vec<Described> {
    let said = |row| {
        let sizes = [
            table.standalone_usage(row),
            table.shared(row),
            table.exclusive(row),
            table.errors(row),
        ];
        (table.path(row), table.file_type(row), table.size(row), table.totals(row), sizes)
    };
    table.iter().map(said).collect()
}

/// Compares a table with totals and a list of paths of the same tree; the list may be empty.
#[track_caller]
pub(crate) fn assert_agrees(
    options: ScanOptions,
    totals: &Totals,
    paths: &[Vec<u8>],
    context: &str,
) -> impl PartialEq + std::fmt::Debug + use<> {
    let plan = options.clone().plan().expect("the options are right");
    let table = table(options);
    assert_equals_totals(&table, totals, context);
    is_well_formed(&table, context);
    assert_totals_plain(&table, context);
    let mut listed: Vec<Vec<u8>> =
        table.iter().map(|row| table.path(row).into_os_string().into_encoded_bytes()).collect();
    listed.sort_unstable();
    assert!(listed == paths, "{context}: the table has other paths");
    let all = all_of(&table);
    if table.diagnostics().errors == 0 {
        let (delivered, Ok(())) =
            plan.run_on(table.in_tree_order(), Totals::new(20)).expect("no filters");
        assert_equals_totals(&table, &delivered, context);
    }
    all
}

#[track_caller]
fn assert_equals_totals(table: &Table, totals: &Totals, context: &str) {
    let SubtreeTotals { files, directories, others, apparent, disk_usage, .. } =
        table.grand_total();
    let got = [files.into(), directories.into(), others.into(), apparent, disk_usage];
    let expected = [
        totals.files,
        totals.directories,
        totals.symlinks + totals.others,
        totals.sizes.apparent,
        totals.sizes.disk_usage(),
    ];
    assert_eq!(got, expected, "{context}: files, directories, others, apparent, disk usage");
    assert_eq!(table.hard_links(), totals.hard_links, "{context}: further names");
    assert_eq!(table.len(), totals.entries(), "{context}: entries");
    assert_eq!(table.diagnostics().errors, totals.diagnostics.errors, "{context}: errors");
}

/// Checks that entries and directories refer to each other, and that entries are sorted.
#[track_caller]
pub(crate) fn is_well_formed(table: &Table, context: &str) {
    for row in table.iter() {
        let children: Vec<Row> = table.children(row).collect();
        assert!(
            children.is_sorted_by_key(|&child| table.name(child).as_encoded_bytes()),
            "{context}: {} is not sorted",
            table.path(row).display()
        );
        for child in children {
            assert_eq!(table.parent(child), Some(row), "{context}: {:?}", table.path(child));
            assert_eq!(table.child(row, table.name(child)), Some(child), "{context}");
        }
        assert_eq!(table.child(row, "no such name".as_ref()), None, "{context}");
    }
    assert!(table.roots().all(|root| table.parent(root).is_none()), "{context}: roots");
}

/// Checks that all totals equal a plain count of everything below.
#[track_caller]
fn assert_totals_plain(table: &Table, context: &str) {
    let charged = charged(table);
    let mut all_names: BTreeMap<FileId, u32> = BTreeMap::new();
    for id in table.iter().filter_map(|row| linked(table, row)) {
        *all_names.entry(id).or_default() += 1;
    }
    for row in table.iter() {
        let mut sums = SubtreeTotals::default();
        let mut names: BTreeMap<FileId, (u32, u32, u64)> = BTreeMap::new();
        let mut alone = 0;
        for below in table.subtree(row) {
            sums += table.own_totals(below);
            let allocated = table.allocated(below).unwrap_or(0);
            match linked(table, below) {
                Some(id) => {
                    let of = table.attributes(below).nlink().unwrap_or(all_names[&id]);
                    names.entry(id).or_insert((0, of, allocated)).0 += 1;
                }
                None => alone += allocated,
            }
        }
        let shared: u64 =
            names.values().filter(|(met, of, _)| met < of).map(|(_, _, bytes)| bytes).sum();
        alone += names.values().map(|(_, _, bytes)| bytes).sum::<u64>();
        let path = table.path(row);
        assert_eq!(table.totals(row), sums, "{context}: sums of {path:?}");
        assert_eq!(table.standalone_usage(row), alone, "{context}: {path:?} alone");
        assert_eq!(table.shared(row), shared, "{context}: shared in {path:?}");
        assert_eq!(table.exclusive(row), alone - shared, "{context}: exclusive in {path:?}");
    }
    for row in table.iter().filter(|&row| table.file_type(row) != FileType::Directory) {
        let expected = if charged.contains(&row) { table.allocated(row).unwrap_or(0) } else { 0 };
        assert_eq!(table.totals(row).disk_usage, expected, "{context}: {:?}", table.path(row));
    }
}

/// Returns the id of a file that may have several names.
fn linked(table: &Table, row: Row) -> Option<FileId> {
    let attributes = table.attributes(row);
    let several = attributes.nlink() != Some(1);
    let directory = table.file_type(row) == FileType::Directory;
    attributes.file_id().filter(|_| several && !directory)
}

/// Returns the entries that files are charged to: the first name of each, in the order of
/// directories and then by name.
fn charged(table: &Table) -> BTreeSet<Row> {
    let mut met = BTreeSet::new();
    let mut charged = BTreeSet::new();
    let directories = table.iter().filter(|&row| table.file_type(row) == FileType::Directory);
    let entries = table.roots().chain(directories.flat_map(|row| table.children(row)));
    for row in entries {
        if linked(table, row).is_none_or(|id| met.insert(id)) {
            charged.insert(row);
        }
    }
    charged
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn table_independent_of_order_threads_and_batches(
        nodes in forest(),
        order in prop::sample::select(Order::ALL),
        threads in 1_usize..6,
        batch in 1_usize..9,
    ) {
        let plain = fake_table(&Arc::new(build(&nodes, 1).0), scan("/").order(Order::Recursive));
        let (mut tree, _, paths) = build(&nodes, 1);
        tree.batch = batch;
        let tree = Arc::new(tree);
        let options = scan("/").order(order).threads(threads);
        let got = fake_table(&tree, options.clone());
        let totals = run_fake(&tree, options, || Totals::new(3)).sink;
        assert_equals_totals(&got, &totals, "a tree in memory");
        is_well_formed(&got, "a tree in memory");
        assert_totals_plain(&got, "a tree in memory");
        prop_assert_eq!(got.iter().count(), paths.len());
        prop_assert_eq!(all_of(&got), all_of(&plain));
    }
}

/// The totals of a selection, by checking every entry.
fn expected_selection_totals(table: &Table, rows: &[Row], without: &[Row]) -> SelectionTotals {
    let left_out: BTreeSet<Row> = without.iter().flat_map(|&row| table.subtree(row)).collect();
    let part = rows.iter().flat_map(|&row| table.subtree(row));
    let part: BTreeSet<Row> = part.filter(|row| !left_out.contains(row)).collect();
    let mut selected = SelectionTotals::default();
    let mut files: BTreeMap<FileId, (u32, u32)> = BTreeMap::new();
    for &row in &part {
        match table.file_type(row) {
            FileType::File => selected.files += 1,
            FileType::Directory => selected.directories += 1,
            _ => selected.others += 1,
        }
        selected.unread += u64::from(table.unread_reason(row).is_some());
        match linked(table, row) {
            Some(id) => {
                let names = table.iter().filter(|&row| linked(table, row) == Some(id)).count();
                let names = table.attributes(row).nlink().unwrap_or(names as u32);
                files.entry(id).or_insert((0, names)).0 += 1;
            }
            None => selected.disk_usage += table.allocated(row).unwrap_or(0),
        }
    }
    for (id, (here, names)) in files {
        let first = table.iter().find(|&row| linked(table, row) == Some(id));
        let bytes = first.and_then(|row| table.allocated(row)).unwrap_or(0);
        selected.disk_usage += bytes;
        if here < names {
            selected.shared += bytes;
            selected.shared_files += 1;
        }
    }
    selected
}

proptest! {
    #[test]
    fn selection_totals_equal_plain_count(
        nodes in forest(),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        without in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let table = fake_table(&Arc::new(build(&nodes, 1).0), scan("/"));
        let all: Vec<Row> = table.iter().collect();
        let rows = |indices: &[prop::sample::Index]| {
            table.outermost(indices.iter().map(|index| *index.get(&all)))
        };
        let (chosen, without) = (rows(&chosen), rows(&without));
        let below = |&row: &Row| table.subtree(row).skip(1).any(|below| chosen.contains(&below));
        prop_assert!(!chosen.iter().any(below), "one lies below another");
        let selected = table.selection_totals(&chosen, &without);
        prop_assert_eq!(selected, expected_selection_totals(&table, &chosen, &without));
        if let ([row], []) = (&chosen[..], &without[..]) {
            prop_assert_eq!(selected.exclusive(), table.exclusive(*row));
        }
    }
}

#[test]
fn table_two_roots_two_trees() {
    let mut tree = FakeTree::new();
    for path in ["/b", "/a"] {
        tree.add(path, FileType::Directory, 4096);
    }
    tree.add("/b/first", FileType::File, 600);
    tree.link("/a/second", "/b/first");
    let table = fake_table(&Arc::new(tree), ScanOptions::new(["/b", "/a"]).threads(3));
    is_well_formed(&table, "two roots");
    assert_totals_plain(&table, "two roots");
    let roots: Vec<(PathBuf, u64, u64, u64)> = table
        .roots()
        .map(|root| {
            (
                table.path(root),
                table.totals(root).apparent,
                table.standalone_usage(root),
                table.shared(root),
            )
        })
        .collect();
    let root = |path: &str, apparent| (PathBuf::from(path), apparent, 5120, 1024);
    assert_eq!(roots, [root("/a", 600), root("/b", 0)]);
}

#[test]
fn table_unread_directories_have_reason() {
    let mut tree = FakeTree::new();
    for path in ["/a", "/a/deep", "/a/deep/deeper", "/locked", "/locked/inside"] {
        tree.add(path, FileType::Directory, 4096);
    }
    tree.add("/file", FileType::File, 1);
    tree.fail("/locked", FaultPoint::Open, Some(io::ErrorKind::PermissionDenied));
    let table = fake_table(&Arc::new(tree), scan("/").max_depth(2));
    let unread = |path: &str| {
        let row = table.iter().find(|&row| table.path(row) == Path::new(path)).unwrap();
        (table.unread_reason(row), table.errors(row))
    };
    assert!(matches!(unread("/locked"), (Some(UnreadReason::Failed(_)), 1)));
    assert_eq!(unread("/"), (None, 1));
    assert_eq!(unread("/a"), (None, 0));
    assert_eq!(unread("/a/deep"), (Some(UnreadReason::Unvisited), 0));
    assert_eq!(unread("/file"), (None, 0));
    assert_eq!(table.diagnostics().skipped.get(&SkipReason::MaxDepth), Some(&1));
}

#[test]
fn table_keeps_first_errors_or_all() {
    let more = Diagnostics::DEFAULT_KEPT + 10;
    let mut tree = FakeTree::new();
    for number in 0..more {
        let path = format!("/{number}");
        tree.add(&path, FileType::Directory, 4096);
        tree.fail(&path, FaultPoint::Open, Some(io::ErrorKind::PermissionDenied));
    }
    let tree = Arc::new(tree);
    let kept = |builder: TableBuilder| {
        let options = scan("/").threads(1);
        let table = run_fake(&tree, options, || builder.sink()).sink.into_table().unwrap();
        assert_eq!(table.diagnostics().errors, more as u64);
        table.diagnostics().kept_errors.len()
    };
    assert_eq!(kept(TableBuilder::new(columns())), Diagnostics::DEFAULT_KEPT);
    assert_eq!(kept(TableBuilder::new(columns()).keep_all_errors()), more);
}

#[test]
fn table_filtered_keeps_directories_above_matches() {
    let mut tree = FakeTree::new();
    tree.add("/a", FileType::Directory, 4096);
    tree.add("/a/b", FileType::Directory, 4096);
    tree.add("/a/b/kept.c", FileType::File, 600);
    tree.add("/a/dropped.h", FileType::File, 600);
    let filters = Filters::new().globs(["*.c"]);
    let (tree, options) = (Arc::new(tree), scan("/").filters(filters));
    let table = fake_table(&tree, options.clone());
    let paths: Vec<PathBuf> = table.iter().map(|row| table.path(row)).collect();
    assert_eq!(paths, ["/", "/a", "/a/b", "/a/b/kept.c"].map(PathBuf::from));
    let totals = run_fake(&tree, options, || Totals::new(0)).sink;
    assert_equals_totals(&table, &totals, "only what the filter lets through is counted");
    assert_eq!((totals.files, totals.sizes.apparent), (1, 600));
}

#[test]
fn table_directory_larger_than_chunk_contiguous() {
    let mut tree = FakeTree::new();
    tree.add("/wide", FileType::Directory, 4096);
    let count = 70_000;
    for number in (0..count).rev() {
        tree.add(&format!("/wide/{number}"), FileType::File, number);
    }
    tree.add("/zz", FileType::File, 7);
    tree.batch = 1000;
    let table = fake_table(&Arc::new(tree), scan("/").threads(2));
    is_well_formed(&table, "a wide directory");
    assert_eq!(u64::from(table.grand_total().files), count + 1);
    let root = table.roots().next().unwrap();
    let wide = table.child(root, "wide".as_ref()).unwrap();
    assert_eq!(table.children(wide).len() as u64, count);
    let largest = table.largest(table.iter(), 3, |row| {
        if table.file_type(row) == FileType::File { table.size(row).unwrap_or(0) } else { 0 }
    });
    let names: Vec<_> = largest.iter().map(|&row| table.name(row).to_str().unwrap()).collect();
    assert_eq!(names, ["69999", "69998", "69997"]);
}

#[test]
fn table_groups_add_up_to_grand_total() {
    let mut tree = FakeTree::new();
    for (path, size) in [("/a.c", 1), ("/b.c", 2), ("/c.h", 4), ("/.c", 8), ("/none", 16)] {
        tree.add(path, FileType::File, size);
    }
    tree.link("/d.c", "/a.c");
    let table = fake_table(&Arc::new(tree), scan("/"));
    let groups = table.group(table.iter(), |row| Some(table.extension(row)));
    let of = |name: Option<&str>| groups[&name.map(std::ffi::OsStr::new)];
    assert_eq!((of(Some("c")).files, of(Some("c")).apparent), (3, 3));
    assert_eq!((of(Some("h")).files, of(Some("h")).apparent), (1, 4));
    assert_eq!((of(None).files, of(None).apparent), (2, 24));
    let keys: Vec<_> = groups.keys().map(|key| key.and_then(|key| key.to_str())).collect();
    assert_eq!(keys, [None, Some("c"), Some("h")]);
    let mut all = SubtreeTotals::default();
    groups.values().for_each(|&sums| all += sums);
    assert_eq!(all, table.grand_total());
}

#[test]
fn table_owners_and_ages_add_up_to_grand_total() {
    let mut tree = FakeTree::new();
    for (path, uid, mtime) in [("/a", 1, 10), ("/b", 1, 60), ("/c", 2, 95), ("/d", 2, 101)] {
        tree.add(path, FileType::File, 1000);
        tree.change(path, |attributes| {
            attributes.set_uid(uid);
            attributes.set_mtime(mtime);
        });
    }
    let builder = TableBuilder::new(columns() | FieldMask::UID);
    let table = run_fake(&Arc::new(tree), scan("/"), || builder.sink()).sink;
    let table = table.into_table().expect("a small tree");
    let files = || table.iter().filter(|&row| table.file_type(row) == FileType::File);
    let owners = table.by_owner(files());
    assert_eq!((owners[&Some(1)].files, owners[&Some(2)].files, owners.len()), (2, 2, 2));
    let limits = [10, 50].map(Duration::from_nanos);
    let ages = table.by_age(files(), 100, &limits);
    let expected = [Age::Future, Age::Below(0), Age::Below(1), Age::Older];
    assert_eq!(ages.keys().copied().collect::<Vec<_>>(), expected);
    assert!(ages.values().all(|sums| sums.files == 1), "{ages:?}");
}

/// Directories are read to their end, or left over; with several threads, a few more are read.
#[test]
fn table_of_limited_walk_has_whole_directories_and_those_left_over() {
    let mut tree = FakeTree::new();
    for directory in 0..20 {
        tree.add(&format!("/{directory}"), FileType::Directory, 4096);
        for file in 0..10 {
            tree.add(&format!("/{directory}/{file}"), FileType::File, 1);
        }
    }
    let tree = Arc::new(tree);
    for threads in [1, 4] {
        let limit = WorkLimit::entries(50);
        let table = fake_table(&tree, scan("/").threads(threads).work_limit(limit));
        let root = table.roots().next().unwrap();
        let left_over = |row: &Row| {
            table.unread_reason(*row) == Some(UnreadReason::Skipped(SkipReason::LeftOver))
        };
        let left = table.children(root).filter(left_over).count();
        assert!(
            table
                .children(root)
                .filter(|row| !left_over(row))
                .all(|row| table.children(row).len() == 10)
        );
        assert_eq!(table.diagnostics().skipped.get(&SkipReason::LeftOver), Some(&(left as u64)));
        // The root has 20 entries; three directories make 50.
        assert!(left <= 17 && left >= 20 - 3 - threads, "{left} with {threads} threads");
    }
    let none = WorkLimit::entries(0).until(Some(Instant::now()));
    let table = fake_table(&tree, scan("/").threads(1).work_limit(none));
    assert_eq!(table.len(), 21, "the first directory is read in any case");
}

/// A directory is skipped if it has more entries than the limit, without those that the filters drop.
#[test]
fn table_of_limited_walk_has_no_large_directories() {
    let mut tree = FakeTree::new();
    for (directory, files) in [("small", 100), ("limit", 5000), ("large", 5001)] {
        tree.add(&format!("/{directory}"), FileType::Directory, 4096);
        for file in 0..files {
            tree.add(&format!("/{directory}/{file:04}"), FileType::File, 1);
        }
    }
    let tree = Arc::new(tree);
    let limit = WorkLimit::entries(u64::MAX).entries_of_directory(5000);
    for threads in [1, 4] {
        for order in Order::ALL {
            let mut options = scan("/").order(*order).work_limit(limit);
            if order.is_parallel() {
                options = options.threads(threads);
            }
            let table = fake_table(&tree, options);
            let root = table.roots().next().unwrap();
            let found = |name: &str| {
                let row = table.children(root).find(|row| table.name(*row) == name).unwrap();
                (table.children(row).len(), table.unread_reason(row))
            };
            assert_eq!(found("small"), (100, None), "{order:?}");
            assert_eq!(found("limit"), (5000, None));
            let reason = UnreadReason::Skipped(SkipReason::LargeDirectory);
            assert_eq!(found("large"), (0, Some(reason)));
            assert_eq!(table.diagnostics().skipped.get(&SkipReason::LargeDirectory), Some(&1));
        }
    }
    let filtered = scan("/").filters(Filters::new().globs(["!0000"])).work_limit(limit);
    assert_eq!(fake_table(&tree, filtered).len(), 4 + 99 + 4999 + 5000);
}
