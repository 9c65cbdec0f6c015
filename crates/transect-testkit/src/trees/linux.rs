//! Trees with everything that Linux supports.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::Build;
use super::portable::{
    add_hard_link, basic_files, directory, empty, file, linked_files, many_directories,
    many_entries, named_files, nested_dirs, single, sparse_files, times,
};
use crate::counts::Counts;

/// The trees that every walk can read completely.
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

fn link(target: impl AsRef<Path>, path: impl AsRef<Path>) {
    symlink(target, path).expect("a link can be made");
}

/// A small tree of common entries.
pub fn basic(at: &Path) {
    basic_files(at);
    link("src/main", at.join("link"));
}

/// 3,500 files in one directory, 1,000 directories in another: more than one batch of each.
pub fn wide(at: &Path) {
    many_entries(at, 3500, 1000);
}

/// 300 levels, each with a file; the longest path is just below 4,096 bytes.
pub fn deep(at: &Path) {
    nested_dirs(at, 300);
}

/// Symbolic links to files, to directories, to missing files, to themselves, out of the tree.
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

/// Files with several names: in one directory, in several, and in the parent directory of the tree,
/// which must belong to the test. Links and pipes have several names, too.
pub fn hardlinks(at: &Path) {
    linked_files(at);
    link("across", at.join("link"));
    add_hard_link(&at.join("link"), at.join("b/link"));
    node(&at.join("pipe"), FileType::Fifo, 0);
    add_hard_link(&at.join("pipe"), at.join("b/pipe"));
}

/// Directories with links that lead back to them.
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

/// Files longer than their allocated bytes.
pub fn sparse(at: &Path) {
    sparse_files(at, 1 << 40, |_| {});
}

/// Unusual names. None of them is `.` or `..`.
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

/// Unusual names of files, and of directories with such files in them.
pub fn weirdnames(at: &Path) {
    let names = WEIRD_NAMES.iter().map(|bytes| OsString::from_vec(bytes.to_vec()));
    named_files(at, &names.collect::<Vec<_>>());
}

fn node(path: &Path, file_type: FileType, device: u64) -> bool {
    rustix::fs::mknodat(CWD, path, file_type, Mode::from_raw_mode(0o600), device).is_ok()
}

/// A pipe and a socket; devices if this process may create them.
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
    many_directories(at, &[6, 6, 7, 7]);
}

/// Creates a chain of directories, each relative to the one above, and returns its counts.
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

/// 300 levels with names of 30 bytes: the path is more than 9,000 bytes long. Every tenth directory
/// contains a file. Returns the counts, because `std::fs` cannot reach the end.
pub fn beyond_path_max(at: &Path) -> Counts {
    chain(at, 300, |level| format!("{level:030}"))
}

/// Levels of short names. Every tenth directory contains a file.
pub fn chain_of_levels(at: &Path, levels: u64) -> Counts {
    chain(at, levels, |_| "d".to_owned())
}
