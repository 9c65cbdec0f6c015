//! Directories that become links, and links that become directories, while they are removed.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use transect_testkit::oracle::oracle;
use transect_testkit::{TempDir, within};

use crate::support::{delete_at, scanned, write};

const FOLDERS: [&str; 4] = ["a", "a/b", "a/b/c", "a/d"];

fn build(at: &Path) {
    for folder in FOLDERS {
        for number in 0..20 {
            write(at.join(folder).join(number.to_string()), "12345");
        }
    }
}

/// Exchanges directories of the tree at hand for links to a precious one of the same shape, and
/// back, as fast as it can. Returns how often it did.
fn exchange(at: &Path, at_hand: &AtomicU64, stop: &AtomicBool) -> u64 {
    let mut exchanged = 0;
    for (number, way) in FOLDERS.iter().cycle().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let tree = at.join("trees").join(at_hand.load(Ordering::Relaxed).to_string());
        let (place, aside) = (tree.join(way), at.join(format!("aside-{number}")));
        if std::fs::rename(&place, &aside).is_err() {
            continue;
        }
        if symlink(at.join("precious").join(way), &place).is_ok() {
            exchanged += 1;
            std::thread::yield_now();
            let _ = std::fs::remove_file(&place);
        }
        // What lay above it may have been removed meanwhile: then it stays aside.
        let _ = std::fs::rename(&aside, &place);
    }
    exchanged
}

#[test]
fn nothing_outside_is_touched_while_directories_become_links() {
    let temp = TempDir::new();
    let precious = temp.join("precious");
    build(&precious);
    std::fs::create_dir(temp.join("trees")).unwrap();
    let before = oracle(&precious);
    let (at_hand, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mutator = {
        let (at, at_hand, stop) = (temp.path().to_owned(), at_hand.clone(), stop.clone());
        std::thread::spawn(move || exchange(&at, &at_hand, &stop))
    };
    let at = temp.path().to_owned();
    let (removed, kept) = within(120, "removals of a changing tree", move || {
        let end = Instant::now() + Duration::from_secs(3);
        let (mut removed, mut kept) = (0, 0);
        while Instant::now() < end {
            let number = at_hand.load(Ordering::Relaxed) + 1;
            build(&at.join("fresh"));
            let tree = at.join("trees").join(number.to_string());
            std::fs::rename(at.join("fresh"), &tree).unwrap();
            let table = scanned(&tree);
            at_hand.store(number, Ordering::Relaxed);
            let report = delete_at(&table, ["a"]);
            removed += report.counts.removed;
            kept += report.counts.kept;
        }
        (removed, kept)
    });
    stop.store(true, Ordering::Relaxed);
    let exchanged = mutator.join().unwrap();
    assert!(exchanged > 100 && removed > 100 && kept > 0, "{exchanged}, {removed}, {kept}");
    let after = oracle(&precious);
    after.counts.assert_are(&before.counts, "the precious tree");
    assert_eq!(after.paths, before.paths);
}
