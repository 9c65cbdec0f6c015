//! Faults that are too rare on real file systems, injected into a tree in memory.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use transect::{FaultKind, FileType, Filters, Operation, ScanOptions, SkipReason, Totals};
use transect_sys::fake::{FakeTree, FaultPoint};
use transect_testkit::Counts;

use crate::support::{
    assert_complete, counts, fake_paths, fake_totals, readable, run_fake, scan, schedules, skipped,
};

/// 1 + 5 + 25 + 125 directories; 4 files in each of the lowest, one link and one pipe in each of
/// the middle ones.
pub(crate) fn forest() -> FakeTree {
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
pub(crate) fn forest_counts() -> Counts {
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

pub(crate) fn options() -> ScanOptions {
    scan("/")
}

// ---- no faults ----

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
        let got = fake_totals(&tree, options.follow_links(true));
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
                let filters = Filters::new().globs(globs.iter().copied());
                let options = options().filters(filters).min_depth(min_depth).max_depth(max_depth);
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

/// While a file grows or shrinks, its names are listed with different sizes. Only a size that was
/// added may be subtracted.
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
        let got = fake_totals(&tree, options.same_file_system(true));
        assert_eq!((got.files, got.sizes.apparent), (1, 10), "{}", order.as_str());
        assert_eq!(got.directories, 3, "the mount point is a directory");
        assert_eq!(skipped(&got.diagnostics, SkipReason::MountBoundary), 1);
    }
}
