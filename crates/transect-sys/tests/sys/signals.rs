//! Listings interrupted by signals contain every entry, on every file system whose end of directory
//! the reader detects, and on some others.
//!
//! The kernel ends a listing early when a signal is pending. A second thread sends signals until
//! enough listings were cut short, so a reader that takes such a listing for the whole directory
//! fails the test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use transect_sys::linux::{GetdentsReader, StatCall};
use transect_sys::{Batch, FieldMask, ListStatus, Reader, ReaderSettings, Want};
use transect_testkit::{Mount, TempDir, loudly_skip};

/// Numbers of names in the directories: none, one block, several blocks, and enough for hash trees
/// and block lists on every file system.
const SIZES: [usize; 5] = [0, 3, 100, 1_000, LARGE];
const LARGE: usize = 8_000;

/// How many listings of the largest directory must be cut short; how often the others, which end
/// before most signals come, are listed; and after how many listings the test gives up.
const CUT_SHORT: usize = 20;
const LISTINGS: usize = 100;
const MOST_LISTINGS: usize = 10_000;

extern "C" fn do_nothing(_: libc::c_int) {}

/// Stops the signals even if a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends signals to the calling thread while `body` runs.
fn under_signals<T>(body: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    // SAFETY:
    // - the handler does nothing, so it may run at any time;
    // - `pthread_self` and `pthread_kill` take a thread that lives until the scope ends.
    unsafe {
        let handler = do_nothing as extern "C" fn(libc::c_int);
        libc::signal(libc::SIGUSR2, handler as libc::sighandler_t);
        let target = libc::pthread_self();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    libc::pthread_kill(target, libc::SIGUSR2);
                    // A listing needs time to begin between two signals.
                    (0..2_000).for_each(|_| std::hint::spin_loop());
                }
            });
            let _stop = Stop(&stop);
            body()
        })
    }
}

struct Listed {
    names: BTreeSet<OsString>,
    /// Number of calls that returned entries.
    answers: usize,
    /// Whether the last of them was detected as the last.
    end_recognised: bool,
}

/// Lists a directory in `root` as the walker does: opens it relative to its parent, and queries its
/// size if `with_size`.
fn list(reader: &mut GetdentsReader, root: &Path, name: &str, with_size: bool) -> Listed {
    let mut parent = reader.open_root(root, false).unwrap();
    let _ = reader.stat_open(&mut parent, FieldMask::DEVICE).unwrap();
    let mut handle = reader.open(&parent, &[OsStr::new(name)], false).unwrap();
    if with_size {
        let _ = reader.stat_open(&mut handle, FieldMask::SIZE | FieldMask::DEVICE).unwrap();
    }
    let mut batch = Batch::new();
    let mut listed = Listed { names: BTreeSet::new(), answers: 0, end_recognised: false };
    loop {
        let listing = reader.list(&handle, &mut batch, &Want::default()).unwrap();
        for entry in batch.iter() {
            assert!(listed.names.insert(entry.name.to_owned()), "{:?} came twice", entry.name);
        }
        let answered = batch.iter().next().is_some();
        listed.answers += usize::from(answered);
        if listing == ListStatus::End {
            listed.end_recognised = answered;
            return listed;
        }
    }
}

fn name_of(count: usize) -> String {
    format!("directory of {count}")
}

fn make(root: &Path, count: usize) -> BTreeSet<OsString> {
    let directory = root.join(name_of(count));
    std::fs::create_dir(&directory).unwrap();
    let names: BTreeSet<OsString> =
        (0..count).map(|number| format!("a name of some length, {number}").into()).collect();
    for name in &names {
        std::fs::write(directory.join(name), "").unwrap();
    }
    names
}

/// Lists directories of a file system without signals, then with signals.
fn check(file_system: &str, root: &Path) {
    let mut reader = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    for count in SIZES {
        let (name, names) = (name_of(count), make(root, count));
        let peaceful = [false, true].map(|with_size| {
            let listed = list(&mut reader, root, &name, with_size);
            assert!(listed.names == names, "{file_system}, {count}: undisturbed");
            listed.answers
        });
        let (mut listings, mut cut_short) = (0, 0);
        let enough = |listings, cut_short| match count {
            LARGE => cut_short >= CUT_SHORT,
            _ => listings >= LISTINGS,
        };
        under_signals(|| {
            while !enough(listings, cut_short) {
                let with_size = listings % 2 == 1;
                let listed = list(&mut reader, root, &name, with_size);
                let missing = names.difference(&listed.names).count();
                assert_eq!(missing, 0, "{file_system}: {missing} of {count} entries are missing");
                cut_short += usize::from(listed.answers > peaceful[usize::from(with_size)]);
                listings += 1;
                assert!(listings < MOST_LISTINGS, "{file_system}: signals cut no listing short");
            }
        });
    }
}

/// Checks a file system whose end of directory is detected (if `needs_size`, only with the size of
/// the directory), which saves the last call.
fn check_recognised(file_system: &str, root: &Path, needs_size: bool) {
    check(file_system, root);
    let mut reader = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    // An empty directory has only dot entries: the first call returns no entries but detects the
    // end.
    for &count in &SIZES[1..] {
        for with_size in [false, true] {
            let recognised = list(&mut reader, root, &name_of(count), with_size).end_recognised;
            assert_eq!(recognised, with_size || !needs_size, "{file_system}, {count}, {with_size}");
        }
    }
}

/// Makes a file system with a command and checks it.
fn check_image(test: &str, make: &[&str], check: impl FnOnce(&str, &Path)) {
    let temp = TempDir::new();
    match Mount::image(&temp.join("image"), 400 << 20, make, &temp.join("mounted")) {
        Ok(mount) => check(&make.join(" "), mount.path()),
        Err(why_not) => loudly_skip(test, why_not),
    }
}

#[test]
fn listing_under_signals_ext4_complete() {
    let test = "listing_under_signals_ext4_complete";
    for block in ["1024", "4096"] {
        let make = ["mkfs.ext4", "-q", "-F", "-N", "40000", "-b", block];
        check_image(test, &make, |name, root| check_recognised(name, root, false));
    }
}

#[test]
fn listing_under_signals_ext4_inline_data_complete() {
    let test = "listing_under_signals_ext4_inline_data_complete";
    let make = ["mkfs.ext4", "-q", "-F", "-N", "40000", "-O", "inline_data"];
    check_image(test, &make, |name, root| check_recognised(name, root, false));
}

#[test]
fn listing_under_signals_ext4_without_hashes_complete() {
    let test = "listing_under_signals_ext4_without_hashes_complete";
    for features in ["^dir_index", "^dir_index,inline_data"] {
        let make = ["mkfs.ext4", "-q", "-F", "-N", "40000", "-O", features];
        check_image(test, &make, check);
    }
}

#[test]
fn listing_under_signals_ext2_complete() {
    let make = ["mkfs.ext2", "-q", "-F", "-N", "40000"];
    check_image("listing_under_signals_ext2_complete", &make, check);
}

#[test]
fn listing_under_signals_xfs_complete() {
    for directory_block in ["size=4096", "size=8192", "size=65536"] {
        let make = ["mkfs.xfs", "-q", "-f", "-n", directory_block];
        check_image("listing_under_signals_xfs_complete", &make, |name, root| {
            check_recognised(name, root, true);
        });
    }
}

#[test]
fn listing_under_signals_btrfs_complete() {
    check_image(
        "listing_under_signals_btrfs_complete",
        &["mkfs.btrfs", "-q", "-f"],
        |name, root| {
            check_recognised(name, root, false);
        },
    );
}

#[test]
fn listing_under_signals_tmpfs_complete() {
    let test = "listing_under_signals_tmpfs_complete";
    let temp = TempDir::new();
    match Mount::tmpfs("64m", &temp.join("memory")) {
        // Older kernels do not mark the end.
        Ok(mount) => check("tmpfs", mount.path()),
        Err(why_not) => loudly_skip(test, why_not),
    }
}

#[test]
fn listing_under_signals_overlay_complete() {
    let test = "listing_under_signals_overlay_complete";
    let temp = TempDir::new();
    let mount = Mount::tmpfs("64m", &temp.join("memory")).and_then(|memory| {
        let dirs = ["lower", "upper", "work"].map(|name| memory.path().join(name));
        dirs.iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        let [lower, upper, work] = dirs.map(|dir| dir.into_os_string().into_string());
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.unwrap(),
            upper.unwrap(),
            work.unwrap()
        );
        let at = temp.join("overlay");
        Ok((Mount::new(&["-t", "overlay", "-o", &options, "transect"], &at)?, memory))
    });
    match mount {
        Ok((mount, _memory)) => check("overlay", mount.path()),
        Err(why_not) => loudly_skip(test, why_not),
    }
}
