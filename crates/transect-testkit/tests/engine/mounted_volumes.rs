//! Directories of mounted volumes, read from the tables of the volume: what a walk shows, also while the
//! volume changes. Mounting needs privileges; without them the tests print that they are skipped.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use transect::{Filters, ReaderKind, ScanOptions, Totals};
use transect_testkit::{Mount, TempDir, loudly_skip, wait_until};

use crate::support::{THREADS, scan};
use crate::volumes::{Entries, assert_same, entries, populate, run};

/// Mounts a volume with many entries, all of them older than what comes next.
fn mounted(test: &str, temp: &TempDir, options: &[&str]) -> Option<Mount> {
    match Mount::ext4(&temp.join("image"), options, &temp.join("mounted")) {
        Ok(mount) => {
            populate(mount.path());
            let_clock_go_on();
            Some(mount)
        }
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

/// Waits until the kernel gives later times than it gave so far.
pub(crate) fn let_clock_go_on() {
    let begin = SystemTime::now();
    wait_until("the clock", || {
        begin.elapsed().is_ok_and(|elapsed| elapsed > Duration::from_millis(50))
    });
}

/// Compares the tables with a walk from the same root, with these options.
pub(crate) fn compare(
    test: &str,
    root: &Path,
    options: impl Fn(ScanOptions) -> ScanOptions,
) -> Entries {
    // Listing changes times of access, once.
    entries(options(scan(root)), root);
    let (expected, errors) = entries(options(scan(root)), root);
    assert_eq!(errors, 0, "{test}");
    for &threads in THREADS {
        let tables = options(scan(root)).reader(ReaderKind::Ext4).threads(threads);
        let (found, errors) = entries(tables, root);
        assert_eq!(errors, 0, "{test}");
        assert_same(&found, &expected, test);
    }
    expected
}

#[test]
fn mounted_volume_same_as_walk() {
    for (name, options) in [
        ("blocks of 4 KiB", &["-b", "4096"][..]),
        ("blocks of 1 KiB, small inodes", &["-b", "1024", "-I", "128"]),
        ("no checksums", &["-O", "^metadata_csum,^64bit"]),
        ("content in inodes", &["-O", "inline_data", "-I", "512"]),
    ] {
        let temp = TempDir::new();
        let test = format!("mounted_volume_same_as_walk: {name}");
        let Some(mount) = mounted(&test, &temp, options) else { return };
        let all = compare(&test, mount.path(), |it| it);
        assert!(all.len() > 1700, "the tree is there");
        // A directory in it, and filters that need attributes first.
        compare(&test, &mount.path().join("group 0"), |it| it);
        let small = || Filters::new().globs(["*.txt"]).empty(true);
        compare(&test, mount.path(), |it| it.filters(small()));
    }
}

#[test]
fn mounted_volume_covered_directories_same_as_walk() {
    let test = "mounted_volume_covered_directories_same_as_walk";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    let at = mount.path();
    let covered = at.join("group 1/of 1");
    assert!(covered.join("3.txt").exists());
    let tmpfs = Mount::tmpfs("1m", &covered).unwrap();
    fs::create_dir_all(tmpfs.path().join("in/memory")).unwrap();
    fs::write(tmpfs.path().join("in/file"), "content").unwrap();
    let bind = |from: &str, to: &str| {
        Mount::new(&["--bind", at.join(from).to_str().unwrap()], &at.join(to)).unwrap()
    };
    // A directory of the same volume; and one in which it lies itself, which a walk reads once.
    let _directory = bind("group 2", "group 5/bound");
    let _above = bind("group 6", "group 6/of 6");
    for stay in [false, true] {
        let all = compare(test, at, |it| it.same_file_system(stay));
        let has = |path: &str| all.contains_key(path.as_bytes());
        assert_eq!(has("group 1/of 1/in/memory"), !stay);
        assert!(has("group 5/bound/of 2/3.txt") && !has("group 1/of 1/3.txt"));
    }
    // The root is a bind mount; and a file is covered.
    compare(test, &at.join("group 5/bound"), |it| it);
    fs::write(at.join("file"), "twelve bytes").unwrap();
    run(&["mount", "--bind", at.join("file").to_str().unwrap()], at.join("tiny"));
    compare(test, at, |it| it);
    run(&["umount"], at.join("tiny"));
}

/// What a thread does to `churn` while the volume is read: files are created, grow, get other names and
/// go, and directories with content are moved.
fn change(churn: &Path, round: usize) {
    let number = round % 40;
    let at = |name: String| churn.join(name);
    // Each of these fails where an earlier round left nothing to work on.
    let _ = fs::create_dir(at(format!("d{number}")));
    let _ = fs::write(at(format!("d{number}/file")), vec![b'x'; round % 9000]);
    let _ = fs::write(at(format!("f{number}")), vec![b'x'; round % 5000]);
    let _ = fs::rename(at(format!("f{number}")), at(format!("d{}/f", (number + 7) % 40)));
    let _ = fs::rename(at(format!("d{}", (number + 13) % 40)), at(format!("moved{number}")));
    let _ = fs::remove_dir_all(at(format!("moved{}", (number + 20) % 40)));
    let _ = fs::remove_file(at(format!("d{}/file", (number + 31) % 40)));
}

#[test]
fn mounted_volume_changing_untouched_entries_right() {
    let test = "mounted_volume_changing_untouched_entries_right";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    check_while_changing(test, mount.path());
}

/// Compares the tables with a walk while a part of the volume changes, and afterwards.
pub(crate) fn check_while_changing(test: &str, at: &Path) {
    let churn = at.join("churn");
    fs::create_dir(&churn).unwrap();
    // The inodes of deleted files are used again for others.
    (0..400).for_each(|round| change(&churn, round));
    let_clock_go_on();
    let untouched = |all: Entries| -> Entries {
        all.into_iter().filter(|(path, _)| !path.starts_with(b"churn")).collect()
    };
    entries(scan(at), at);
    let expected = untouched(entries(scan(at), at).0);
    assert!(expected.len() > 1700);
    let (stop, rounds) = (AtomicBool::new(false), AtomicUsize::new(400));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                change(&churn, rounds.fetch_add(1, Ordering::Relaxed));
            }
        });
        let result = std::panic::catch_unwind(|| {
            for repetition in 0..30 {
                let before = rounds.load(Ordering::Relaxed);
                wait_until("a change", || rounds.load(Ordering::Relaxed) > before);
                let options = scan(at).reader(ReaderKind::Ext4).threads(1 + repetition % 2);
                let (found, errors) = entries(options, at);
                assert_eq!(errors, 0, "{test}");
                check_touched(&found);
                assert_same(&untouched(found), &expected, test);
            }
        });
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    // Nothing changes any more.
    let_clock_go_on();
    compare(test, at, |it| it);
}

/// Checks that what changed has one of the states that it had: files of `change` are where it puts them.
fn check_touched(found: &Entries) {
    for (path, text) in found.iter().filter(|(path, _)| path.starts_with(b"churn/")) {
        let path = std::str::from_utf8(path).unwrap();
        let names: Vec<&str> = path.split('/').collect();
        let is_directory = text.starts_with("Directory");
        let is_possible = match names[..] {
            [_, name] => match name.as_bytes()[0] {
                b'f' => !is_directory,
                b'd' | b'm' => is_directory,
                _ => false,
            },
            [_, _, "file" | "f"] => !is_directory,
            _ => false,
        };
        assert!(is_possible, "{path}: {text}");
    }
}

#[test]
fn mounted_volume_chosen_where_it_pays() {
    let test = "mounted_volume_chosen_where_it_pays";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    let at = mount.path();
    let choose = |options: ScanOptions| {
        let outcome = options.auto_reader(true).plan().unwrap().run(|| Totals::new(0)).unwrap();
        let reason = outcome.reader_reason.clone().unwrap();
        (outcome.reader, reason, outcome.sink.files)
    };
    let (reader, reason, files) = choose(scan(at));
    assert_eq!((reader, &*reason), (ReaderKind::Ext4, "everything on the volume is wanted"));
    let walk = scan(at).plan().unwrap().run(|| Totals::new(0)).unwrap();
    assert_eq!((walk.sink.files, walk.reader_reason), (files, None));
    for (why, options) in [
        ("only a part of the volume is wanted", scan(at.join("group 0"))),
        ("only a part of the volume is wanted", scan(at).max_depth(3)),
        ("there are several roots", ScanOptions::new([at, temp.path()])),
        ("it is not on a volume with ext4, ext3, ext2 or Btrfs", scan("/proc/self/fdinfo")),
        ("a setting of the walk is given", scan(at).buffer_size(1 << 20)),
    ] {
        let (reader, reason, _) = choose(options);
        assert_eq!((reader, &*reason), (ReaderKind::best(), why));
    }
    let (reader, reason, _) = choose(scan(at).follow_links(true));
    assert_eq!(reader, ReaderKind::best());
    assert!(reason.contains("does not read the targets of links"), "{reason}");
}
