//! `--since` on a Btrfs, which reports what changed: the result is that of a full walk, and is read without looking at the
//! rest. Mounting needs privileges; without them the tests print that they are skipped.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use transect_testkit::{Mount, loudly_skip};

use crate::harness::TestEnv;
use crate::random::Random;

/// Mounts a new Btrfs with a tree, and a subvolume with another one; `None` where that is not possible.
fn mounted(test: &str, env: &TestEnv) -> Option<Mount> {
    let make = ["mkfs.btrfs", "-q", "-f"];
    match Mount::image(&env.path("image"), 200 << 20, &make, &env.path("mounted")) {
        Ok(mount) => {
            let sub = mount.path().join("sub");
            let made = Command::new("btrfs").args(["subvolume", "create"]).arg(&sub).output();
            assert!(made.unwrap().status.success());
            // Reading a directory changes it otherwise: its time of access.
            let mut no_times = Command::new("mount");
            no_times.args(["-o", "remount,noatime"]).arg(mount.path());
            assert!(no_times.status().unwrap().success());
            [mount.path(), &sub].into_iter().for_each(fill);
            Some(mount)
        }
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

fn fill(root: &Path) {
    for number in 0..60 {
        let directory = root.join(format!("{}/{}/{number}", number % 3, number % 7));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..8 {
            fs::write(directory.join(format!("file {file}")), vec![b'x'; file * 900]).unwrap();
        }
        symlink("file 1", directory.join("link")).unwrap();
        fs::hard_link(directory.join("file 2"), root.join(format!("name {number}"))).unwrap();
    }
}

/// Returns the directories below one, and what is in them.
fn below(directory: &Path, directories: &mut Vec<PathBuf>, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            below(&entry.path(), directories, files);
            directories.push(entry.path());
        } else if entry.file_type().unwrap().is_file() {
            files.push(entry.path());
        }
    }
}

/// Makes a random change: of content, attributes or names.
fn change(root: &Path, random: &mut Random, number: usize) {
    let (mut directories, mut files) = (vec![root.to_owned()], Vec::new());
    below(root, &mut directories, &mut files);
    directories.retain(|it| !it.ends_with("sub"));
    let (file, directory) = (random.one_of(&files), random.one_of(&directories));
    let new = directory.join(format!("new {number}"));
    match random.below(10) {
        0 => fs::write(&file, vec![b'y'; random.below(20_000)]).unwrap(),
        1 => {
            // The same length, and the time of before.
            let open = File::options().write(true).open(&file).unwrap();
            let modified = open.metadata().unwrap().modified().unwrap();
            open.write_all_at(b"z", 0).unwrap();
            open.set_modified(modified).unwrap();
        }
        2 => fs::write(&new, "new").unwrap(),
        3 => fs::remove_file(&file).unwrap(),
        4 => fs::rename(&file, &new).unwrap_or_default(),
        5 => fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap(),
        6 => fs::hard_link(&file, &new).unwrap_or_default(),
        7 => fs::create_dir_all(new.join("deeper")).unwrap(),
        // Into itself is refused, and so is another subvolume.
        8 => fs::rename(random.one_of(&directories[1..]), &new).unwrap_or_default(),
        _ => {
            // Two directories swap their names.
            let (a, b) = (random.one_of(&directories[1..]), random.one_of(&directories[1..]));
            let aside = root.join("aside");
            if !a.starts_with(&b) && !b.starts_with(&a) && fs::rename(&a, &aside).is_ok() {
                let swapped = fs::rename(&b, &a).and_then(|()| fs::rename(&aside, &b));
                swapped.or_else(|_| fs::rename(&aside, &a)).unwrap();
            }
        }
    }
}

/// Returns all entries of a snapshot, each as a line.
fn entries(env: &TestEnv, snapshot: &str) -> Vec<String> {
    let columns = "path,type,size,allocated,mtime,ctime,btime,mode,uid,gid,nlink,inode,device";
    let list = env.transect(["list", "--json", "--columns", columns, snapshot]).exits(0).quiet();
    let mut lines: Vec<String> = list.stdout_text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Stores the tree since an earlier snapshot, and once more in full, and compares. Returns what was inherited.
fn compare(env: &TestEnv, root: &str, since: &str, level: &str, to: &str) -> Value {
    let options = ["--json", "--all-times", "--since", since, "--since-level", level, "-o", to];
    let stored = env.transect(["snapshot", root].iter().chain(&options)).exits(0).quiet().json();
    let _ = env.transect(["snapshot", root, "--all-times", "-o", "full.parquet"]).exits(0).quiet();
    let (found, expected) = (entries(env, to), entries(env, "full.parquet"));
    let different = expected.iter().zip(&found).find(|(expected, found)| expected != found);
    assert_eq!(different, None, "{level}");
    assert_eq!(found.len(), expected.len());
    stored["inherited"].clone()
}

#[test]
fn since_btrfs_random_changes_same_as_full_walk() {
    let env = TestEnv::new();
    let test = "since_btrfs_random_changes_same_as_full_walk";
    let Some(mount) = mounted(test, &env) else { return };
    let _ =
        env.transect(["snapshot", "mounted", "--all-times", "-o", "0.parquet"]).exits(0).quiet();
    let mut random = Random(0x1234_5678_9ABC_DEF0);
    for round in 0..8 {
        for number in 0..12 * (round % 4) {
            let root = if random.below(4) == 0 {
                mount.path().join("sub")
            } else {
                mount.path().to_owned()
            };
            change(&root, &mut random, 100 * round + number);
        }
        let level = ["names", "attributes"][round % 2];
        let (since, to) = (format!("{round}.parquet"), format!("{}.parquet", round + 1));
        let inherited = compare(&env, "mounted", &since, level, &to);
        assert!(inherited["since_generation"].is_u64(), "{inherited}");
        assert!(inherited["entries"].as_u64().unwrap() > 100, "{inherited}");
        assert!(inherited["directories"].as_u64().unwrap() > 10, "{inherited}");
    }
}

/// Where it is not certain that the file system reports everything, times are compared.
#[test]
fn since_btrfs_in_doubt_times_compared() {
    let env = TestEnv::new();
    let Some(mount) = mounted("since_btrfs_in_doubt_times_compared", &env) else { return };
    let snapshot = |root: &str, to: &str| {
        let _ = env.transect(["snapshot", root, "--all-times", "-o", to]).exits(0).quiet();
    };
    snapshot("mounted", "0.parquet");
    let reported = |inherited: &Value| inherited["since_generation"].is_u64();
    assert!(reported(&compare(&env, "mounted", "0.parquet", "attributes", "1.parquet")));
    // Part of a subvolume.
    snapshot("mounted/1", "part.parquet");
    assert!(!reported(&compare(&env, "mounted/1", "part.parquet", "attributes", "x.parquet")));
    // Something is mounted below.
    let covering = Mount::tmpfs("1M", &mount.path().join("2")).unwrap();
    assert!(!reported(&compare(&env, "mounted", "1.parquet", "attributes", "2.parquet")));
    drop(covering);
    // What the snapshot itself inherited may be older than its generation: it has none.
    let covering = Mount::tmpfs("1M", &mount.path().join("2")).unwrap();
    compare(&env, "mounted", "2.parquet", "names", "3.parquet");
    drop(covering);
    assert!(!reported(&compare(&env, "mounted", "3.parquet", "attributes", "4.parquet")));
    assert!(reported(&compare(&env, "mounted", "4.parquet", "names", "5.parquet")));

    let scan = |options: &[&str]| env.transect(["scan", "mounted"].iter().chain(options)).exits(0);
    let (full, since) =
        (scan(&["--json"]).json(), scan(&["--json", "--since", "5.parquet"]).json());
    assert!(reported(&since["inherited"]), "{since}");
    for key in ["files", "directories", "apparent_size", "allocated_size", "hard_links"] {
        assert_eq!(since[key], full[key], "{key}");
    }
    let text = scan(&["--since", "5.parquet"]).stdout_text();
    assert!(text.contains("Btrfs reports what changed since generation"), "{text}");
}
