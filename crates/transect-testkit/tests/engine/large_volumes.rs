//! Volumes with large directories and with files of many names, read from their tables.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use transect_testkit::{TempDir, loudly_skip};

use crate::volumes::compare_filled;

/// Creates a directory with this many files.
fn fill_directory(directory: &Path, files: usize, name: impl Fn(usize) -> String) {
    fs::create_dir(directory).unwrap();
    for number in 0..files {
        File::create(directory.join(name(number))).unwrap();
    }
}

/// Returns how many levels of blocks lead to the names of a directory: those of its tree of hashes.
///
/// Source: Linux, `fs/ext4/namei.c` (`struct dx_root`): the first block has the number of levels between the root and
/// the last blocks with hashes, after the two names and four bytes with the kind of hash.
fn levels_of_tree(image: &Path, directory: &str, block_size: u64) -> u8 {
    let request = format!("bmap {directory} 0");
    let output = Command::new("debugfs").args(["-R", &request]).arg(image).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let block: u64 = text.trim().parse().unwrap_or_else(|_| panic!("{request}: {output:?}"));
    let mut root = [0; 0x20];
    File::open(image).unwrap().read_exact_at(&mut root, block * block_size).unwrap();
    assert_eq!(root[0x18..0x1C], [0; 4], "the root of a tree: {root:?}");
    assert_eq!(root[0x1D], 8, "the length of what describes the tree: {root:?}");
    root[0x1E] + 1
}

#[test]
fn ext4_directory_of_100_000_entries_same_as_walk() {
    let test = "ext4_directory_of_100_000_entries_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let options = ["-b", "4096", "-N", "110000", "-O", "^has_journal"];
    let fill = |root: &Path| {
        fill_directory(&root.join("large"), 100_000, |number| format!("entry {number}"));
    };
    match compare_filled(test, &image, 160 << 20, &options, fill) {
        Ok(entries) => assert!(entries > 100_000),
        Err(reason) => return loudly_skip(test, reason),
    }
    assert_eq!(levels_of_tree(&image, "/large", 4096), 2);
}

/// Small blocks and long names, so that a tree has a third level: only with the feature `large_dir`.
#[test]
fn ext4_trees_of_two_and_three_levels_same_as_walk() {
    let test = "ext4_trees_of_two_and_three_levels_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let options = ["-b", "1024", "-N", "70000", "-O", "large_dir,^has_journal"];
    let name = |number| format!("{number:0>200}");
    let fill = |root: &Path| {
        fill_directory(&root.join("one"), 200, name);
        fill_directory(&root.join("two"), 2_000, name);
        fill_directory(&root.join("three"), 50_000, name);
    };
    match compare_filled(test, &image, 160 << 20, &options, fill) {
        Ok(entries) => assert!(entries > 52_000),
        Err(reason) => return loudly_skip(test, reason),
    }
    for (levels, directory) in [(1, "/one"), (2, "/two"), (3, "/three")] {
        assert_eq!(levels_of_tree(&image, directory, 1024), levels, "{directory}");
    }
}

#[test]
fn ext4_file_with_10_000_names_same_as_walk() {
    let test = "ext4_file_with_10_000_names_same_as_walk";
    let temp = TempDir::new();
    let fill = |root: &Path| {
        let file = root.join("file");
        fs::write(&file, "content").unwrap();
        for directory in 0..10 {
            let directory = root.join(format!("directory {directory}"));
            fs::create_dir(&directory).unwrap();
            for number in 0..1_000 {
                fs::hard_link(&file, directory.join(format!("name {number}"))).unwrap();
            }
        }
        assert_eq!(file.metadata().unwrap().nlink(), 10_001);
    };
    match compare_filled(test, &temp.join("image"), 32 << 20, &[], fill) {
        Ok(entries) => assert!(entries > 10_000),
        Err(reason) => loudly_skip(test, reason),
    }
}
