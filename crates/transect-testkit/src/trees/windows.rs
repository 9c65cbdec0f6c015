//! Trees with everything that Windows supports. They are smaller than those of Linux: under Wine,
//! every open is a request to another process.

use std::ffi::OsString;
use std::fs::{create_dir, rename, write};
use std::os::windows::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;

use super::Build;
use super::portable::{
    basic_files, empty, file, linked_files, many_directories, many_entries, named_files,
    nested_dirs, single, sparse_files, times,
};
use crate::counts::Counts;

/// The trees that every walk can read completely.
pub const ALL: &[(&str, Build)] = &[
    ("empty", empty),
    ("single", single),
    ("basic", basic),
    ("wide", wide),
    ("deep", deep),
    ("hardlinks", hardlinks),
    ("sparse", sparse),
    ("weirdnames", weirdnames),
    ("times", times),
    ("many_small_dirs", many_small_dirs),
];

/// A small tree of common entries.
pub fn basic(at: &Path) {
    basic_files(at);
}

/// 300 files in one directory, 20 directories in another: more than one of the smallest buffers of the
/// files.
pub fn wide(at: &Path) {
    many_entries(at, 300, 20);
}

/// 40 levels, each with a file; the longest path is 520 characters longer than the root's, twice the
/// former limit of paths.
pub fn deep(at: &Path) {
    nested_dirs(at, 40);
}

/// Files with several names: in one directory, in several, and in the parent directory of the tree,
/// which must belong to the test.
pub fn hardlinks(at: &Path) {
    linked_files(at);
}

/// Files longer than their allocated bytes, one of them longer than 32 bits can express.
pub fn sparse(at: &Path) {
    sparse_files(at, 1 << 33, |path| {
        // NTFS requires this; under Wine there is no such program, and it is not needed.
        let _ = Command::new("fsutil").args(["sparse", "setflag"]).arg(path).output();
    });
}

/// Unusual names. Most of them have another meaning in a path that is not verbatim.
pub const WEIRD_NAMES: &[&str] = &[
    "dot at the end.",
    "space at the end ",
    "x",
    "x.",
    "x ",
    "x. . ",
    "...",
    "..x",
    ".x",
    " ",
    " leading",
    "NUL",
    "CON.txt",
    "aux",
    "com1",
    "LPT9.",
    "conin$",
    "$Recycle.Bin",
    "$MFT",
    "LONGFI~1.TXT",
    "-rf",
    "--",
    "%TEMP%",
    "!bang",
    "#hash",
    "a[b]{c}",
    "quote'`$(x);&^,=",
    "\u{7f}",
    "right\u{202e}left",
    "\u{1f980}",
    "e\u{301}",
    "\u{e9}",
    "\u{130}i\u{131}I",
    "\u{fffd}",
    "\u{ffff}",
    "bom\u{feff}",
];

/// Returns those names and the longest ones: 255 characters, and as many non-ASCII characters as
/// the file system below Wine has bytes for.
fn weird_names() -> Vec<OsString> {
    let mut names: Vec<OsString> = WEIRD_NAMES.iter().map(OsString::from).collect();
    names.extend(["n".repeat(255), "\u{e8}".repeat(127), "\u{1f980}".repeat(63)].map(Into::into));
    names
}

/// Unusual names of files, and of directories with such files in them.
pub fn weirdnames(at: &Path) {
    named_files(at, &weird_names());
    // Halves of surrogate pairs. Wine cannot store them; there, the tree lacks them.
    for units in [&[0xd83e, 0x61][..], &[0x61, 0xdd80], &[0xdd80, 0xd83e]] {
        let _ = write(at.join(OsString::from_wide(units)), "half");
    }
}

/// 68 directories in 3 levels, each with one file or none.
pub fn many_small_dirs(at: &Path) {
    many_directories(at, &[4, 4, 3]);
}

/// 150 levels with names of 60 characters: the path is more than 9,000 characters long. Every tenth
/// directory contains a file. Returns the counts: Windows accepts such a path, but under Wine no
/// path reaches the end, because Unix accepts 4,096 bytes.
pub fn beyond_path_max(at: &Path) -> Counts {
    let mut counts = Counts { directories: 1, allocation_unknown: true, ..Counts::default() };
    let part = |path: &Path, counts: &mut Counts| {
        let mut path = path.to_owned();
        for level in 0..30 {
            path.push(format!("{level:060}"));
            create_dir(&path).expect("a part of the path is short enough");
            counts.directories += 1;
            if level % 10 == 9 {
                file(path.join("f"), 7);
                counts.files += 1;
                counts.apparent_size += 7;
            }
        }
        path
    };
    // From the end: each part is moved, with everything below it, to the end of the next.
    let first = at.join(format!("{:060}", 0));
    for _ in 0..5 {
        if first.exists() {
            rename(&first, at.join("rest")).expect("a directory can be moved");
        }
        let end = part(at, &mut counts);
        if at.join("rest").exists() {
            rename(at.join("rest"), end.join("rest")).expect("a directory can be moved");
        }
    }
    counts
}
