//! Changes in random order, also while updates are applied.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use transect::table::Table;
use transect_live::WatchMethod;
use transect_testkit::wait_for_ok;
#[cfg(target_os = "linux")]
use transect_testkit::{Mount, TempDir, skip};

use crate::support::*;

tests! {
    live_tree_random_changes,
    live_tree_changes_during_updates,
}

/// A generator of numbers that are the same in every run (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Random changes, with updates at random moments: also while directories have other places than the table knows, and while
/// the tree is not followed.
fn live_tree_random_changes(watch: &WatchMethod) {
    for seed in 1..=if cfg!(windows) { 2 } else { 40 } {
        let temp = tree_of(watch, &[]);
        change_at_random(temp.path(), seed, watch);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn live_tree_random_changes_on_ext4_and_xfs() {
    let test = "live_tree_random_changes_on_ext4_and_xfs";
    if !can_watch_file_systems(test) {
        return;
    }
    let temp = TempDir::new();
    let ext4 = Mount::ext4(&temp.join("ext4.image"), &[], &temp.join("ext4"));
    let (image, make) = (temp.join("xfs.image"), ["mkfs.xfs", "-q", "-m", "reflink=0"]);
    let xfs = Mount::image(&image, 300 << 20, &make, &temp.join("xfs"));
    for mount in [ext4, xfs] {
        let Some(mount) = mount.map_or_else(|why| skip(test, why), Some) else { continue };
        for seed in 1..=10 {
            let root = mount.path().join(seed.to_string());
            fs::create_dir(&root).unwrap();
            change_at_random(&root, seed, &WatchMethod::FileSystem);
        }
    }
}

fn change_at_random(root: &Path, seed: u64, watch: &WatchMethod) {
    for path in ["a/b/c/1", "a/d/2", "e/f/g/h/3", "e/4"] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "1").unwrap();
    }
    let mut tree = open(root, watch);
    // The table, and when it was current, while the tree is not followed.
    let mut stored: Option<(Arc<Table>, SystemTime)> = None;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ (seed << 20));
    for step in 0..120 {
        let all: Vec<PathBuf> = walk(root);
        let directories: Vec<&PathBuf> = all.iter().filter(|path| path.is_dir()).collect();
        let any = all[numbers.below(all.len())].clone();
        let directory = directories[numbers.below(directories.len())].clone();
        let name = directory.join(["a", "b", "c", "d", "e", "f"][numbers.below(6)]);
        // Whatever fails here fails for any program.
        let _ = match numbers.below(9) {
            0 | 1 => fs::write(&name, step.to_string()),
            2 | 3 => fs::create_dir_all(name.join("x")),
            4 | 5 if any != root => fs::rename(&any, &name),
            6 if any != root => match any.is_dir() {
                true => fs::remove_dir_all(&any),
                false => fs::remove_file(&any),
            },
            // In the same update, the other name is noticed.
            8 if any.is_file() => fs::hard_link(&any, &name).and_then(|()| fs::write(&any, "")),
            // Windows does not report this of the root.
            7 if numbers.below(2) == 0 && (any != root || *watch != PATHS) => {
                change_permissions(&any, numbers.below(8))
            }
            _ => Ok(()),
        };
        if numbers.below(12) == 0 {
            tree.suspect_all();
        }
        if numbers.below(8) == 0 && stored.is_none() {
            if numbers.below(12) == 0 {
                wait_for_ticks();
            }
            let now = SystemTime::now();
            tree.settle().unwrap();
            stored = tree.storable().map(|table| (table, now));
        }
        if numbers.below(4) == 0 || step == 119 {
            tree = resumed(tree, &mut stored, watch);
            assert_current(&mut tree);
        }
    }
}

/// While updates are applied, directories appear, are renamed with everything below them, and vanish.
fn live_tree_changes_during_updates(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/", "b/"]);
    let mut tree = open(temp.path(), watch);
    std::thread::scope(|scope| {
        let changing = scope.spawn(|| {
            let at = |path: String| temp.join(path);
            for number in 0..300 {
                let (from, to) = if number % 2 == 0 { ("a", "b") } else { ("b", "a") };
                fs::create_dir_all(at(format!("{from}/{number}/x/y/z"))).unwrap();
                for name in 0..20 {
                    fs::write(at(format!("{from}/{number}/x/{name}")), "1").unwrap();
                }
                // Windows renames and removes no directory in which the tree has one open.
                let (from, to) = (at(format!("{from}/{number}")), at(format!("{to}/{number}")));
                wait_for_ok("it is renamed", || fs::rename(&from, &to));
                fs::write(to.join("x/y/z/last"), "1").unwrap();
                if number >= 50 {
                    let old = number - 50;
                    let parent = if old % 2 == 0 { "b" } else { "a" };
                    let old = at(format!("{parent}/{old}"));
                    wait_for_ok("it is removed", || fs::remove_dir_all(&old));
                }
            }
        });
        while !changing.is_finished() {
            let _ = tree.settle().unwrap();
        }
    });
    assert_current(&mut tree);
}
