//! Directories that become links, and links that become directories, during a removal.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use transect::{Cancel, FieldMask, ScanOptions};
use transect_testkit::oracle::oracle;
use transect_testkit::within;

use crate::support::{chosen, in_memory, scanned_with, write};

const FOLDERS: [&str; 4] = ["a", "a/b", "a/b/c", "a/d"];

/// Builds a tree. All of them have the same types, sizes and times.
fn build(at: &Path) {
    for folder in FOLDERS {
        for number in 0..20 {
            let path = at.join(folder).join(number.to_string());
            write(&path, "12345");
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
    }
}

/// The state shared by the thread that changes trees and the one that removes them.
#[derive(Debug, Default)]
struct Meeting {
    /// The number of the current tree.
    at_hand: AtomicU64,
    /// How often a directory was exchanged for a link.
    exchanged: AtomicU64,
    over: AtomicBool,
}

/// Exchanges directories of the current tree for links to a precious tree of the same shape, and
/// back, as fast as it can.
fn exchange(at: &Path, meeting: &Meeting) {
    for (number, way) in FOLDERS.iter().cycle().enumerate() {
        if meeting.over.load(Ordering::Relaxed) {
            break;
        }
        let tree = at.join("trees").join(meeting.at_hand.load(Ordering::Relaxed).to_string());
        let (place, aside) = (tree.join(way), at.join(format!("aside-{number}")));
        if std::fs::rename(&place, &aside).is_err() {
            continue;
        }
        let up = "../".repeat(Path::new(way).iter().count() + 1);
        if symlink(format!("{up}precious/{way}"), &place).is_ok() {
            meeting.exchanged.fetch_add(1, Ordering::Relaxed);
            std::thread::yield_now();
            let _ = std::fs::remove_file(&place);
        }
        // The parent may have been removed meanwhile: then the directory stays aside.
        let _ = std::fs::rename(&aside, &place);
    }
}

#[test]
fn delete_directories_become_links_nothing_outside_touched() {
    let temp = in_memory();
    let precious = temp.join("precious");
    build(&precious);
    std::fs::create_dir(temp.join("trees")).unwrap();
    let before = oracle(&precious);
    let meeting = Arc::new(Meeting::default());
    let mutator = {
        let (at, meeting) = (temp.path().to_owned(), Arc::clone(&meeting));
        std::thread::spawn(move || exchange(&at, &meeting))
    };
    let (at, met) = (temp.path().to_owned(), Arc::clone(&meeting));
    within("removals of changing trees", move || {
        let mut kept = 0;
        for number in 1.. {
            build(&at.join("fresh"));
            let tree = at.join("trees").join(number.to_string());
            std::fs::rename(at.join("fresh"), &tree).unwrap();
            // Without inodes: only its path distinguishes a file from a precious one.
            let options = ScanOptions::new([&tree]);
            let table = scanned_with(FieldMask::empty(), options);
            met.at_hand.store(number, Ordering::Relaxed);
            let report = chosen(&table, ["a"]).delete(&Cancel::new(), &mut |_, _| {
                std::thread::yield_now();
            });
            kept += report.counts.kept;
            if kept > 100 && met.exchanged.load(Ordering::Relaxed) > 1000 {
                break;
            }
        }
    });
    meeting.over.store(true, Ordering::Relaxed);
    mutator.join().unwrap();
    let after = oracle(&precious);
    after.counts.assert_are(&before.counts, "the precious tree");
    assert_eq!(after.paths, before.paths);
}
