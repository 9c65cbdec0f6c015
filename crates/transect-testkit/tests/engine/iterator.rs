//! The iterator: threads that start and stop, errors, panics.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use transect::internal::{FoundEntries, Order};
use transect::{
    DirEntry, Error, FieldMask, FileType, Filters, Progress, ScanOptions, SkipReason, Verdict, Walk,
};
use transect_sys::fake::{FakeReader, FakeTree, FaultPoint, FaultState};
use transect_testkit::{TempDir, trees, wait_until, within};

use crate::faults::{forest, options};
use crate::support::schedules;

/// When a walk goes to threads of its own: at once, or never.
const STARTS: [Duration; 2] = [Duration::ZERO, Duration::MAX];

/// Returns an iterator over a tree in memory that goes to threads of its own `after` some time, and the count
/// of its open directories, plus one.
fn fake_walk(
    tree: &Arc<FakeTree>,
    after: Duration,
    options: ScanOptions,
) -> (Walk<FakeReader>, Arc<FaultState>) {
    let open: Arc<FaultState> = Arc::default();
    let (tree, given) = (Arc::clone(tree), Arc::clone(&open));
    let plan = options.plan().expect("the options are right");
    let walk = plan.walk_with(move || FakeReader::new(Arc::clone(&tree), Arc::clone(&given)));
    (walk.threads_after(after), open)
}

/// Asserts that nothing is open after a walk, which also dropped its readers.
#[track_caller]
fn assert_closed(open: &Arc<FaultState>, context: &str) {
    assert_eq!(Arc::strong_count(open), 1, "{context}: something was left open");
}

fn path_of(entry: &DirEntry) -> String {
    entry.path().to_str().expect("names in memory are UTF-8").replace('\\', "/")
}

#[test]
fn types_cross_threads() {
    fn sends<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    sends::<Walk>();
    sends::<transect::internal::FoundEntries>();
    shares::<DirEntry>();
    shares::<transect::Dir>();
    shares::<transect::ScanOptions>();
    shares::<transect::ScanPlan>();
    shares::<transect::ScanError>();
    shares::<transect::Error>();
    shares::<transect::Filters>();
    shares::<transect::Cancel>();
    shares::<transect::Progress>();
    shares::<transect::Totals>();
    shares::<transect::Diagnostics>();
    shares::<transect::Attributes>();
    shares::<transect::Batch>();
    shares::<transect::table::Table>();
    shares::<transect::table::TableBuilder>();
    shares::<transect::table::PartialTable>();
    sends::<transect::table::TableSink>();
    sends::<transect::internal::AnyReader>();
}

#[test]
fn iterator_entry_attributes_depth_and_names() {
    let tree = Arc::new(forest());
    for after in STARTS {
        let wanted = options().want(FieldMask::SIZE);
        let (walk, open) = fake_walk(&tree, after, wanted);
        let entries: Vec<DirEntry> = walk.map(Result::unwrap).collect();
        assert_closed(&open, "entries outlive the walk");
        assert_eq!(entries.len(), 706);
        let file = entries.iter().find(|entry| path_of(entry) == "/1/2/3/file2").unwrap();
        assert_eq!((file.file_name().to_str(), file.depth()), (Some("file2"), 4));
        assert_eq!((file.attributes().size(), file.file_type()), (Some(102), FileType::File));
        assert!(file.file_type().is_file() && !file.file_type().is_dir() && !file.is_followed());
        assert_eq!(file.clone().into_path(), file.path());
        assert_eq!(file.dir().name(), "3");
        let root = &entries[0];
        assert!(root.depth() == 0 && root.file_type().is_dir() && root.dir().is_top());
        // A directory comes before its entries.
        let mut seen = BTreeSet::new();
        for entry in &entries {
            let parent = entry.path().parent().map(PathBuf::from);
            assert!(parent.is_none_or(|parent| seen.contains(&parent)), "{entry:?}");
            seen.insert(entry.path());
        }
    }
}

#[test]
fn iterator_missing_root_is_error_item() {
    let temp = TempDir::new();
    let mut walk = transect::walk(temp.join("missing")).into_iter();
    let error = walk.next().unwrap().unwrap_err();
    assert_eq!((error.path(), error.depth()), (Some(&*temp.join("missing")), Some(0)));
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::NotFound);
    assert!(walk.next().is_none() && walk.next().is_none());
    assert_eq!(walk.diagnostics().failed_roots, 1);
}

#[test]
fn iterator_errors_are_items_and_counted() {
    let mut tree = forest();
    for a in 0..5 {
        tree.fail(&format!("/{a}/0"), FaultPoint::Open, Some(ErrorKind::PermissionDenied));
    }
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        for after in STARTS {
            let context = format!("{} on {threads} after {after:?}", order.as_str());
            let options = options().order(order).threads(threads).max_depth(3);
            let (mut walk, open) = fake_walk(&tree, after, options);
            let items: Vec<_> = walk.by_ref().collect();
            let mut failed: Vec<_> = items
                .iter()
                .filter_map(|item| item.as_ref().err())
                .map(|error| {
                    (error.path().unwrap().components().count(), error.io_error().unwrap().kind())
                })
                .collect();
            failed.dedup();
            assert_eq!(failed, [(3, ErrorKind::PermissionDenied)], "{context}");
            assert_eq!(items.len(), 5 + 1 + 5 + 25 + 20 * (5 + 2), "{context}");
            let diagnostics = walk.diagnostics();
            assert_eq!(diagnostics.errors, 5, "{context}");
            assert_eq!(diagnostics.skipped.get(&SkipReason::MaxDepth), Some(&100), "{context}");
            drop(walk);
            assert_closed(&open, &context);
        }
    }
}

#[test]
fn found_entries_are_the_items_of_the_iterator() {
    let mut tree = forest();
    tree.fail("/1/0", FaultPoint::Open, Some(ErrorKind::PermissionDenied));
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        for after in STARTS {
            let context = format!("{} on {threads} after {after:?}", order.as_str());
            let walk = || {
                let options = options().order(order).threads(threads);
                fake_walk(&tree, after, options.want(FieldMask::SIZE))
            };
            let text =
                |path: PathBuf, size: Option<u64>, depth| format!("{path:?} {size:?} {depth}");
            let mut wanted: Vec<String> = walk()
                .0
                .map(|item| match item {
                    Ok(entry) => text(entry.path(), entry.attributes().size(), entry.depth()),
                    Err(error) => error.to_string(),
                })
                .collect();
            let (mut walk, open) = walk();
            // Entries that `next` left are found, too.
            let first = walk.next().unwrap().unwrap();
            let mut got = vec![text(first.path(), first.attributes().size(), first.depth())];
            let mut kept = Vec::new();
            while let Some(found) = walk.take_found() {
                kept.push(found);
            }
            assert_eq!(walk.diagnostics().errors, 1, "{context}");
            drop(walk);
            assert_closed(&open, &context);
            for mut found in kept {
                let (before, count) = (found.len(), got.len());
                while let Some(item) = found.take_next() {
                    got.push(match item {
                        Ok(entry) => text(entry.path(), entry.attributes.size(), entry.depth()),
                        Err(error) => error.to_string(),
                    });
                }
                assert_eq!((got.len() - count, found.len()), (before, 0), "{context}");
            }
            wanted.sort_unstable();
            got.sort_unstable();
            assert_eq!(got, wanted, "{context}");
        }
    }
}

#[test]
fn iterator_filter_entry_drops_and_prunes() {
    let tree = Arc::new(forest());
    for (order, threads) in schedules() {
        for after in STARTS {
            let options = options().order(order).threads(threads);
            let (walk, _) = fake_walk(
                &tree,
                after,
                options.filter_entry(|entry| match (entry.depth(), entry.file_name().to_str()) {
                    (1, Some("0")) => Verdict::Drop,
                    (2, Some("1")) => Verdict::Prune,
                    (2, Some("2")) => Verdict::DescendOnly,
                    _ => Verdict::Keep,
                }),
            );
            let mut found: Vec<_> = walk.map(|entry| path_of(&entry.unwrap())).collect();
            found.sort_unstable();
            // In each of 4: 4 subdirectories delivered, 4 read with 2 + 5 + 20 entries each.
            assert_eq!(found.len(), 1 + 4 + 4 * (4 + 4 * 27), "{}", order.as_str());
            assert!(!found.iter().any(|path| path.starts_with("/0")));
            assert!(found.contains(&"/1/1".to_owned()) && !found.contains(&"/1/1/0".to_owned()));
            assert!(!found.contains(&"/1/2".to_owned()) && found.contains(&"/1/2/0".to_owned()));
        }
    }
}

#[test]
fn filter_entry_gets_types_that_the_listing_lacks() {
    let mut tree = forest();
    tree.hide_types = true;
    let tree = Arc::new(tree);
    for (order, threads) in schedules() {
        for after in STARTS {
            let options = options().order(order).threads(threads);
            let options = options.filter_entry(|entry| match entry.file_type() {
                FileType::Unknown => panic!("{} has no type", entry.path().display()),
                FileType::Directory => entry.file_name() != "1",
                _ => true,
            });
            let (walk, _) = fake_walk(&tree, after, options);
            let found: Vec<_> = walk.map(|entry| path_of(&entry.unwrap())).collect();
            assert!(found.iter().any(|path| path.starts_with("/2/2/")), "{}", order.as_str());
            assert!(!found.iter().any(|path| path.contains("/1/")), "{}", order.as_str());
        }
    }
}

#[test]
fn iterator_batches_are_the_entries() {
    let tree = Arc::new(forest());
    let (all, _) = fake_walk(&tree, Duration::MAX, options());
    let names = |found: &mut FoundEntries| {
        let mut names = Vec::new();
        while let Some(entry) = found.take_next() {
            names.push(entry.unwrap().path());
        }
        names
    };
    let mut expected: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    // With a filter that selects nothing, every batch still returns.
    for (types, entries) in [(vec![], expected.len()), (vec![FileType::Socket], 0)] {
        let filters = Filters::new().types(types);
        let options = options().filters(filters);
        let (mut walk, _) = fake_walk(&tree, Duration::MAX, options);
        let (mut found, mut batches) = (Vec::new(), 0);
        while let Some(mut batch) = walk.take_found() {
            found.append(&mut names(&mut batch));
            batches += 1;
        }
        assert!(batches > 10, "{batches} batches");
        assert_eq!(found.len(), entries);
        if entries > 0 {
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn iterator_single_threaded_orders_deterministic() {
    let tree = Arc::new(forest());
    let listed = |order| {
        let (walk, _) = fake_walk(&tree, Duration::MAX, options().order(order));
        walk.map(|entry| entry.unwrap().depth()).collect::<Vec<_>>()
    };
    let mut breadth_first = listed(Order::Stack);
    assert!(!breadth_first.is_sorted(), "depth first");
    breadth_first.sort_unstable();
    assert_eq!(listed(Order::Queue), breadth_first);
}

#[test]
fn iterator_early_drop_stops_walk_and_closes_everything() {
    let tree = Arc::new(forest());
    for (order, threads) in schedules() {
        for after in STARTS {
            for taken in [0, 1, 2, 7, 100, 705] {
                let context = format!("{taken} in {} on {threads}", order.as_str());
                let options = options().order(order).threads(threads);
                let what = context.clone();
                let tree = Arc::clone(&tree);
                within(&context, move || {
                    let (mut walk, open) = fake_walk(&tree, after, options);
                    assert_eq!(walk.by_ref().take(taken).count(), taken, "{what}");
                    drop(walk);
                    assert_closed(&open, &what);
                });
            }
        }
    }
}

/// A tree in memory that is much larger than what may wait in the queue.
fn large_tree() -> Arc<FakeTree> {
    let mut tree = FakeTree::new();
    for dir in 0..400 {
        for file in 0..100 {
            tree.add(&format!("/{dir}/{file}"), FileType::File, 1);
        }
    }
    Arc::new(tree)
}

#[test]
fn iterator_slow_caller_limits_entries_in_memory() {
    let tree = large_tree();
    // 16 full chunks, one being filled and one in use, each of up to 511 entries and a batch; and a
    // batch of each of 4 threads. The root has 400 entries, the others 100.
    const LIMIT: u64 = 18 * (511 + 400) + 4 * 400;
    within("a slow caller", move || {
        let progress = Arc::new(Progress::new());
        let options = options().threads(4).progress(Arc::clone(&progress));
        let (mut walk, open) = fake_walk(&tree, Duration::ZERO, options);
        let mut taken = walk.by_ref().take(500).count() as u64;
        wait_until("the threads run ahead", || progress.counts().entries > 8000);
        for entry in walk.by_ref() {
            entry.unwrap();
            taken += 1;
            let found = progress.counts().entries;
            assert!(found <= taken + LIMIT, "{found} found, {taken} taken");
        }
        assert_eq!(taken, 40_401);
        assert_closed(&open, "at the end");
    });
}

#[test]
fn iterator_drop_while_threads_wait_ends() {
    let tree = large_tree();
    within("a drop with a full queue", move || {
        let progress = Arc::new(Progress::new());
        let options = options().threads(4).progress(Arc::clone(&progress));
        let (mut walk, open) = fake_walk(&tree, Duration::ZERO, options);
        assert_eq!(walk.by_ref().take(500).count(), 500);
        wait_until("the queue is full", || progress.counts().entries > 8000);
        drop(walk);
        assert!(progress.counts().entries < 40_000, "the walk was stopped");
        assert_closed(&open, "after the drop");
    });
}

#[test]
fn iterator_moves_between_threads() {
    let tree = large_tree();
    let (mut walk, _) = fake_walk(&tree, Duration::ZERO, options().threads(2));
    let first = walk.by_ref().take(300).count();
    let rest = within("the rest, on another thread", move || walk.count());
    assert_eq!(first + rest, 40_401);
}

#[test]
fn iterator_panic_in_filter_entry_reaches_caller() {
    let tree = large_tree();
    for (order, threads) in schedules() {
        for after in STARTS {
            let context = format!("{} on {threads} after {after:?}", order.as_str());
            let (tree, what) = (Arc::clone(&tree), context.clone());
            within(&context, move || {
                let options = options().order(order).threads(threads);
                let (mut walk, open) = fake_walk(
                    &tree,
                    after,
                    options.filter_entry(|entry| {
                        assert!(entry.file_name() != "200", "this closure panics on purpose");
                        true
                    }),
                );
                let fell = catch_unwind(AssertUnwindSafe(|| walk.by_ref().count()));
                assert!(fell.is_err(), "{what}");
                assert!(walk.next().is_none(), "{what}: a walk that panicked has ended");
                drop(walk);
                assert_closed(&open, &what);
            });
        }
    }
}

#[test]
fn iterator_closure_walks_again() {
    let temp = TempDir::new();
    trees::many_small_dirs(temp.path());
    let root = temp.path().to_owned();
    let (inner, outer) = within("a walk in a walk", move || {
        let at_once = |options: ScanOptions| options.into_iter().threads_after(Duration::ZERO);
        let inner = at_once(transect::walk(&root)).count();
        let again = root.clone();
        let outer = transect::walk(&root).filter_entry(move |entry| {
            if entry.depth() == 1 {
                assert_eq!(at_once(transect::walk(&again)).count(), inner);
            }
            true
        });
        (inner, at_once(outer).count())
    });
    assert_eq!(inner, outer);
}

#[test]
#[cfg(target_os = "linux")]
fn iterator_drop_and_panic_leak_no_descriptor_or_thread() {
    // Other tests of this process open files, too.
    transect_testkit::in_own_process(
        "iterator::iterator_drop_and_panic_leak_no_descriptor_or_thread",
        || {
            let temp = TempDir::new();
            trees::many_small_dirs(temp.path());
            #[expect(clippy::disallowed_methods, reason = "counts the entries of /proc")]
            let count = |dir: &str| std::fs::read_dir(dir).unwrap().count();
            let before = (count("/proc/self/fd"), count("/proc/self/task"));
            for taken in [0, 1, 10, 50] {
                let walk = || transect::walk(temp.path());
                let at_once = |it: ScanOptions| it.into_iter().threads_after(Duration::ZERO);
                assert_eq!(at_once(walk()).take(taken).count(), taken);
                let bomb = walk().filter_entry(|entry| {
                    assert!(entry.depth() != 2, "this closure panics on purpose");
                    true
                });
                assert!(catch_unwind(AssertUnwindSafe(|| at_once(bomb).count())).is_err());
                let bomb = |entry: Result<transect::VisitEntry<'_>, Error>| {
                    assert!(entry.unwrap().depth() < 2, "this closure panics on purpose");
                    transect::Flow::Continue
                };
                let fell = catch_unwind(AssertUnwindSafe(|| walk().visit_parallel(|| bomb)));
                assert!(fell.is_err());
            }
            // A thread that was joined may be listed for a moment.
            wait_until("nothing is left", || {
                (count("/proc/self/fd"), count("/proc/self/task")) == before
            });
        },
    );
}

/// Returns the paths of a sorted walk as a recursive function finds them.
fn sorted_model(tree: &[String], dir: &str, out: &mut Vec<String>) {
    out.push(dir.to_owned());
    let is_child = |path: &&String| {
        path.strip_prefix(dir.trim_end_matches('/'))
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| !name.is_empty() && !name.contains('/'))
    };
    let mut children: Vec<&String> = tree.iter().filter(is_child).collect();
    children.sort_unstable();
    children.into_iter().for_each(|child| sorted_model(tree, child, out));
}

#[test]
fn sorted_walk_directories_before_their_entries_by_name() {
    let tree = Arc::new(forest());
    let list = |options: ScanOptions| -> Vec<String> {
        let (walk, open) = fake_walk(&tree, Duration::ZERO, options);
        let paths = walk.map(|entry| path_of(&entry.unwrap())).collect();
        assert_closed(&open, "sorted");
        paths
    };
    let sorted = |options: ScanOptions| list(options.sort_by_name(true));
    let mut expected = Vec::new();
    sorted_model(&list(options()), "/", &mut expected);
    assert_eq!(expected.len(), 706);
    for (order, threads) in schedules() {
        let options = options().order(order).threads(threads);
        assert!(sorted(options) == expected, "{} on {threads}", order.as_str());
    }
    // Directories that are only read on the way to what is delivered, and some that are not read.
    let below = |least: usize| {
        let depth = |path: &String| path.split('/').filter(|name| !name.is_empty()).count();
        expected.iter().filter(move |path| depth(path) >= least).cloned().collect::<Vec<_>>()
    };
    for least in 1..5 {
        assert!(sorted(options().min_depth(least as u32)) == below(least), "from {least}");
    }
    let pruned = options().filter_entry(|entry| match entry.file_name().to_str() {
        Some("1") => Verdict::Prune,
        Some("2") => Verdict::DescendOnly,
        _ => Verdict::Keep,
    });
    let mut expected = list(pruned.clone());
    expected.sort_unstable_by(|a, b| a.split('/').cmp(b.split('/')));
    assert!(sorted(pruned).iter().eq(&expected) && (100..700).contains(&expected.len()));
}

#[test]
fn sorted_walk_reads_only_what_the_caller_takes() {
    let tree = large_tree();
    let progress = Arc::new(Progress::new());
    let options = options().sort_by_name(true).progress(Arc::clone(&progress));
    let (mut walk, open) = fake_walk(&tree, Duration::MAX, options);
    let taken: Vec<_> = walk.by_ref().take(103).map(|entry| path_of(&entry.unwrap())).collect();
    assert_eq!((&*taken[1], &*taken[2], &*taken[102]), ("/0", "/0/0", "/1"));
    assert_eq!(progress.counts().entries, 1 + 400 + 100, "the root, what is in it and in 0");
    drop(walk);
    assert_closed(&open, "stopped early");
}

#[test]
fn sorted_walk_errors_and_roots_keep_their_places() {
    let temp = TempDir::new();
    for path in ["b/x", "a/y"] {
        std::fs::create_dir_all(temp.join(path)).unwrap();
    }
    let roots = ["missing", "b", "a"].map(|name| temp.join(name));
    let items: Vec<_> = ScanOptions::new(&roots).sort_by_name(true).into_iter().collect();
    let found: Vec<_> = items.iter().flatten().map(DirEntry::path).collect();
    assert_eq!(found, [temp.join("a"), temp.join("a/y"), temp.join("b"), temp.join("b/x")]);
    let errors: Vec<_> = items.iter().filter_map(|item| item.as_ref().err()).collect();
    assert_eq!((errors.len(), errors[0].path()), (1, Some(&*roots[0])));
}

#[test]
fn filter_entry_asked_about_directories_that_are_not_delivered() {
    let temp = TempDir::new();
    for path in ["skip/deep/x", "keep/deep/x"] {
        std::fs::create_dir_all(temp.join(path)).unwrap();
    }
    let options = transect::walk(temp.path()).min_depth(2).sort_by_name(true);
    let options = options.filter_entry(|entry| {
        assert!(entry.depth() > 0 && entry.path().ends_with(entry.file_name()));
        !(entry.file_type().is_dir() && entry.file_name() == "skip")
    });
    let paths: Vec<_> = options.into_iter().map(|entry| entry.unwrap().into_path()).collect();
    assert_eq!(paths, [temp.join("keep/deep"), temp.join("keep/deep/x")]);
}

#[test]
fn wrong_options_are_the_only_item() {
    let items: Vec<_> = transect::walk(".").min_depth(2).max_depth(1).into_iter().collect();
    assert!(matches!(&items[..], [Err(Error::InvalidDepths { min: 2, max: 1 })]));
}

#[test]
fn entry_metadata_asks_the_system() {
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "12345").unwrap();
    let entries: Vec<_> = transect::walk(temp.path()).into_iter().map(Result::unwrap).collect();
    let file = entries.iter().find(|entry| entry.file_type().is_file()).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 5);
    std::fs::remove_file(temp.join("file")).unwrap();
    let error = file.metadata().unwrap_err();
    assert_eq!(error.path(), Some(&*temp.join("file")));
    assert_eq!(error.into_io_error().kind(), ErrorKind::NotFound);
}
