//! Entries that changed since the walk are kept.

use std::path::PathBuf;

use transect::{FieldMask, ScanOptions};
use transect_remove::KeepReason;
use transect_testkit::TempDir;

use crate::support::{
    chosen, delete, delete_at, gone, is_there, kept, paths, rows, scanned, scanned_with, write,
};

#[test]
fn delete_changed_entries_kept_with_parents() {
    let temp = TempDir::new();
    for name in ["grown", "same", "becomes_a_directory", "replaced"] {
        write(temp.join("a/b").join(name), "12345");
    }
    write(temp.join("a/becomes_a_file/x"), "12345");
    let table = scanned(temp.path());
    write(temp.join("a/b/grown"), "123456");
    std::fs::remove_file(temp.join("a/b/becomes_a_directory")).unwrap();
    std::fs::create_dir(temp.join("a/b/becomes_a_directory")).unwrap();
    std::fs::remove_dir_all(temp.join("a/becomes_a_file")).unwrap();
    std::fs::write(temp.join("a/becomes_a_file"), "").unwrap();
    // The same size and time, but another file.
    let modified = temp.join("a/b/replaced").metadata().unwrap().modified().unwrap();
    std::fs::rename(temp.join("a/b/replaced"), temp.join("precious")).unwrap();
    write(temp.join("a/b/replaced"), "54321");
    let file = std::fs::File::options().write(true).open(temp.join("a/b/replaced")).unwrap();
    file.set_modified(modified).unwrap();
    drop(file);

    let report = delete_at(&table, ["a"]);
    let changed = |path: &str| (path.into(), KeepReason::Changed);
    assert_eq!(
        kept(&report, temp.path()),
        [
            changed("a/b/becomes_a_directory"),
            changed("a/b/grown"),
            changed("a/b/replaced"),
            changed("a/becomes_a_file"),
        ]
    );
    assert_eq!(gone(&table, &report, temp.path()), paths(["a/b/same"]));
    assert!(!is_there(temp.join("a/b/same")) && is_there(temp.join("a/b/grown")));
    assert_eq!((report.counts.removed, report.counts.kept), (1, 4));
    let told = report.kept.iter().map(ToString::to_string).find(|told| told.contains("grown"));
    assert!(told.unwrap().ends_with("grown': it changed since the walk"));
}

#[test]
fn delete_new_entries_kept_with_parents() {
    let temp = TempDir::new();
    write(temp.join("a/b/old"), "12345");
    write(temp.join("a/c/old"), "12345");
    let table = scanned(temp.path());
    write(temp.join("a/b/new"), "12345");
    write(temp.join("a/b/folder/below"), "12345");
    let report = delete_at(&table, ["a"]);
    let unseen = |path: &str| (path.into(), KeepReason::NotSeen);
    assert_eq!(kept(&report, temp.path()), [unseen("a/b/folder"), unseen("a/b/new")]);
    assert_eq!(gone(&table, &report, temp.path()), paths(["a/b/old", "a/c"]));
    assert!(is_there(temp.join("a/b/new")) && is_there(temp.join("a/b/folder/below")));
    let [b] = rows(&table, ["a/b"]);
    assert!(report.kept.iter().all(|kept| kept.row == b), "the directory that holds them");
}

/// Windows keeps the name of a removed file until the last program closes it.
#[cfg(windows)]
#[test]
fn delete_file_open_elsewhere_removed_once_closed() {
    let temp = TempDir::new();
    for name in ["open", "the last one"] {
        write(temp.join("a/b").join(name), "12345");
    }
    let table = scanned(temp.path());
    let open = std::fs::File::open(temp.join("a/b/open")).unwrap();
    let last = temp.join("a/b/the last one");
    let report = std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_there(&last) {
                std::thread::yield_now();
            }
            // The removal most likely finds the directory not empty meanwhile.
            std::thread::sleep(std::time::Duration::from_millis(200));
            drop(open);
        });
        delete_at(&table, ["a"])
    });
    assert_eq!(kept(&report, temp.path()), []);
    assert!(!is_there(temp.join("a")));
}

#[test]
fn delete_unscanned_directory_kept() {
    let temp = TempDir::new();
    write(temp.join("a/b/c/file"), "12345");
    let options = ScanOptions::new([temp.path()]).max_depth(2);
    let table = scanned_with(FieldMask::empty(), options);
    let removal = chosen(&table, ["a"]);
    assert_eq!(removal.summary().unread, 1);
    let report = delete(&removal);
    assert_eq!(kept(&report, temp.path()), [("a/b".into(), KeepReason::NotSeen)]);
    assert!(is_there(temp.join("a/b/c/file")));
    // An empty directory is removed: nothing can be lost.
    std::fs::remove_dir_all(temp.join("a/b/c")).unwrap();
    assert!(delete(&removal).is_complete());
    assert!(!is_there(temp.join("a")));
}

#[test]
fn delete_vanished_entries_counted() {
    let temp = TempDir::new();
    write(temp.join("a/b/file"), "12345");
    write(temp.join("a/file"), "12345");
    let table = scanned(temp.path());
    std::fs::remove_dir_all(temp.join("a/b")).unwrap();
    let report = delete_at(&table, ["a/b/file", "a/b", "a/file"]);
    assert!(report.is_complete());
    assert_eq!((report.counts.removed, report.counts.vanished), (1, 1));
    assert_eq!(gone(&table, &report, temp.path()), paths(["a/b", "a/file"]));
    std::fs::remove_dir_all(temp.join("a")).unwrap();
    let report = delete_at(&table, ["a/b/file", "a/file"]);
    assert_eq!((report.counts.removed, report.counts.vanished), (0, 2), "on the way");
}

#[test]
fn delete_cancelled_rest_kept() {
    let temp = TempDir::new();
    for number in 0..100 {
        write(temp.join("a").join(format!("{number:02}")), "12345");
    }
    let table = scanned(temp.path());
    let cancel = transect::Cancel::new();
    let report = chosen(&table, ["a"]).delete(&cancel, &mut |counts, _| {
        if counts.removed == 10 {
            cancel.cancel();
        }
    });
    assert!(report.cancelled && !report.is_complete());
    assert_eq!((report.counts.removed, report.counts.kept), (10, 0));
    let expected: Vec<PathBuf> = (0..10).map(|number| format!("a/{number:02}").into()).collect();
    assert_eq!(gone(&table, &report, temp.path()), expected);
    assert_eq!(std::fs::read_dir(temp.join("a")).unwrap().count(), 90);
}
