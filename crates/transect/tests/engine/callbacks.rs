//! Closures instead of sinks: `for_each`.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use transect::{FieldMask, FileType, Filters, Flow, Order, ScanOptions, SkipReason};
use transect_testkit::{TempDir, trees, within};

use crate::support::{scan, schedules};

/// What `std::fs` finds, without what is in directories that `prune` selects.
#[expect(clippy::disallowed_methods, reason = "a model that is independent of the readers")]
fn model(root: PathBuf, prune: &impl Fn(&std::path::Path) -> bool) -> BTreeSet<PathBuf> {
    let (mut found, mut left) = (BTreeSet::new(), vec![root]);
    while let Some(path) = left.pop() {
        let is_dir = std::fs::symlink_metadata(&path).unwrap().is_dir();
        if is_dir && !prune(&path) {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path);
    }
    found
}

fn walked(
    options: ScanOptions,
    prune: &(impl Fn(&std::path::Path) -> bool + Sync),
) -> BTreeSet<PathBuf> {
    let found = Mutex::new(BTreeSet::new());
    let plan = options.plan().unwrap();
    let outcome = plan
        .for_each(FieldMask::SIZE, |dir, entry| {
            assert_eq!(entry.path(), dir.path_of(entry.name));
            assert_eq!(entry.depth(), dir.entry_depth());
            assert!(entry.file_type() != FileType::File || entry.attributes.size().is_some());
            assert!(found.lock().unwrap().insert(entry.path()), "delivered twice");
            if prune(&entry.path()) { Flow::Prune } else { Flow::Continue }
        })
        .unwrap();
    assert!(outcome.sink.is_complete());
    found.into_inner().unwrap()
}

#[test]
fn for_each_equals_std_walk_with_and_without_pruning() {
    for (name, build) in trees::ALL {
        let temp = TempDir::new();
        let root = temp.join("tree");
        std::fs::create_dir(&root).unwrap();
        build(&root);
        let prunes: [&(dyn Fn(&std::path::Path) -> bool + Sync); 4] = [
            &|_| false,
            &|_| true,
            // About every second directory, and files, for which it has no effect.
            &|path| path.as_os_str().len() % 2 == 0,
            &|path| path.as_os_str().len() % 3 > 0,
        ];
        for (which, prune) in prunes.iter().enumerate() {
            let expected = model(root.clone(), prune);
            for (order, threads) in
                schedules().filter(|(order, threads)| *order == Order::default() || *threads == 2)
            {
                let found = walked(scan(&root).order(order).threads(threads), prune);
                assert_eq!(found, expected, "{name} {which} in {} on {threads}", order.as_str());
            }
        }
    }
}

#[test]
fn for_each_prunes_only_delivered_directories() {
    let temp = TempDir::new();
    for path in ["a/b/x.rs", "a/c/y.rs", "d/z.rs"] {
        std::fs::create_dir_all(temp.join(path).parent().unwrap()).unwrap();
        std::fs::write(temp.join(path), "").unwrap();
    }
    // With an including glob, directories are read and not delivered.
    let globs = vec!["*.rs".to_owned(), "a".to_owned()];
    let filters = Filters::new().globs(globs);
    let found = walked(scan(temp.path()).filters(filters), &|path| path.ends_with("a"));
    assert_eq!(found, BTreeSet::from([temp.join("a"), temp.join("d/z.rs")]));
}

#[test]
fn for_each_quit_ends_walk() {
    let temp = TempDir::new();
    trees::many_small_dirs(temp.path());
    let all = model(temp.path().to_owned(), &|_| false).len() as u64;
    for (order, threads) in schedules() {
        let calls = AtomicU64::new(0);
        let plan = scan(temp.path()).order(order).threads(threads).plan().unwrap();
        plan.for_each(FieldMask::empty(), |_, _| {
            if calls.fetch_add(1, Ordering::Relaxed) >= 5 { Flow::Quit } else { Flow::Continue }
        })
        .unwrap();
        let calls = calls.into_inner();
        assert!((6..all).contains(&calls), "{calls} of {all} in {}", order.as_str());
    }
}

#[test]
fn for_each_panic_reaches_caller_in_every_order() {
    for (order, threads) in schedules() {
        let what = format!("a panic in {} on {threads}", order.as_str());
        let fell = within(&what, move || {
            let temp = TempDir::new();
            trees::basic(temp.path());
            let plan = scan(temp.path()).order(order).threads(threads).plan().unwrap();
            catch_unwind(AssertUnwindSafe(|| {
                plan.for_each(FieldMask::empty(), |_, entry| {
                    assert!(entry.depth() == 0, "this closure panics on purpose");
                    Flow::Continue
                })
                .map(drop)
            }))
        });
        assert!(fell.is_err(), "{what}");
    }
}

#[test]
fn for_each_walks_again_from_callback() {
    let count = within("a walk in a walk", || {
        let temp = TempDir::new();
        trees::basic(temp.path());
        let plan = scan(temp.path()).plan().unwrap();
        let expected = transect::walk(temp.path()).into_iter().count();
        plan.for_each(FieldMask::empty(), |dir, entry| {
            if entry.file_type() == FileType::Directory {
                assert!(transect::walk(dir.path_of(entry.name)).into_iter().count() <= expected);
                let inner = plan.for_each(FieldMask::empty(), |_, _| Flow::Continue).unwrap();
                assert!(inner.sink.is_complete());
            }
            Flow::Continue
        })
        .unwrap();
        expected
    });
    assert!(count > 3);
}

#[test]
fn for_each_reports_errors_and_skips() {
    let temp = TempDir::new();
    std::fs::create_dir_all(temp.join("a/b")).unwrap();
    let roots = [temp.path().to_owned(), temp.join("missing")];
    let plan = ScanOptions::new(roots).max_depth(1).plan().unwrap();
    let outcome = plan.for_each(FieldMask::empty(), |_, _| Flow::Continue).unwrap();
    let diagnostics = outcome.sink;
    assert_eq!((diagnostics.errors, diagnostics.failed_roots), (1, 1));
    assert_eq!(diagnostics.kept_errors[0].path(), temp.join("missing"));
    assert_eq!(diagnostics.skipped.get(&SkipReason::MaxDepth), Some(&1));
}

#[test]
fn table_read_reads_tree_or_returns_why_not() {
    use transect::table::Table;
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "12345").unwrap();
    let table = Table::read(temp.path()).unwrap();
    let root = table.roots().next().unwrap();
    assert_eq!((table.totals(root).files, table.totals(root).apparent), (1, 5));
    let error = std::io::Error::from(Table::read(temp.join("missing")).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::NotFound);

    let options = ScanOptions::new([temp.path().to_path_buf(), temp.join("missing")]);
    let table = Table::read_with(options, FieldMask::INODE).unwrap();
    assert_eq!(table.columns(), FieldMask::INODE | FieldMask::SIZE | FieldMask::ALLOCATED);
    assert_eq!((table.len(), table.diagnostics().errors), (2, 1));
    for row in table.iter() {
        assert_eq!(table.row(row.number()), Some(row));
    }
    // A root and its entry lie in one chunk, or each in a chunk of its own.
    assert_eq!((0..200_000).filter(|&number| table.row(number).is_some()).count(), 2);
    assert_eq!(table.row(u32::MAX), None);
}
