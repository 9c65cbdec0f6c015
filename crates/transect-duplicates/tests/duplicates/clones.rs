//! Clones, on a Btrfs of their own.

use std::fs;
use std::path::Path;
use std::process::Command;

use transect_duplicates::{Action, FindOptions, find};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::{act, kept, scan};

const SIZE: u64 = 1 << 20;

fn noise() -> Vec<u8> {
    (0..SIZE).map(|n| (n.wrapping_mul(n) >> 9) as u8).collect()
}

/// Mounts a Btrfs in `temp`, or reports that the test is skipped.
fn mount(temp: &TempDir, test: &str) -> Option<Mount> {
    let mounted =
        Mount::image(&temp.join("image"), 256 << 20, &["mkfs.btrfs", "-q"], &temp.join("mounted"));
    mounted.map_err(|error| loudly_skip(test, &error)).ok()
}

fn cp(root: &Path, from: &str, to: &str) {
    let mut cp = Command::new("cp");
    cp.arg("--reflink=always").args([root.join(from), root.join(to)]);
    assert!(cp.status().unwrap().success());
}

fn write(root: &Path, name: &str) {
    fs::write(root.join(name), noise()).unwrap();
    fs::File::open(root.join(name)).unwrap().sync_all().unwrap();
}

/// Returns what removing the copies of the only group would free, and which of them are clones.
fn freed(root: &Path) -> (u64, Vec<bool>) {
    let found = find(&scan(root), &FindOptions::default());
    let group = &found.groups[0];
    (group.freed, group.copies.iter().skip(1).map(|copy| copy.is_clone).collect())
}

#[test]
fn clones_free_nothing() {
    let temp = TempDir::new();
    let Some(mount) = mount(&temp, "clones_free_nothing") else { return };
    let root = mount.path();
    write(root, "a");
    cp(root, "a", "b");
    assert_eq!(freed(root), (0, vec![true]));
    write(root, "c");
    assert_eq!(freed(root), (SIZE, vec![true, false]));
    // Two clones that share nothing with the first file free their blocks once.
    cp(root, "c", "d");
    assert_eq!(freed(root), (SIZE, vec![true, false, false]));
}

#[test]
fn clone_shares_blocks_and_keeps_attributes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let temp = TempDir::new();
    let Some(mount) = mount(&temp, "clone_shares_blocks_and_keeps_attributes") else { return };
    let root = mount.path();
    write(root, "a");
    write(root, "b");
    fs::hard_link(root.join("b"), root.join("b2")).unwrap();
    fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(root.join("b")).unwrap();
    let report = act(root, Action::Clone);
    assert_eq!(report.report.counts.removed, 2, "{:?}", report.report.kept);
    let after = fs::metadata(root.join("b")).unwrap();
    let state = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid(), of.mtime(), of.mtime_nsec());
    assert_eq!(state(&after), state(&before));
    assert_eq!(fs::metadata(root.join("b2")).unwrap().ino(), after.ino());
    assert_eq!(fs::read(root.join("b")).unwrap(), noise());
    assert_eq!(freed(root), (0, vec![true]));
    // What is a clone already is not cloned again.
    assert_eq!(act(root, Action::Clone).report.counts.removed, 0);
}

#[test]
fn clone_refused_where_unsupported() {
    let temp = TempDir::new();
    let mount = match Mount::tmpfs("8m", &temp.join("mounted")) {
        Ok(mount) => mount,
        Err(error) => return loudly_skip("clone_refused_where_unsupported", &error),
    };
    write(mount.path(), "a");
    write(mount.path(), "b");
    assert_eq!(kept(&act(mount.path(), Action::Clone)), ["b no_clones"]);
    assert_eq!(fs::read(mount.path().join("b")).unwrap(), noise());
}
