//! Trees beyond the limits of paths, stacks, buffers and descriptors.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use transect::internal::Order;
use transect::{
    Dir, Entering, FaultKind, Filters, Flow, Omission, Operation, ReaderKind, ScanOptions, Sink,
    Tag, Totals, Visit, Want,
};
use transect_testkit::{Counts, TempDir, in_own_process, loudly_skip, trees, within};

use crate::support::{
    THREADS, assert_complete, combinations, counts, native_readers, readers, scan, totals,
};

/// Many handles, few, and hardly any: the fewer stay open, the longer the paths to open.
const DESCRIPTORS: &[Option<usize>] = &[None, Some(8), Some(1)];

fn with_descriptors(options: ScanOptions, descriptors: Option<usize>) -> ScanOptions {
    match descriptors {
        Some(descriptors) => options.max_open(descriptors),
        None => options,
    }
}

#[test]
fn path_beyond_path_max_read_completely() {
    let temp = TempDir::new();
    let expected = trees::beyond_path_max(temp.path());
    assert_eq!((expected.directories, expected.files), (301, 30));
    for reader in native_readers() {
        for &order in Order::ALL {
            for &threads in THREADS {
                for &descriptors in DESCRIPTORS {
                    let context = format!(
                        "{} in {} on {threads} with {descriptors:?}",
                        reader.as_str(),
                        order.as_str()
                    );
                    let options = scan(temp.path()).reader(reader).order(order).threads(threads);
                    let got = totals(with_descriptors(options, descriptors));
                    assert_complete(&got.diagnostics, &context);
                    counts(&got).assert_are(&expected, &context);
                }
            }
        }
    }
}

/// Regression: rules were opened by path in every directory, which fails for long paths.
#[test]
fn gitignore_path_beyond_path_max_complete() {
    let temp = TempDir::new();
    let expected = trees::beyond_path_max(temp.path());
    for reader in native_readers() {
        let filters = Filters::new().gitignore(true);
        let got = totals(scan(temp.path()).reader(reader).filters(filters));
        assert_complete(&got.diagnostics, reader.as_str());
        counts(&got).assert_are(&expected, reader.as_str());
    }
}

#[test]
fn portable_reader_path_too_long_reported_walk_continues() {
    let temp = TempDir::new();
    let whole = trees::beyond_path_max(temp.path());
    std::fs::write(temp.join("beside"), "1234").unwrap();
    for &order in Order::ALL {
        let got = totals(scan(temp.path()).reader(ReaderKind::Portable).order(order));
        let context = order.as_str();
        let too_long = (Operation::OpenDirectory, FaultKind::NameTooLong);
        assert_eq!(got.diagnostics.errors_by.get(&too_long), Some(&1), "{context}");
        let kinds: Vec<_> = got.diagnostics.errors_by.keys().map(|(_, kind)| *kind).collect();
        assert!(kinds.iter().all(|&kind| kind == FaultKind::NameTooLong), "{context}: {kinds:?}");
        assert!(got.directories > 100 && got.directories < whole.directories, "{context}");
        assert!(got.sizes.apparent > 4 + 70 && got.sizes.apparent < 4 + whole.apparent_size);
    }
}

#[test]
fn ten_thousand_levels_read_completely() {
    let temp = TempDir::new();
    // More than a stack holds.
    let expected = trees::chain_of_levels(temp.path(), 10_000);
    assert_eq!((expected.directories, expected.files), (10_001, 1000));
    let root = temp.path().to_owned();
    within("a walk of ten thousand levels", move || {
        // How deep a walk gets depends on its reader and on its order, each by itself.
        let readers = native_readers().into_iter().map(|reader| scan(&root).reader(reader));
        let orders = Order::ALL.iter().map(|&order| scan(&root).order(order));
        for options in readers.chain(orders) {
            assert_read_completely(&options.threads(2), 0, &expected);
        }
        // Once with the largest directories, each of which is named by its whole path.
        assert_read_completely(&scan(&root).max_open(8), 20, &expected);
    });
}

/// With hardly any handle open, each directory is opened from far above: the work grows with the
/// square of the depth, so the tree is less deep.
#[test]
fn thousands_of_levels_few_descriptors_read_completely() {
    let temp = TempDir::new();
    let expected = trees::chain_of_levels(temp.path(), 2100);
    let root = temp.path().to_owned();
    within("a walk of two thousand levels", move || {
        for reader in native_readers() {
            for &order in Order::ALL {
                for descriptors in [1, 8] {
                    let options = scan(&root).reader(reader).order(order).threads(2);
                    assert_read_completely(&options.max_open(descriptors), 0, &expected);
                }
            }
        }
    });
}

/// Walks a deep tree and compares the totals, which keep the `largest` directories. In a chain, each
/// directory is one of them for a while, and its path is as long as the chain is deep.
fn assert_read_completely(options: &ScanOptions, largest: usize, expected: &Counts) {
    let context = format!("{:?} in {:?}", options.settings.reader, options.settings.order);
    let plan = options.clone().plan().expect("the options are right");
    let got = plan.run(|| Totals::new(largest)).expect("the walk begins").sink;
    assert_complete(&got.diagnostics, &context);
    counts(&got).assert_are(expected, &context);
}

/// Some file systems return listings that do not fill the buffer before the last one.
fn assert_wide_directory_counted(parent: &Path) {
    let temp = TempDir::below(parent);
    let expected = trees::very_wide(temp.path(), 30_000);
    assert_eq!(expected.apparent_size, 30);
    for reader in readers() {
        for order in [Order::WorkStealing, Order::Recursive] {
            let got = totals(scan(temp.path()).reader(reader).order(order));
            let context = format!("{} on '{}'", reader.as_str(), parent.display());
            assert_complete(&got.diagnostics, &context);
            counts(&got).assert_are(&expected, &context);
        }
    }
}

#[test]
fn wide_directory_thirty_thousand_files_counted() {
    assert_wide_directory_counted(&std::env::temp_dir());
}

#[test]
fn wide_directory_in_memory_file_system_counted() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return loudly_skip("wide_directory_in_memory_file_system_counted", "no /dev/shm here");
    }
    assert_wide_directory_counted(memory);
}

/// Names of every length make records end at every offset of the buffer.
#[test]
fn names_every_length_at_buffer_end_listed() {
    let temp = TempDir::new();
    for number in 0..3000_usize {
        let mut name = format!("{number:04}");
        name.push_str(&"n".repeat(number * 7 % 252));
        std::fs::write(temp.join(name), "").unwrap();
        let count = number + 1;
        // 64 KiB of the shortest and of the longest records.
        if count % 500 == 0 {
            for reader in readers() {
                let got = totals(scan(temp.path()).reader(reader));
                assert_eq!(got.files, count as u64, "{}", reader.as_str());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the process's own descriptors")]
fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A sink that ends the walk after some batches.
struct QuitsAfter<'a> {
    inner: Totals,
    left: &'a AtomicU64,
}

impl Sink for QuitsAfter<'_> {
    fn want(&self) -> Want {
        self.inner.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        self.inner.enter(entering)
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let flow = self.inner.visit(visit);
        let wrapped = self.left.fetch_sub(1, Ordering::Relaxed) <= 1;
        if wrapped { Flow::Quit } else { flow }
    }

    fn leave(&mut self, dir: &Dir) {
        self.inner.leave(dir);
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        self.inner.omit(dir, omission)
    }

    fn merge(&mut self, other: Self) {
        self.inner.merge(other.inner);
    }
}

#[test]
fn descriptors_after_walk_all_closed() {
    in_own_process("limits::descriptors_after_walk_all_closed", || {
        let temp = TempDir::new();
        trees::many_small_dirs(temp.path());
        let before = open_descriptors();
        for (reader, order, threads) in combinations() {
            let options = scan(temp.path()).reader(reader).order(order).threads(threads);
            let context = format!("{} in {} on {threads}", reader.as_str(), order.as_str());
            let got = totals(options.clone());
            assert_eq!(got.directories, 2059, "{context}");
            assert_eq!(open_descriptors(), before, "{context}");

            let left = AtomicU64::new(100);
            let plan = options.plan().unwrap();
            let quit = plan.run(|| QuitsAfter { inner: Totals::new(0), left: &left });
            let read = quit.unwrap().sink.inner.directories;
            assert!((10..2059).contains(&read), "{context}: {read} read");
            assert_eq!(open_descriptors(), before, "{context}, after a quit");
        }
    });
}

/// The walk keeps to its own limit, and to that of the process.
#[test]
fn descriptors_few_walk_complete() {
    in_own_process("limits::descriptors_few_walk_complete", || {
        let temp = TempDir::new();
        trees::many_small_dirs(temp.path());
        let expected = transect_testkit::oracle::oracle(temp.path()).counts;
        let taken: Vec<_> = (0..)
            .map_while(|_| (open_descriptors() < 400).then(|| std::fs::File::open("/").unwrap()))
            .collect();
        assert!(taken.len() > 300);
        transect_testkit::limit_descriptors(open_descriptors() as u64 + 24);
        for (reader, order, threads) in combinations() {
            for descriptors in [Some(20), Some(1)] {
                let options = scan(temp.path()).reader(reader).order(order).threads(threads);
                let got = totals(with_descriptors(options, descriptors));
                let context = format!(
                    "{} in {} on {threads} with {descriptors:?}",
                    reader.as_str(),
                    order.as_str()
                );
                assert_complete(&got.diagnostics, &context);
                counts(&got).assert_are(&expected, &context);
            }
        }
    });
}
