//! Closures instead of sinks: `visit_parallel`.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use transect::internal::Order;
use transect::{
    DirEntry, Error, FieldMask, FileType, Filters, Flow, ScanOptions, SkipReason, VisitEntry,
};
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
    let outcome = options.want(FieldMask::SIZE).visit_parallel(|| {
        |entry| {
            let entry = entry.unwrap();
            assert_eq!(entry.path(), entry.dir().path_of(entry.name));
            assert_eq!(entry.depth(), entry.dir().entry_depth());
            assert!(entry.file_type() != FileType::File || entry.attributes.size().is_some());
            let kept = DirEntry::from(entry);
            assert_eq!((kept.path(), kept.depth()), (entry.path(), entry.depth()));
            assert_eq!(kept.attributes().size(), entry.attributes.size());
            assert!(found.lock().unwrap().insert(entry.path()), "delivered twice");
            if prune(&entry.path()) { Flow::Skip } else { Flow::Continue }
        }
    });
    assert!(outcome.unwrap().sink.is_complete());
    found.into_inner().unwrap()
}

#[test]
fn visit_parallel_equals_std_walk_with_and_without_pruning() {
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
fn visit_parallel_skips_only_delivered_directories() {
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
fn visit_parallel_quit_ends_walk() {
    let temp = TempDir::new();
    trees::many_small_dirs(temp.path());
    let all = model(temp.path().to_owned(), &|_| false).len() as u64;
    for (order, threads) in schedules() {
        let calls = AtomicU64::new(0);
        let visitor = |_: Result<VisitEntry<'_>, Error>| {
            if calls.fetch_add(1, Ordering::Relaxed) >= 5 { Flow::Quit } else { Flow::Continue }
        };
        scan(temp.path()).order(order).threads(threads).visit_parallel(|| visitor).unwrap();
        let calls = calls.into_inner();
        assert!((6..all).contains(&calls), "{calls} of {all} in {}", order.as_str());
    }
}

/// A visitor as one of `ignore`: it collects on its own thread, and hands over when the thread ends.
#[test]
fn visit_parallel_one_closure_for_each_thread() {
    struct Collected<'a>(Vec<PathBuf>, &'a Mutex<Vec<Vec<PathBuf>>>);
    impl Drop for Collected<'_> {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(std::mem::take(&mut self.0));
        }
    }
    let temp = TempDir::new();
    trees::many_small_dirs(temp.path());
    let expected = model(temp.path().to_owned(), &|_| false);
    for (order, threads) in schedules() {
        let all = Mutex::new(Vec::new());
        let options = scan(temp.path()).order(order).threads(threads);
        let outcome = options.visit_parallel(|| {
            let mut own = Collected(Vec::new(), &all);
            move |entry: Result<VisitEntry<'_>, Error>| {
                own.0.push(entry.unwrap().path());
                Flow::Continue
            }
        });
        let (outcome, all) = (outcome.unwrap(), all.into_inner().unwrap());
        // A future is a thread of its own; only so many run at once.
        let is_right = all.len() == outcome.threads || order == Order::Futures;
        assert!(is_right, "{}: {} of {}", order.as_str(), all.len(), outcome.threads);
        assert_eq!(all.into_iter().flatten().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn visit_parallel_panic_reaches_caller_in_every_order() {
    for (order, threads) in schedules() {
        let what = format!("a panic in {} on {threads}", order.as_str());
        let fell = within(&what, move || {
            let temp = TempDir::new();
            trees::basic(temp.path());
            let options = scan(temp.path()).order(order).threads(threads);
            catch_unwind(AssertUnwindSafe(|| {
                let bomb = |entry: Result<VisitEntry<'_>, Error>| {
                    assert!(entry.unwrap().depth() == 0, "this closure panics on purpose");
                    Flow::Continue
                };
                options.visit_parallel(|| bomb).map(drop)
            }))
        });
        assert!(fell.is_err(), "{what}");
    }
}

#[test]
fn visit_parallel_walks_again_from_visitor() {
    let count = within("a walk in a walk", || {
        let temp = TempDir::new();
        trees::basic(temp.path());
        let options = scan(temp.path());
        let expected = transect::walk(temp.path()).into_iter().count();
        let visitor = |entry: Result<VisitEntry<'_>, Error>| {
            let entry = entry.unwrap();
            if entry.file_type() == FileType::Directory {
                assert!(transect::walk(entry.path()).into_iter().count() <= expected);
                let inner = options.clone().visit_parallel(|| |_| Flow::Continue).unwrap();
                assert!(inner.sink.is_complete());
            }
            Flow::Continue
        };
        options.clone().visit_parallel(|| visitor).unwrap();
        expected
    });
    assert!(count > 3);
}

#[test]
fn visit_parallel_errors_are_items_and_skips_are_counted() {
    let temp = TempDir::new();
    std::fs::create_dir_all(temp.join("a/b")).unwrap();
    let options = || ScanOptions::new([temp.path().to_owned(), temp.join("missing")]).max_depth(1);
    let errors = Mutex::new(Vec::new());
    let outcome = options().visit_parallel(|| {
        |entry| {
            errors.lock().unwrap().extend(entry.err());
            Flow::Continue
        }
    });
    let diagnostics = outcome.unwrap().sink;
    assert_eq!((diagnostics.errors, diagnostics.failed_roots), (1, 1));
    assert_eq!(errors.into_inner().unwrap()[0].path(), Some(&*temp.join("missing")));
    assert_eq!(diagnostics.skipped.get(&SkipReason::MaxDepth), Some(&1));

    // The roots are queried first.
    let entries = AtomicU64::new(0);
    let until_error = |entry: Result<VisitEntry<'_>, Error>| {
        entries.fetch_add(entry.is_ok().into(), Ordering::Relaxed);
        if entry.is_err() { Flow::Quit } else { Flow::Continue }
    };
    options().visit_parallel(|| until_error).unwrap();
    assert!(entries.into_inner() <= 1, "the error ended the walk");
    let nothing = ScanOptions::default().visit_parallel(|| |_| Flow::Continue);
    assert!(matches!(nothing, Err(Error::NoRoots)));
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
