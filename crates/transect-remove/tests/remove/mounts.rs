//! Mount points and mounted files are kept, whenever they were mounted.

use transect::table::Table;
use transect::{FieldMask, ScanOptions};
use transect_remove::{KeepReason, Removal};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::{
    chosen, delete, delete_at, gone, is_there, kept, paths, row, scanned, scanned_with, write,
};

/// Creates a tree `a` with a file, and mounts a tmpfs with a file in it.
fn mounted(temp: &TempDir) -> Result<Mount, String> {
    write(temp.join("a/file"), "12345");
    write(temp.join("a/below/hidden"), "12345");
    let mount = Mount::tmpfs("4m", &temp.join("a/below"))?;
    write(temp.join("a/below/precious"), vec![1; 100_000]);
    Ok(mount)
}

#[track_caller]
fn stays(temp: &TempDir, table: &Table) {
    let report = delete_at(table, ["a"]);
    assert_eq!(kept(&report, temp.path()), [("a/below".into(), KeepReason::MountBoundary)]);
    assert_eq!(gone(table, &report, temp.path()), paths(["a/file"]));
    assert!(!is_there(temp.join("a/file")));
}

#[test]
fn delete_mounted_before_scan_kept_not_counted() {
    let temp = TempDir::new();
    let mount = match mounted(&temp) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("delete_mounted_before_scan_kept_not_counted", reason),
    };
    for columns in [FieldMask::FILE_ID, FieldMask::empty()] {
        write(temp.join("a/file"), "12345");
        for one_file_system in [false, true] {
            let options = ScanOptions::new([temp.path()]).same_file_system(one_file_system);
            let table = scanned_with(columns, options);
            let summary = chosen(&table, ["a"]).summary();
            assert_eq!((summary.mounts, summary.above_mounts), (1, 1));
            assert_eq!((summary.files, summary.directories, summary.unread), (1, 1, 0));
            assert_eq!(summary.freed, table.allocated(row(&table, "a/file")).unwrap());
            let summary = chosen(&table, ["a/below"]).summary();
            assert_eq!((summary.mounts, summary.freed, summary.files), (1, 0, 0));
            let report = delete_at(&table, ["a/below"]);
            let expected = [("a/below".into(), KeepReason::MountBoundary)];
            assert_eq!(kept(&report, temp.path()), expected);
        }
        let table = scanned_with(columns, ScanOptions::new([temp.path()]));
        stays(&temp, &table);
        assert!(is_there(temp.join("a/below/precious")));
    }
    // Entries on a mount can be chosen if the table has file ids.
    for (columns, removed) in [(FieldMask::empty(), 0), (FieldMask::FILE_ID, 1)] {
        let table = scanned_with(columns, ScanOptions::new([temp.path()]));
        let report = delete_at(&table, ["a/below/precious"]);
        assert_eq!(report.counts.removed, removed, "{report:?}");
    }
    // A root that is a mount point has a name, and is kept all the same.
    let table = scanned(mount.path());
    write(mount.path().join("new"), "12345");
    let report = delete(&Removal::new(&table, table.roots()).unwrap());
    assert_eq!(kept(&report, temp.path()), [("a/below".into(), KeepReason::MountBoundary)]);
}

#[test]
fn delete_mounted_after_scan_kept() {
    let temp = TempDir::new();
    write(temp.join("a/file"), "12345");
    write(temp.join("a/below/precious"), "12345");
    let table = scanned(temp.path());
    let removal = chosen(&table, ["a"]);
    assert_eq!(removal.summary().mounts, 0);
    let mount = match Mount::tmpfs("4m", &temp.join("a/below")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("delete_mounted_after_scan_kept", reason),
    };
    write(mount.path().join("precious"), "12345");
    let report = delete(&removal);
    assert_eq!(kept(&report, temp.path()), [("a/below".into(), KeepReason::MountBoundary)]);
    let report = delete_at(&table, ["a/below/precious"]);
    assert_eq!(kept(&report, temp.path()), [("a/below/precious".into(), KeepReason::Changed)]);
    assert!(is_there(mount.path().join("precious")));
}

fn run(program: &str, arguments: &[&std::path::Path]) -> bool {
    std::process::Command::new(program).args(arguments).status().is_ok_and(|said| said.success())
}

#[test]
fn delete_bind_mount_kept() {
    let temp = TempDir::new();
    write(temp.join("precious/file"), "12345");
    write(temp.join("a/file"), "12345");
    write(temp.join("a/single"), "12345");
    let (source, single) = (temp.join("precious"), temp.join("a/single"));
    let bind = ["--bind", source.to_str().unwrap()];
    let _mount = match Mount::new(&bind, &temp.join("a/below")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("delete_bind_mount_kept", reason),
    };
    let table = scanned_with(FieldMask::empty(), ScanOptions::new([temp.path()]));
    // A file mounted on a file, after the scan.
    assert!(run("mount", &["--bind".as_ref(), &source.join("file"), &single]));
    let report = delete_at(&table, ["a"]);
    assert!(run("umount", &[&single]));
    let boundary = |path: &str| (path.into(), KeepReason::MountBoundary);
    assert_eq!(kept(&report, temp.path()), [boundary("a/below"), boundary("a/single")]);
    assert_eq!(gone(&table, &report, temp.path()), paths(["a/file"]));
    assert!(is_there(source.join("file")) && is_there(single));
}
