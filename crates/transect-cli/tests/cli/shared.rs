//! `transect usage --shared`: what clones share counts once, and what removing a directory frees.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use transect_testkit::{Mount, loudly_skip, wait_until};

use crate::harness::TestEnv;

const MIB: u64 = 1 << 20;

const BTRFS: [&str; 2] = ["mkfs.btrfs", "-q"];
const XFS: [&str; 4] = ["mkfs.xfs", "-q", "-m", "reflink=1"];

/// Mounts a new file system at `tree`, or reports that the test is skipped.
fn mount(env: &TestEnv, test: &str, make: &[&str]) -> Option<Mount> {
    let mounted = Mount::image(&env.path("image"), 512 << 20, make, &env.path("tree"));
    mounted.map_err(|reason| loudly_skip(test, reason)).ok()
}

/// Writes content that cannot be compressed, other for each seed.
fn write(path: PathBuf, mib: u64, seed: u64) {
    let words = (seed << 32..).map(|n: u64| (n ^ n >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let bytes: Vec<u8> = words.take((mib * MIB / 8) as usize).flat_map(u64::to_le_bytes).collect();
    let mut file = File::create(path).unwrap();
    // XFS reserves space behind the end of a file that grows, and may keep it for minutes.
    file.set_len(mib * MIB).unwrap();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
}

fn run(program: &str, arguments: &[&Path]) {
    assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program}");
}

fn clone(root: &Path, from: &str, to: &str) {
    run("cp", &["--reflink=always".as_ref(), &root.join(from), &root.join(to)]);
}

/// Creates clones in one directory, in two, and of a file outside, besides hard links.
fn fill(root: &Path) {
    for directory in ["top/a/inner", "top/b", "outside"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    write(root.join("top/a/alone"), 3, 1);
    write(root.join("top/a/inner/one"), 5, 2);
    clone(root, "top/a/inner/one", "top/a/two");
    write(root.join("top/a/far"), 7, 3);
    clone(root, "top/a/far", "top/b/far");
    write(root.join("top/b/known elsewhere"), 11, 4);
    clone(root, "top/b/known elsewhere", "outside/clone");
    write(root.join("top/b/linked"), 2, 5);
    fs::hard_link(root.join("top/b/linked"), root.join("top/a/inner/linked")).unwrap();
    clone(root, "top/b/linked", "top/b/clone of linked");
}

fn usage(env: &TestEnv, args: &[&str]) -> Value {
    env.transect(["usage", "--json", "--shared"].iter().chain(args)).exits(0).quiet().json()
}

/// Returns the whole MiB of an entry: disk usage, and the least and the most that removing it frees.
fn mib(object: &Value, path: &str) -> [u64; 3] {
    let entries = object["entries"].as_array().unwrap();
    let entry = entries.iter().find(|it| it["path"] == path).unwrap_or_else(|| panic!("{path}"));
    ["disk_usage", "exclusive_least", "exclusive_most"]
        .map(|key| entry[key].as_u64().unwrap() / MIB)
}

/// The free bytes of a file system, after everything was written and nothing is left to be freed.
fn free(root: &Path) -> u64 {
    run("sync", &["-f".as_ref(), root]);
    let output = Command::new("stat").args(["-f", "-c", "%f %S"]).arg(root).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|it| it.parse::<u64>().unwrap()).product()
}

fn counts_once(test: &str, make: &[&str]) {
    let env = TestEnv::new();
    let Some(mount) = mount(&env, test, make) else { return };
    let root = mount.path();
    fill(root);
    let top = usage(&env, &["tree/top"]);
    // 3 + 5 + 7 + 11 + 2 once each.
    assert_eq!(mib(&top, "tree/top"), [28, 3, 17]);
    // `far` is charged to a, and shared with b; `one` and `two` are clones in a. The file that is linked to b, and cloned
    // there, is charged to its first name.
    assert_eq!(mib(&top, "tree/top/a"), [17, 3, 8]);
    assert_eq!(mib(&top, "tree/top/a/inner"), [7, 0, 0]);
    assert_eq!(mib(&top, "tree/top/b"), [11, 0, 0]);
    assert_eq!(top["complete"], true);
    let apart = usage(&env, &["tree/top/a", "tree/top/b"]);
    assert_eq!(mib(&apart, "tree/top/b"), [11, 0, 0]);
    // With the tree of the other clone, that is known, too.
    let all = usage(&env, &["--files", "tree"]);
    assert_eq!(mib(&all, "tree"), [28, 3, 28]);
    assert_eq!(mib(&all, "tree/outside"), [11, 0, 0]);
    assert_eq!(mib(&all, "tree/top"), [17, 3, 17]);
    assert_eq!(mib(&all, "tree/top/a/alone"), [3, 3, 3]);
    // Rows add up to what the file system holds.
    let total = all["disk_usage"].as_u64().unwrap();
    let before = free(root);
    fs::remove_dir_all(root.join("top/a")).unwrap();
    let gained = || (free(root).saturating_sub(before) + MIB / 2) / MIB;
    wait_until("the space of a is free", || gained() >= 8);
    assert_eq!(gained(), 8);
    fs::remove_dir_all(root.join("top/b")).unwrap();
    wait_until("the space of top is free", || gained() >= 17);
    assert_eq!(gained(), 17);
    fs::remove_dir_all(root.join("outside")).unwrap();
    wait_until("the space of tree is free", || gained() >= 28);
    assert_eq!((gained(), total / MIB), (28, 28));
}

#[test]
fn shared_btrfs_counts_once() {
    counts_once("shared_btrfs_counts_once", &BTRFS);
}

#[test]
fn shared_xfs_counts_once() {
    counts_once("shared_xfs_counts_once", &XFS);
}

#[test]
fn shared_btrfs_same_as_btrfs_du() {
    let env = TestEnv::new();
    let Some(mount) = mount(&env, "shared_btrfs_same_as_btrfs_du", &BTRFS) else { return };
    let root = mount.path();
    fill(root);
    // A clone that was changed in the middle.
    write(root.join("top/a/part"), 8, 6);
    clone(root, "top/a/part", "top/b/part");
    let script =
        "dd if=/dev/urandom of=tree/top/b/part bs=1M seek=3 count=2 conv=notrunc && sync -f tree";
    let _ = env.sh(script).exits(0);
    let numbers = |script: &str| -> Vec<u64> {
        let text = env.sh(script).exits(0).stdout_text();
        text.split_whitespace().filter_map(|it| it.parse().ok()).collect()
    };
    let compare = |path: &str| {
        let du = numbers(&format!("btrfs filesystem du -s --raw {path} | tail -n 1"));
        let [_, exclusive, shared] = du[..] else { panic!("{du:?}") };
        // The files only: the directory of a subvolume occupies blocks, too.
        let blocks = numbers(&format!("find {path} -type d -printf '%b\\n'"));
        let directories = blocks.iter().sum::<u64>() * 512;
        let ours = usage(&env, &["--depth", "0", path]);
        let number = |key: &str| ours["entries"][0][key].as_u64().unwrap() - directories;
        assert_eq!(number("disk_usage"), exclusive + shared, "{path}");
        assert_eq!(number("exclusive_least"), exclusive, "{path}");
    };
    ["tree", "tree/top", "tree/top/a", "tree/top/b", "tree/outside"].into_iter().for_each(compare);
    // A snapshot is on a device of its own, and shares everything.
    let snapshot = root.join("top/snapshot");
    run("btrfs", &["-q".as_ref(), "subvolume".as_ref(), "snapshot".as_ref(), root, &snapshot]);
    let _ = env.sh("sync -f tree").exits(0);
    ["tree", "tree/top", "tree/top/b", "tree/top/snapshot"].into_iter().for_each(compare);
    let size = |of: &Value| of["disk_usage"].as_u64().unwrap();
    let top = usage(&env, &["--depth", "1", "tree/top"]);
    let [whole, parts @ ..] = top["entries"].as_array().unwrap().as_slice() else {
        panic!("{top}")
    };
    assert_eq!(size(whole), parts.iter().map(size).sum::<u64>());
    let all = usage(&env, &["tree"]);
    assert_eq!(mib(&all, "tree")[1..], [0, size(&all) / MIB]);
}

#[test]
fn shared_compressed_clones_count_once() {
    let env = TestEnv::new();
    let test = "shared_compressed_clones_count_once";
    let Some(mount) = mount(&env, test, &BTRFS) else { return };
    let root = mount.path();
    run("mount", &["-o".as_ref(), "remount,compress=zstd".as_ref(), root]);
    fs::write(root.join("one"), vec![b'a'; 4 << 20]).unwrap();
    File::open(root.join("one")).unwrap().sync_all().unwrap();
    clone(root, "one", "two");
    // As everywhere, the disk usage is that of the content.
    assert_eq!(mib(&usage(&env, &["tree"]), "tree"), [4, 0, 4]);
}

#[test]
fn shared_without_clones_opens_no_file() {
    let env = TestEnv::new();
    let test = "shared_without_clones_opens_no_file";
    if !env.has("strace") {
        return loudly_skip(test, "there is no strace");
    }
    let mount = match Mount::tmpfs("64m", &env.path("tree")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    write(mount.path().join("one"), 2, 1);
    fs::hard_link(mount.path().join("one"), env.path("tree/two")).unwrap();
    let all = usage(&env, &["--files", "tree"]);
    assert_eq!(mib(&all, "tree"), [2, 2, 2]);
    assert_eq!(mib(&all, "tree/one"), [2, 0, 0]);
    let trace = "strace -f -qq -o calls -e trace=open,openat,openat2,ioctl";
    let _ = env.sh(&format!("{trace} \"$TRANSECT\" usage --shared tree")).exits(0);
    let calls = fs::read_to_string(env.path("calls")).unwrap();
    assert!(calls.contains("\"tree"), "{calls}");
    for call in ["one", "two", "FIEMAP"] {
        assert!(!calls.contains(call), "{calls}");
    }
}

#[test]
fn shared_deep_tree_is_complete() {
    let env = TestEnv::new();
    env.mkdir("tree");
    // Longer than a path may be.
    let name = "d".repeat(250);
    let script =
        format!("cd tree; for i in $(seq 20); do mkdir {name} && cd -P {name}; done; echo x >file");
    let _ = env.sh(&script).exits(0);
    assert_eq!(usage(&env, &["tree"])["complete"], true);
}

#[test]
fn shared_unreadable_file_makes_result_partial() {
    let env = TestEnv::new();
    let test = "shared_unreadable_file_makes_result_partial";
    let Some(mount) = mount(&env, test, &BTRFS) else { return };
    fill(mount.path());
    let _ = env.sh("chmod 000 tree/outside/clone").exits(0);
    let args = ["usage", "--shared", "--json", "tree"];
    let Some(found) = env.transect_unprivileged(test, args) else { return };
    let found = found.exits(1);
    assert!(found.stderr_text().contains("tree/outside/clone': "), "{}", found.stderr_text());
    let object = found.json();
    assert_eq!((&object["complete"], object["errors"].as_u64()), (&Value::Bool(false), Some(1)));
    // As if the file that could not be queried were outside.
    assert_eq!(mib(&object, "tree/top"), [28, 3, 17]);
}

#[test]
fn shared_in_text_and_csv() {
    let env = TestEnv::new();
    let Some(mount) = mount(&env, "shared_in_text_and_csv", &XFS) else { return };
    fill(mount.path());
    let text = env.transect(["usage", "--shared", "tree/top"]).exits(0).quiet().stdout_text();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap().trim(), "disk usage            exclusive", "{text}");
    assert!(lines.next().unwrap().starts_with("  28.0 MiB 3.00 MiB to 17.0 MiB 100%"), "{text}");
    assert!(text.contains("disk usage 28.0 MiB"), "{text}");
    let csv = env.transect(["usage", "--shared", "--csv", "tree/top"]).exits(0).quiet();
    let csv = csv.stdout_text();
    assert!(csv.starts_with(
        "files,directories,others,apparent_size,disk_usage,newest_mtime,exclusive_least,exclusive_most,"
    ));
}

#[test]
fn shared_refused_without_files() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for option in ["--by=ext", "--apparent", "--entries", "--export-ncdu=x", "--import-ncdu=x"] {
        let refused = env.transect(["usage", "--shared", option]).exits(2).stderr_text();
        assert!(refused.contains("cannot be used with"), "{refused}");
    }
    let _ = env.transect(["snapshot", "-o", "stored.parquet", "tree"]).exits(0);
    let refused = env.transect(["usage", "--shared", "stored.parquet"]).exits(2).stderr_text();
    let expected = "'stored.parquet' is a snapshot; --shared applies only to directories";
    assert!(refused.contains(expected), "{refused}");
    if !env.has("mkfs.ext4") {
        return loudly_skip("shared_refused_without_files", "there is no mkfs.ext4");
    }
    let _ = env.sh("mkfs.ext4 -q -F disk.img 8M").exits(0);
    let refused = env.transect(["usage", "--shared", "disk.img"]).exits(2).stderr_text();
    let expected = "'disk.img' is the image of a volume; --shared applies only to directories";
    assert!(refused.contains(expected), "{refused}");
}
