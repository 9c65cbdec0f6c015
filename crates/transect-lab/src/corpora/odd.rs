//! The corpus `odd`: everything that methods skip, follow or hide by mistake.
//!
//! It is created relative to directory handles, as its longest path is longer than the system accepts.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use super::counts::TreeCounts;

/// Name of the directory without permissions. It is empty, so that everybody finds the same in it.
const DENIED: &str = "denied";

/// Levels of the longest path, with names of 30 bytes: 9,300 bytes in all.
const LEVELS: u64 = 300;

/// Names of files that programs misread: as options, as hidden, as text, as the end of a line.
const NAMES: &[&[u8]] = &[
    b"new\nline",
    b"tab\tbed",
    b" ",
    b"-rf",
    b"back\\slash",
    b"...",
    b".x",
    b"\xff\xfe",
    b"half\xc3",
    "e\u{301}".as_bytes(),
    "\u{e9}".as_bytes(),
    &[b'n'; 255],
    &[0xf0; 254],
];

pub(super) fn create(root: &Path) -> io::Result<TreeCounts> {
    let mut building = Building(TreeCounts::default());
    let root = open(CWD, root.as_os_str())?;
    building.files(&root)?;
    building.names(&root)?;
    links(&root)?;
    building.long_path(&root)?;
    building.directory(&root, DENIED)?;
    rustix::fs::chmodat(&root, DENIED, Mode::empty(), AtFlags::empty())?;
    Ok(building.0)
}

/// Gives the directory without permissions some, so that the corpus can be removed.
pub(super) fn make_removable(root: &Path) {
    // It is not there in another corpus.
    let _ = std::fs::set_permissions(root.join(DENIED), PermissionsExt::from_mode(0o700));
}

/// Counts what is created.
struct Building(TreeCounts);

impl Building {
    /// Creates empty, hidden and hard-linked files.
    fn files(&mut self, root: &OwnedFd) -> io::Result<()> {
        self.file(root, "empty-file", 0)?;
        self.file(root, "another-empty-file", 0)?;
        self.directory(root, "empty-directory")?;
        let files = self.directory(root, "files")?;
        self.file(&files, "one", 1)?;
        self.file(&files, "block", 4096)?;
        self.file(&files, "large", 100_000)?;
        self.file(root, ".hidden-file", 11)?;
        let hidden = self.directory(root, ".hidden-directory")?;
        self.file(&hidden, "file", 22)?;
        let deeper = self.directory(&hidden, ".deeper")?;
        self.file(&deeper, ".empty", 0)?;
        let hard = self.directory(root, "hard-links")?;
        for name in ["second", "third"] {
            rustix::fs::linkat(&files, "block", &hard, name, AtFlags::empty())?;
            self.0.files += 1;
            self.0.bytes += 4096;
        }
        Ok(())
    }

    fn names(&mut self, root: &OwnedFd) -> io::Result<()> {
        let names = self.directory(root, "names")?;
        let directories = self.directory(root, "directories")?;
        for (length, name) in (1..).zip(NAMES) {
            let name = OsStr::from_bytes(name);
            self.file(&names, name, length)?;
            let directory = self.directory(&directories, name)?;
            self.file(&directory, name, 0)?;
        }
        Ok(())
    }

    /// Creates a path that is longer than the system accepts, with a file in every tenth directory.
    fn long_path(&mut self, root: &OwnedFd) -> io::Result<()> {
        let mut here = self.directory(root, "long-path")?;
        for level in 1..=LEVELS {
            here = self.directory(&here, format!("{level:030}"))?;
            if level.is_multiple_of(10) {
                self.file(&here, "file", 7)?;
            }
        }
        Ok(())
    }

    fn directory(&mut self, at: &OwnedFd, name: impl AsRef<OsStr>) -> io::Result<OwnedFd> {
        rustix::fs::mkdirat(at, name.as_ref(), Mode::from_raw_mode(0o755))?;
        self.0.directories += 1;
        open(at, name.as_ref())
    }

    fn file(&mut self, at: &OwnedFd, name: impl AsRef<OsStr>, length: usize) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(at, name.as_ref(), flags, Mode::from_raw_mode(0o644))?;
        File::from(file).write_all(&vec![b'x'; length])?;
        self.0.files += 1;
        self.0.bytes += length as u64;
        Ok(())
    }
}

/// Creates links, those that lead in circles included, and a pipe.
fn links(root: &OwnedFd) -> io::Result<()> {
    rustix::fs::mknodat(root, "pipe", FileType::Fifo, Mode::from_raw_mode(0o644), 0)?;
    for (link, target) in [
        ("link-to-file", "files/large"),
        ("link-to-empty-file", "empty-file"),
        ("link-to-directory", "files"),
        ("link-to-link", "link-to-directory"),
        ("link-to-hidden", ".hidden-directory"),
        ("broken-link", "nowhere"),
        ("link-to-itself", "link-to-itself"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("here", "."),
        ("up", ".."),
        ("files/up", ".."),
        ("files/to-names", "../names"),
    ] {
        rustix::fs::symlinkat(target, root, link)?;
    }
    Ok(())
}

fn open(at: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)
}
