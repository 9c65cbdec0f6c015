//! Trees by name: one for everything that has ever broken a walker.
//!
//! Every function builds into a directory that is there and empty.

use std::ffi::OsStr;
use std::fs::{File, create_dir, create_dir_all, hard_link, write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::counts::Counts;

/// Builds a tree into a directory.
pub type Build = fn(&Path);

/// The trees that every way of walking can read to the end.
pub const ALL: &[(&str, Build)] = &[
    ("empty", empty),
    ("single", single),
    ("basic", basic),
    ("wide", wide),
    ("deep", deep),
    ("links", links),
    ("hardlinks", hardlinks),
    ("loops", loops),
    ("sparse", sparse),
    ("weirdnames", weirdnames),
    ("times", times),
    ("special", special),
    ("many_small_dirs", many_small_dirs),
];

fn file(path: impl AsRef<Path>, size: usize) {
    write(path, vec![b'x'; size]).expect("a file can be written");
}

fn directory(path: impl AsRef<Path>) {
    create_dir_all(path).expect("a directory can be made");
}

fn link(target: impl AsRef<Path>, path: impl AsRef<Path>) {
    symlink(target, path).expect("a link can be made");
}

fn name(of: &impl AsRef<Path>, to: impl AsRef<Path>) {
    hard_link(of, to).expect("a file can have another name");
}

/// Nothing at all.
pub fn empty(_: &Path) {}

/// One file.
pub fn single(at: &Path) {
    file(at.join("file"), 1234);
}

/// A little of what is usual.
pub fn basic(at: &Path) {
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
    link("src/main", at.join("link"));
}

/// 5,000 files in one directory, 1,000 directories in another: more than one batch of each.
pub fn wide(at: &Path) {
    create_dir(at.join("files")).expect("a directory can be made");
    create_dir(at.join("directories")).expect("a directory can be made");
    for number in 0..5000 {
        file(at.join(format!("files/a file of many {number:05}")), number % 7);
    }
    for number in 0..1000 {
        create_dir(at.join(format!("directories/{number}"))).expect("a directory can be made");
    }
}

/// 300 levels, each with a file; the longest path is just below 4,096 bytes.
pub fn deep(at: &Path) {
    let mut path = at.to_owned();
    for level in 0..300 {
        path.push(format!("deep{level:08}"));
        create_dir(&path).expect("the path as a whole is short enough");
        file(path.join("f"), level);
    }
}

/// Symbolic links to files, to directories, to nowhere, to themselves, out of the tree.
pub fn links(at: &Path) {
    directory(at.join("real/below"));
    file(at.join("real/file"), 100);
    file(at.join("real/below/file"), 200);
    link("real/file", at.join("to_file"));
    link("real", at.join("to_directory"));
    link("to_directory", at.join("to_link"));
    link("nowhere", at.join("broken"));
    link("nowhere/at/all", at.join("real/broken"));
    link("self", at.join("self"));
    link("self", at.join("through_self"));
    link("/", at.join("real/to_slash"));
    link("..", at.join("real/below/up"));
    link(at.join("real/file"), at.join("absolute"));
    link("x".repeat(4000), at.join("long_target"));
}

/// Files with several names: in one directory, in several, and beside the tree (in the directory
/// above, which has to be there for the test alone).
pub fn hardlinks(at: &Path) {
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
    name(&of, at.join("a/same_2"));
    name(&of, at.join("a/same_3"));
    // One name in each of several.
    let of = new("a/across", 20_000);
    name(&of, at.join("b/across"));
    name(&of, at.join("c/d/e/across"));
    name(&of, at.join("across"));
    // Several names in each of several.
    let of = new("b/many_0", 30_000);
    for number in 1..20 {
        let directory = ["a", "a/deeper", "b", "c", "c/d"][number % 5];
        name(&of, at.join(format!("{directory}/many_{number}")));
    }
    // One name inside, one outside; two inside, one outside.
    let of = new("a/half", 40_000);
    name(&of, beside.join("half"));
    let of = new("c/part", 50_000);
    name(&of, at.join("a/deeper/part"));
    name(&of, beside.join("part"));
    // Links and pipes can have several names, too.
    link("across", at.join("link"));
    name(&at.join("link"), at.join("b/link"));
    node(&at.join("pipe"), FileType::Fifo, 0);
    name(&at.join("pipe"), at.join("b/pipe"));
}

/// Directories that lead back to themselves through links.
pub fn loops(at: &Path) {
    directory(at.join("a/b/c"));
    directory(at.join("x/y"));
    file(at.join("a/b/c/file"), 11);
    file(at.join("x/y/file"), 22);
    link(".", at.join("here"));
    link("..", at.join("a/up"));
    link("../..", at.join("a/b/c/up"));
    link("../../a", at.join("a/b/to_a"));
    link("../../a", at.join("x/y/to_a"));
    link("../../x", at.join("a/b/to_x"));
    link("ping", at.join("pong"));
    link("pong", at.join("ping"));
}

/// Files that are longer than what they occupy.
pub fn sparse(at: &Path) {
    for (name, length, written) in [
        ("hole", 1_u64 << 30, &[][..]),
        ("islands", 1 << 24, &[0, 1 << 20, (1 << 24) - 1]),
        ("tail", (1 << 40) + 1, &[1 << 40]),
    ] {
        let file = File::create(at.join(name)).expect("a file can be made");
        file.set_len(length).expect("holes are possible");
        for &offset in written {
            file.write_all_at(b"x", offset).expect("one byte can be written");
        }
    }
}

/// Names that somebody did not expect. None of them is `.` or `..`.
pub const WEIRD_NAMES: &[&[u8]] = &[
    b"new\nline",
    b"\n",
    b"tab\tbed",
    b"\x1b[31mred\x1b[0m",
    b"\xff\xfe",
    b"half\xc3",
    b"-rf",
    b"--",
    b" ",
    b" leading and trailing ",
    b"...",
    b"..x",
    b".x",
    b"x.",
    b"*?[a]{b}!",
    b"!bang",
    b"#hash",
    b"back\\slash",
    b"quote'\"`$(x)",
    b"\x01\x7f",
    "right\u{202e}left".as_bytes(),
    "\u{1f980}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{e9}".as_bytes(),
    &[b'n'; 255],
    &[0xf0; 254],
];

/// Names that somebody did not expect: of files, and of directories with such files in them.
pub fn weirdnames(at: &Path) {
    for (size, bytes) in WEIRD_NAMES.iter().enumerate() {
        file(at.join(OsStr::from_bytes(bytes)), size);
    }
    directory(at.join("directories"));
    for (size, bytes) in WEIRD_NAMES.iter().enumerate() {
        let path = at.join("directories").join(OsStr::from_bytes(bytes));
        directory(&path);
        file(path.join(OsStr::from_bytes(bytes)), size);
    }
}

/// Files of times before the epoch, now, with nanoseconds, and far away.
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

fn node(path: &Path, file_type: FileType, device: u64) -> bool {
    rustix::fs::mknodat(CWD, path, file_type, Mode::from_raw_mode(0o600), device).is_ok()
}

/// A pipe and a socket; devices where this process may make them.
pub fn special(at: &Path) {
    directory(at.join("below"));
    for directory in [at.to_owned(), at.join("below")] {
        assert!(node(&directory.join("pipe"), FileType::Fifo, 0));
        assert!(node(&directory.join("socket"), FileType::Socket, 0));
        node(&directory.join("null"), FileType::CharacterDevice, rustix::fs::makedev(1, 3));
        node(&directory.join("loop"), FileType::BlockDevice, rustix::fs::makedev(7, 0));
        file(directory.join("file"), 5);
    }
}

/// 2,058 directories in 4 levels, each with one file or none.
pub fn many_small_dirs(at: &Path) {
    fn level(at: &Path, breadth: &[usize]) {
        let Some((&breadth_here, below)) = breadth.split_first() else {
            return;
        };
        for number in 0..breadth_here {
            let path = at.join(number.to_string());
            create_dir(&path).expect("a directory can be made");
            if number % 2 == 0 {
                file(path.join("file"), number * 100);
            }
            level(&path, below);
        }
    }
    level(at, &[6, 6, 7, 7]);
}

/// Makes a chain of directories relative to each other, and returns what it is.
fn chain(at: &Path, levels: u64, name: impl Fn(u64) -> String) -> Counts {
    let mode = Mode::from_raw_mode(0o755);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = rustix::fs::openat(CWD, at, flags, Mode::empty()).expect("it is there");
    let mut counts = Counts { directories: 1, ..Counts::default() };
    let mut own = rustix::fs::fstat(&here).expect("it can be asked").st_blocks as u64 * 512;
    for level in 0..levels {
        let step = name(level);
        rustix::fs::mkdirat(&here, &step, mode).expect("a directory can be made");
        here = rustix::fs::openat(&here, &step, flags, Mode::empty()).expect("it can be opened");
        counts.directories += 1;
        if level % 10 == 9 {
            let create = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&here, "f", create, Mode::from_raw_mode(0o600))
                .expect("a file can be made");
            File::from(file).write_all_at(b"seven b", 0).expect("it can be written");
            counts.files += 1;
            counts.apparent_size += 7;
        }
        own += rustix::fs::fstat(&here).expect("it can be asked").st_blocks as u64 * 512;
        if level % 10 == 9 {
            let file = rustix::fs::statat(&here, "f", rustix::fs::AtFlags::empty());
            counts.allocated_size += file.expect("it is there").st_blocks as u64 * 512;
        }
    }
    counts.directories_allocated_size = own;
    counts
}

/// 300 levels of names of 30 bytes: the path is more than 9,000 bytes long. Every tenth directory
/// holds a file. No path of `std::fs` reaches it, so the counts come along.
pub fn beyond_path_max(at: &Path) -> Counts {
    chain(at, 300, |level| format!("{level:030}"))
}

/// 10,000 levels of short names: more than a stack holds. Every tenth directory holds a file.
pub fn very_deep(at: &Path) -> Counts {
    as_deep_as(at, 10_000)
}

/// The same with another number of levels.
pub fn as_deep_as(at: &Path, levels: u64) -> Counts {
    chain(at, levels, |_| "d".to_owned())
}

/// One directory with `files` files of which the last few are a byte long.
pub fn very_wide(at: &Path, files: u64) -> Counts {
    for number in 0..files {
        let path = at.join(format!("f{number:06}"));
        let file = File::create(path).expect("a file can be made");
        if number % 1000 == 999 {
            file.write_all_at(b"x", 0).expect("it can be written");
        }
    }
    let mut counts = crate::oracle::oracle(at).counts;
    assert_eq!(counts.files, files, "the file system holds what was made");
    counts.files = files;
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TempDir, oracle::oracle};

    #[test]
    fn the_trees_hold_what_they_promise() {
        for &(tree, files, directories) in &[
            ("empty", 0, 1),
            ("single", 1, 1),
            ("wide", 5000, 1003),
            ("deep", 300, 301),
            ("many_small_dirs", 1173, 2059),
        ] {
            let temp = TempDir::new();
            let build = ALL.iter().find(|(name, _)| *name == tree).unwrap().1;
            build(temp.path());
            let counts = oracle(temp.path()).counts;
            assert_eq!((counts.files, counts.directories), (files, directories), "{tree}");
        }
    }

    #[test]
    fn a_file_with_a_name_outside_is_not_a_further_name_inside() {
        let temp = TempDir::new();
        let tree = temp.join("tree");
        create_dir(&tree).unwrap();
        hardlinks(&tree);
        // 2 + 3 + 19 + 0 + 1 + 1 + 1
        assert_eq!(oracle(&tree).counts.hard_links, 27);
        assert_eq!(oracle(temp.path()).counts.hard_links, 29);
    }
}
