//! Trees for tests, and their content as plain `std::fs` reports it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{TestEnv, skip};

/// Levels of the deep part of the tree `everything`.
pub(crate) const LEVELS: usize = 300;

/// Creates the tree `name` with entries of every kind.
pub(crate) fn everything(env: &TestEnv, name: &str) -> PathBuf {
    let root = env.mkdir(name);
    let inner = env.mkdir(root.join("sub/inner"));
    env.mkdir(root.join("hollow"));
    env.write(root.join("plain"), 10);
    env.write(root.join("empty"), 0);
    env.write(inner.join("leaf"), 5000);
    // Three names of one file in three directories, two of another in one.
    fs::hard_link(root.join("plain"), root.join("sub/second")).expect("a hard link");
    fs::hard_link(root.join("plain"), inner.join("third")).expect("a hard link");
    fs::hard_link(inner.join("leaf"), inner.join("leaf again")).expect("a hard link");

    let sparse = fs::File::create(root.join("sparse")).expect("a new file");
    sparse.write_all_at(b"end", 3 << 20).expect("a hole");
    sparse.sync_all().expect("a file can be written out");

    for (name, target) in [
        ("to file", "plain"),
        ("to directory", "sub"),
        ("to nothing", "nowhere"),
        ("sub/up", ".."),
        ("itself", "itself"),
    ] {
        symlink(target, root.join(name)).expect("a symbolic link");
    }
    mkfifo(env, &root.join("fifo"));
    if let Err(error) = UnixListener::bind(root.join("socket")) {
        // The paths of sockets are limited to about 100 bytes.
        let _: Option<()> = skip("sockets in the tree of everything", error);
    }

    for name in ["-dash", " spaces ", "tab\tbed", "new\nline", "\x1b[31mred", "ünïcøde", "["] {
        env.write(root.join(name), name.len());
    }
    env.write(root.join(raw(b"in\xff\xfevalid")), 100);
    let directory = env.mkdir(root.join(raw(b"di\x80rectory\n")));
    env.write(directory.join("in it"), 200);

    let deep: PathBuf = (0..LEVELS).map(|_| "deep").collect();
    let deep = env.mkdir(root.join(deep));
    env.write(deep.join("bottom"), 300);

    many_files(env, &root.join("wide"), 1500, "");
    root
}

/// Creates a named pipe.
pub(crate) fn mkfifo(env: &TestEnv, path: &Path) {
    let mut command = env.command("mkfifo");
    let status = command.arg(path).status().expect("mkfifo, which POSIX demands");
    assert!(status.success(), "cannot make a named pipe");
}

/// Creates a directory of empty files whose names end with `suffix`.
pub(crate) fn many_files(env: &TestEnv, directory: &Path, files: usize, suffix: &str) {
    env.mkdir(directory);
    for number in 0..files {
        fs::File::create(directory.join(format!("{number}{suffix}"))).expect("a new file");
    }
}

/// Creates a chain of directories `blocks` × 250 levels deep, whose paths are longer than one
/// system call accepts.
pub(crate) fn abyss(env: &TestEnv, name: &str, blocks: usize) -> usize {
    const BLOCK: usize = 250;
    let chain = || (0..BLOCK).map(|_| "ten__bytes").collect::<PathBuf>();
    let done = env.mkdir("abyss in the making");
    for _ in 0..blocks {
        // The finished part is moved below a new chain, so every path stays short.
        let above = env.mkdir("abyss above");
        let bottom = env.mkdir(above.join(chain()));
        fs::rename(&done, bottom.join("turn")).expect("a directory can be moved");
        fs::rename(&above, &done).expect("a directory can be moved");
    }
    fs::rename(&done, env.path(name)).expect("a directory can be moved");
    blocks * (BLOCK + 1) + 1
}

pub(crate) fn raw(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// An entry as `std::fs` finds it, with its path below the root as it was given.
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) depth: usize,
    pub(crate) metadata: Metadata,
}

impl Entry {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.path.as_os_str().as_bytes().to_vec()
    }
}

/// Returns the entries of a tree, the root included; `shown` is the root as the user types it.
pub(crate) fn entries(env: &TestEnv, shown: impl AsRef<OsStr>) -> Vec<Entry> {
    let shown = Path::new(shown.as_ref());
    let mut pending = vec![(shown.to_owned(), 0)];
    let mut entries = Vec::new();
    while let Some((path, depth)) = pending.pop() {
        let place = env.path(&path);
        let metadata = fs::symlink_metadata(&place).expect("an entry of our own tree");
        if metadata.is_dir() {
            for entry in fs::read_dir(&place).expect("a directory of our own tree") {
                let name = entry.expect("an entry of our own tree").file_name();
                pending.push((path.join(name), depth + 1));
            }
        }
        entries.push(Entry { path, depth, metadata });
    }
    entries
}

/// Returns the paths of a tree as `list` prints them, sorted.
pub(crate) fn paths(env: &TestEnv, shown: impl AsRef<OsStr>) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = entries(env, shown).iter().map(Entry::bytes).collect();
    paths.sort();
    paths
}

/// Returns the values that `scan --json` must print for some entries, as far as `std::fs` provides
/// them.
pub(crate) fn counts(entries: &[Entry]) -> Value {
    let (mut files, mut directories, mut symlinks, mut others) = (0, 0, 0, 0);
    let (mut apparent, mut allocated, mut directories_allocated) = (0, 0, 0);
    let mut names: HashMap<(u64, u64), u64> = HashMap::new();
    for Entry { metadata, .. } in entries {
        let file_type = metadata.file_type();
        if file_type.is_dir() {
            directories += 1;
            directories_allocated += metadata.blocks() * 512;
            continue;
        }
        match file_type {
            t if t.is_file() => files += 1,
            t if t.is_symlink() => symlinks += 1,
            t => {
                let known = t.is_fifo() || t.is_socket() || t.is_char_device();
                assert!(known || t.is_block_device(), "an unknown type");
                others += 1;
            }
        }
        let seen = names.entry((metadata.dev(), metadata.ino())).or_default();
        *seen += 1;
        if *seen == 1 {
            apparent += metadata.size();
            allocated += metadata.blocks() * 512;
        }
    }
    let further: u64 = names.values().map(|seen| seen - 1).sum();
    json!({
        "files": files,
        "directories": directories,
        "symlinks": symlinks,
        "others": others,
        "apparent_size": apparent,
        "allocated_size": allocated,
        "directories_allocated_size": directories_allocated,
        "hard_links": further,
    })
}

/// Returns the part of a `scan --json` object that [`counts`] covers.
pub(crate) fn counted(object: &Value) -> Value {
    let keys = [
        "files",
        "directories",
        "symlinks",
        "others",
        "apparent_size",
        "allocated_size",
        "directories_allocated_size",
        "hard_links",
    ];
    keys.iter().map(|&key| (key.to_owned(), object[key].clone())).collect()
}
