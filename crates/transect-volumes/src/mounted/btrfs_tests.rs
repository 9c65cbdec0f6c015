//! Subvolumes of Btrfs: which directories come from their trees, and which are opened. That both show the same is
//! tested with whole walks (`transect-testkit/tests/engine/btrfs_volumes.rs`).

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::thread::CapabilitySet;
use transect_testkit::{Mount, TempDir, loudly_skip};

use super::tests::{drop_capabilities, open, open_below};
use super::*;

fn mounted(test: &str, temp: &TempDir) -> Option<Mount> {
    let make = ["mkfs.btrfs", "-q", "-f"];
    match Mount::image(&temp.join("image"), 256 << 20, &make, &temp.join("mounted")) {
        Ok(mount) => {
            fs::create_dir_all(mount.path().join("a/b/c")).unwrap();
            fs::create_dir_all(mount.path().join("other")).unwrap();
            Some(mount)
        }
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

fn subvolume(at: &Path, arguments: &[&str]) {
    let output = Command::new("btrfs").arg("subvolume").args(arguments).current_dir(at).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns whether the directory at these steps is in the tables, if it is opened as walks do: step by step.
fn is_in_tables(path: &Path, steps: &[&str]) -> bool {
    let (mut live, root) = open(path);
    let found = steps.iter().fold(root, |at, step| open_below(&mut live, &at, &[step]));
    matches!(found, Place::Table(_))
}

#[test]
fn btrfs_subvolumes_in_tables_mounts_opened() {
    let temp = TempDir::new();
    let Some(mount) = mounted("btrfs_subvolumes_in_tables_mounts_opened", &temp) else { return };
    let at = mount.path();
    subvolume(at, &["create", "sub"]);
    fs::create_dir_all(at.join("sub/x/y")).unwrap();
    subvolume(at, &["create", "sub/x/nested"]);
    subvolume(at, &["snapshot", "sub", "copy"]);
    let _mount = Mount::tmpfs("1m", &at.join("sub/x/y")).unwrap();
    fs::create_dir(at.join("sub/x/y/inside")).unwrap();
    for steps in [&["a", "b", "c"][..], &["sub"], &["copy"], &["copy", "x", "y"], &["a"]] {
        assert!(is_in_tables(at, steps), "{steps:?}");
    }
    for steps in [&["sub", "x", "y"][..], &["sub", "x", "y", "inside"], &["copy", "x", "nested"]] {
        assert!(!is_in_tables(at, steps), "{steps:?}");
    }
    // With a mount on one of its entries, it is opened; what is below it is not.
    assert!(!is_in_tables(&at.join("sub"), &["x"]));
    assert!(is_in_tables(&at.join("sub"), &["x", "nested"]));
}

#[test]
fn btrfs_changes_since_beginning_doubtful() {
    let temp = TempDir::new();
    let Some(mount) = mounted("btrfs_changes_since_beginning_doubtful", &temp) else { return };
    let at = mount.path();
    fs::write(at.join("a/file"), "old").unwrap();
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = directory::open(&mut live, at, false).unwrap();
    // The paths of doubtful directories; and whether the tree has the attributes of `a/file`.
    let doubtful = |change: &dyn Fn()| {
        let calls = Cell::new(0);
        let settle = || {
            // Between reading the tree and looking for changes.
            if calls.replace(calls.get() + 1) == 1 {
                change();
            }
            super::settle(&found.root)
        };
        let effort = Effort { threads: 2, all_times: false };
        let (directory, FileId { device, inode }) = (found.root.as_fd(), found.id);
        let about = btrfs::Mounted { directory, device, root: inode, settle: &settle };
        let (index, changed) = btrfs::read(&about, effort).unwrap();
        let path = |at: u32| path_of(&names_to(&index, at, &[]));
        let all = (0..).zip(changed).filter(|(_, changed)| *changed).map(|(at, _)| path(at));
        let mut all: Vec<PathBuf> = all.collect();
        all.sort();
        let a = index.subdirectory(index.top.unwrap(), b"a").unwrap();
        let mut position = index.begin(a);
        let mut is_file_known = false;
        while let Some((name, inode)) = index.next(&mut position) {
            is_file_known |= name == b"file" && index.attributes(inode).is_ok();
        }
        (all, is_file_known)
    };
    let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(doubtful(&|| {}), (paths(&[]), true));
    let create = || fs::write(at.join("a/b/new"), "content").unwrap();
    assert_eq!(doubtful(&create), (paths(&["a/b"]), true));
    let grow = || fs::write(at.join("a/file"), "longer").unwrap();
    assert_eq!(doubtful(&grow), (paths(&[]), false));
    let remove = || fs::remove_dir(at.join("a/b/c")).unwrap();
    assert_eq!(doubtful(&remove), (paths(&["a/b"]), true));
    let rename = || fs::rename(at.join("a/b"), at.join("other/b")).unwrap();
    assert_eq!(doubtful(&rename).0, paths(&["a", "a/b", "other"]));
    let nothing = || assert!(at.join("other/b/new").exists());
    assert_eq!(doubtful(&nothing), (paths(&[]), true));
}

#[test]
fn btrfs_refused_without_privilege() {
    let temp = TempDir::new();
    let Some(mount) = mounted("btrfs_refused_without_privilege", &temp) else { return };
    let path = mount.path().to_owned();
    assert_eq!(probe(&path).unwrap(), (ReaderKind::Btrfs, true));
    assert_eq!(probe(&path.join("a")).unwrap(), (ReaderKind::Btrfs, false));
    let refused = |kept: CapabilitySet| {
        let path = path.clone();
        // Capabilities belong to a thread.
        let thread = std::thread::spawn(move || {
            drop_capabilities(kept);
            probe(&path).unwrap_err()
        });
        let refused = thread.join().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{refused}");
        refused.to_string()
    };
    assert!(refused(CapabilitySet::empty()).contains("the privilege to list every directory"));
    assert!(refused(CapabilitySet::DAC_READ_SEARCH).contains("CAP_SYS_ADMIN"));
}

#[test]
fn btrfs_changes_only_what_changed_since() {
    let temp = TempDir::new();
    let Some(mount) = mounted("btrfs_changes_only_what_changed_since", &temp) else { return };
    let at = mount.path();
    subvolume(at, &["create", "sub"]);
    (0..3000).for_each(|number| fs::write(at.join(format!("a/{number}")), "old").unwrap());
    let id = |path: &str| {
        transect_sys::file::query_attributes(&at.join(path), FieldMask::FILE_ID, false)
            .unwrap()
            .file_id()
    };
    let inode = |path: &str| id(path).unwrap().inode;
    let since = Cell::new(generation(at).unwrap());
    let changed = |change: &dyn Fn()| {
        change();
        let found = changes_below(at, since.get()).unwrap();
        assert!(found.generation >= since.replace(found.generation) && found.inodes.is_sorted());
        assert_eq!(found.device, id(".").unwrap().device);
        found.inodes
    };
    let none: [u64; 0] = [];
    assert_eq!(changed(&|| {}), none);
    assert_eq!(changed(&|| fs::write(at.join("a/7"), "new").unwrap()), [inode("a/7")]);
    let names = || {
        fs::remove_file(at.join("a/8")).unwrap();
        fs::hard_link(at.join("a/9"), at.join("a/b/c/link")).unwrap();
    };
    let mut expected = [inode("a"), inode("a/b/c"), inode("a/9")];
    expected.sort_unstable();
    assert_eq!(changed(&names), expected);
    assert_eq!(
        changed(&|| fs::write(at.join("sub/file"), "").unwrap()),
        none,
        "a subvolume has its own"
    );
    let sub = changes_below(&at.join("sub"), 0).unwrap();
    assert_eq!(sub.inodes, [256, inode("sub/file")]);
    let ahead = changes_below(at, sub.generation + 1000).unwrap_err();
    assert_eq!(ahead.kind(), io::ErrorKind::InvalidInput, "{ahead}");
    let refusal = |path: &Path| changes_below(path, 0).unwrap_err().to_string();
    let other = refusal(Path::new("/proc"));
    assert!(other.contains("it is not on a volume with"), "{other}");
    let part = refusal(&at.join("a"));
    assert!(part.contains("it is not the top of a subvolume"), "{part}");
    let covering = Mount::tmpfs("1M", &at.join("a/b")).unwrap();
    let covered = refusal(at);
    assert!(covered.contains("/a/b' is mounted below it"), "{covered}");
    assert!(generation(at).is_err(), "its changes could not be found either");
    drop(covering);
    let path = at.to_owned();
    let refused = std::thread::spawn(move || {
        drop_capabilities(CapabilitySet::empty());
        changes_below(&path, 0).unwrap_err()
    });
    assert_eq!(refused.join().unwrap().kind(), io::ErrorKind::PermissionDenied);
}
