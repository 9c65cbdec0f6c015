//! Trees that every file system supports.

use std::ffi::OsString;
use std::fs::{File, create_dir, create_dir_all, hard_link, write};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::counts::Counts;

pub(super) fn file(path: impl AsRef<Path>, size: usize) {
    write(path, vec![b'x'; size]).expect("a file can be written");
}

pub(super) fn directory(path: impl AsRef<Path>) {
    create_dir_all(path).expect("a directory can be made");
}

pub(super) fn add_hard_link(of: &impl AsRef<Path>, to: impl AsRef<Path>) {
    hard_link(of, to).expect("a file can have another name");
}

/// Creates nothing: the root stays empty.
pub fn empty(_: &Path) {}

/// Creates one file.
pub fn single(at: &Path) {
    file(at.join("file"), 1234);
}

/// A small tree of common entries, without links.
pub(super) fn basic_files(at: &Path) {
    for name in ["src/a", "src/b/c", "empty", ".hidden/deeper"] {
        directory(at.join(name));
    }
    for (path, size) in [
        ("top", 10),
        ("none", 0),
        ("src/main", 5000),
        ("src/a/one", 1),
        ("src/a/block", 4096),
        ("src/a/block_and_one", 4097),
        ("src/b/c/large", 300_000),
        (".hidden/file", 77),
        (".hidden/deeper/.dot", 3),
    ] {
        file(at.join(path), size);
    }
}

/// Many files in one directory, many directories in another.
pub(super) fn many_entries(at: &Path, files: usize, directories: usize) {
    create_dir(at.join("files")).expect("a directory can be made");
    create_dir(at.join("directories")).expect("a directory can be made");
    for number in 0..files {
        file(at.join(format!("files/a file of many {number:05}")), number % 7);
    }
    for number in 0..directories {
        create_dir(at.join(format!("directories/{number}"))).expect("a directory can be made");
    }
}

/// Many levels with names of 12 characters, each with a file.
pub(super) fn nested_dirs(at: &Path, levels: usize) {
    let mut path = at.to_owned();
    for level in 0..levels {
        path.push(format!("deep{level:08}"));
        create_dir(&path).expect("the path as a whole is short enough");
        file(path.join("f"), level);
    }
}

/// Files with several names: in one directory, in several, and in the parent directory of the tree,
/// which must belong to the test.
pub(super) fn linked_files(at: &Path) {
    for name in ["a/deeper", "b", "c/d/e"] {
        directory(at.join(name));
    }
    let beside = at.parent().expect("a tree lies in a directory");
    let new = |path: &str, size| {
        file(at.join(path), size);
        at.join(path)
    };
    // All names in one directory.
    let of = new("a/same_1", 10_000);
    add_hard_link(&of, at.join("a/same_2"));
    add_hard_link(&of, at.join("a/same_3"));
    // One name in each of several.
    let of = new("a/across", 20_000);
    add_hard_link(&of, at.join("b/across"));
    add_hard_link(&of, at.join("c/d/e/across"));
    add_hard_link(&of, at.join("across"));
    // Several names in each of several.
    let of = new("b/many_0", 30_000);
    for number in 1..20 {
        let directory = ["a", "a/deeper", "b", "c", "c/d"][number % 5];
        add_hard_link(&of, at.join(format!("{directory}/many_{number}")));
    }
    // One name inside, one outside; two inside, one outside.
    let of = new("a/half", 40_000);
    add_hard_link(&of, beside.join("half"));
    let of = new("c/part", 50_000);
    add_hard_link(&of, at.join("a/deeper/part"));
    add_hard_link(&of, beside.join("part"));
}

/// Files longer than their allocated bytes: the last byte of one is at `last`. `prepare` is called for each when it
/// is empty.
pub(super) fn sparse_files(at: &Path, last: u64, prepare: impl Fn(&Path)) {
    for (name, length, written) in [
        ("hole", 1 << 30, &[][..]),
        ("islands", 1 << 24, &[0, 1 << 20, (1 << 24) - 1]),
        ("tail", last + 1, &[last]),
    ] {
        let path = at.join(name);
        let mut file = File::create(&path).expect("a file can be made");
        prepare(&path);
        file.set_len(length).expect("holes are possible");
        for &offset in written {
            file.seek(SeekFrom::Start(offset)).expect("a place in a file can be gone to");
            file.write_all(b"x").expect("one byte can be written");
        }
    }
}

/// Files with these names, and directories with such files in them.
pub(super) fn named_files(at: &Path, names: &[OsString]) {
    for (size, name) in names.iter().enumerate() {
        file(at.join(name), size);
        let path = at.join("directories").join(name);
        directory(&path);
        file(path.join(name), size);
    }
}

/// Files with times before the epoch, now, with nanoseconds, and in the far future.
pub fn times(at: &Path) {
    let epoch = UNIX_EPOCH;
    for (name, time) in [
        ("epoch", epoch),
        ("before", epoch - Duration::new(86_400, 1)),
        ("nanosecond", epoch + Duration::new(1_000_000_000, 123_456_789)),
        ("after_2038", epoch + Duration::from_secs(1 << 32)),
        ("now", SystemTime::now()),
    ] {
        let file = File::create(at.join(name)).expect("a file can be made");
        let times = std::fs::FileTimes::new().set_accessed(time).set_modified(time);
        file.set_times(times).expect("times can be set");
    }
}

/// As many directories per level as `breadth` lists, every other one with a file.
pub(super) fn many_directories(at: &Path, breadth: &[usize]) {
    let Some((&breadth_here, below)) = breadth.split_first() else {
        return;
    };
    for number in 0..breadth_here {
        let path = at.join(number.to_string());
        create_dir(&path).expect("a directory can be made");
        if number % 2 == 0 {
            file(path.join("file"), number * 100);
        }
        many_directories(&path, below);
    }
}

/// One directory with `files` files, of which every thousandth is a byte long.
pub fn very_wide(at: &Path, files: u64) -> Counts {
    for number in 0..files {
        let path = at.join(format!("f{number:06}"));
        let mut file = File::create(path).expect("a file can be made");
        if number % 1000 == 999 {
            file.write_all(b"x").expect("it can be written");
        }
    }
    let counts = crate::oracle::oracle(at).counts;
    assert_eq!(counts.files, files, "the file system holds what was made");
    counts
}
