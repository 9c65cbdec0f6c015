//! Trees that change while they are read.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use transect::ReaderKind;
use transect::internal::Order;
use transect_testkit::oracle::oracle;
use transect_testkit::{TempDir, within};

use crate::support::{assert_complete, combinations, counts, scan, totals};

/// Changes a tree at random until it is stopped; the numbers are the same in every run.
struct Mutator {
    root: PathBuf,
    state: u64,
}

impl Mutator {
    /// Returns a number below `limit` (xorshift).
    fn random_below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % limit
    }

    /// Returns one of 6 + 36 + 216 paths for directories. None lies behind a link, so that changes
    /// stay inside the tree.
    fn random_directory(&mut self) -> PathBuf {
        loop {
            let mut path = self.root.clone();
            let mut behind_a_link = false;
            // Few changes are near the root, as they move everything below.
            let levels = [1, 2, 2, 3, 3, 3, 3, 3][self.random_below(8) as usize];
            for _ in 0..levels {
                behind_a_link |= path.is_symlink();
                path.push(format!("d{}", self.random_below(6)));
            }
            if !behind_a_link {
                return path;
            }
        }
    }

    /// Makes one change. About half of them fail, which does not matter.
    fn change(&mut self) {
        let directory = self.random_directory();
        let other = self.random_directory();
        if self.random_below(4) == 0 {
            return self.change_link(&directory, other);
        }
        if directory.is_symlink() || other.is_symlink() {
            return;
        }
        let file = directory.join(format!("f{}", self.random_below(8)));
        let _ = match self.random_below(10) {
            0..4 => {
                std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&file, "12345"))
            }
            4 => std::fs::remove_file(&file),
            5 => std::fs::rename(&file, other.join("renamed")),
            6 => std::fs::rename(&directory, &other),
            7 => std::fs::hard_link(&file, other.join(format!("h{}", self.random_below(8)))),
            8 => std::fs::write(&file, vec![b'x'; self.random_below(20_000) as usize]),
            _ => std::fs::remove_dir_all(&directory),
        };
    }

    /// Replaces a directory by a link (upwards, to itself, to another, to nowhere), or removes a
    /// link.
    fn change_link(&mut self, directory: &Path, other: PathBuf) {
        if directory.is_symlink() {
            let _ = std::fs::remove_file(directory);
            return;
        }
        let target = match self.random_below(4) {
            0 => self.root.clone(),
            1 => PathBuf::from(directory.file_name().expect("a place has a name")),
            2 => other,
            _ => PathBuf::from("nowhere"),
        };
        let aside = self.root.join("aside");
        let _ = std::fs::rename(directory, &aside)
            .and_then(|()| symlink(target, directory))
            .and_then(|()| std::fs::remove_dir_all(&aside));
    }
}

/// A thread that changes a tree. Dropping it stops and joins the thread, so that the tree can be
/// removed.
struct Changing {
    stop: Arc<AtomicBool>,
    /// The number of changes.
    changes: Arc<AtomicU64>,
    thread: Option<JoinHandle<Mutator>>,
}

impl Changing {
    fn begin(mut mutator: Mutator) -> Self {
        let (stop, changes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, made) = (Arc::clone(&stop), Arc::clone(&changes));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                mutator.change();
                made.fetch_add(1, Ordering::Relaxed);
            }
            mutator
        });
        Self { stop, changes, thread: Some(thread) }
    }

    /// Stops the changes and returns the mutator.
    fn end(&mut self) -> Option<Mutator> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        Some(thread.join().expect("changing a tree never fails"))
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        self.end();
    }
}

/// The minimum numbers of walks, and of changes meanwhile.
const WALKS: usize = 200;
const CHANGES: u64 = 5000;

/// Walks repeatedly while the tree changes. Entries may vanish, but no error may occur.
///
/// No kind of error is expected: an entry replaced by another type between listing and reading
/// (`ENOTDIR`, `ELOOP`) has vanished, too.
fn assert_walks_end(follow: bool) {
    let temp = TempDir::new();
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    let mut mutator = Mutator { root: root.clone(), state: 0x9e37_79b9_7f4a_7c15 };
    (0..2000).for_each(|_| mutator.change());
    let mut changing = Changing::begin(mutator);
    let walked = {
        let (root, changes) = (root.clone(), Arc::clone(&changing.changes));
        within("a walk of a changing tree", move || {
            let (mut walks, mut entries) = (0, 0);
            while walks < WALKS || changes.load(Ordering::Relaxed) < CHANGES {
                for (reader, order, threads) in parallel_combinations() {
                    let context = format!("{} in {} on {threads}", reader.as_str(), order.as_str());
                    let options = scan(&root).reader(reader).order(order).threads(threads);
                    let got = totals(options.follow_links(follow));
                    let (by, list) = (&got.diagnostics.errors_by, &got.diagnostics.kept_errors);
                    assert!(by.is_empty(), "{context}: {by:?} {list:?}");
                    walks += 1;
                    entries += got.entries();
                }
            }
            (walks, entries)
        })
    };
    let mut mutator = changing.end().expect("it was not ended before");
    assert!(walked.1 > 100, "{walked:?}");
    // Compare a tree of some size at the end.
    while oracle(&root).counts.directories < 20 {
        (0..100).for_each(|_| mutator.change());
    }
    assert_agrees_with_oracle(&root, follow);
}

fn parallel_combinations() -> impl Iterator<Item = (ReaderKind, Order, usize)> {
    combinations().filter(|(_, order, threads)| order.is_parallel() && *threads > 1)
}

/// Checks that walks of the tree, now unchanging, agree with the oracle.
fn assert_agrees_with_oracle(root: &Path, follow: bool) {
    let expected = oracle(root).counts;
    for (reader, order, threads) in parallel_combinations() {
        let context = format!("afterwards, {} in {}", reader.as_str(), order.as_str());
        let options = scan(root).reader(reader).order(order).threads(threads);
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        counts(&got).assert_are(&expected, &context);
        if follow {
            let got = totals(options.follow_links(true));
            assert_complete(&got.diagnostics, &context);
            assert_eq!(got.directories, expected.directories, "{context}: links lead inside");
        }
    }
}

#[test]
fn walk_changing_tree_ends_without_errors() {
    assert_walks_end(false);
}

#[test]
fn walk_changing_tree_following_links_ends_without_errors() {
    assert_walks_end(true);
}
