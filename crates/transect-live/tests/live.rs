//! The live tree against a walk of the same tree, after changes of every kind.

#![cfg(any(target_os = "linux", windows))]
#![expect(clippy::unwrap_used, reason = "tests, although a macro calls most of them")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Write};
#[cfg(target_os = "linux")]
use std::os::{fd::AsFd, unix::net::UnixListener};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use transect::table::{Row, SubtreeTotals, Table};
use transect::{Cancel, FieldMask, FileType, ScanOptions};
use transect_live::{ChangeKind, LiveTree, SharedTree, Update, WatchMethod};
#[cfg(target_os = "linux")]
use transect_sys::{linux::serve_watches, watch::Watcher};
#[cfg(target_os = "linux")]
use transect_testkit::Mount;
use transect_testkit::{TempDir, skip, wait_for_ok, wait_until};

/// Notifications with paths.
#[cfg(target_os = "linux")]
const PATHS: WatchMethod = WatchMethod::FakeTree;
#[cfg(windows)]
const PATHS: WatchMethod = WatchMethod::FileSystem;

/// What two tables of one tree have in common.
#[derive(Debug, PartialEq)]
struct Entry {
    file_type: FileType,
    size: Option<u64>,
    allocated: Option<u64>,
    mtime: Option<i64>,
    ctime: Option<i64>,
    inode: Option<u64>,
    mode: Option<u16>,
    totals: SubtreeTotals,
    shared: u64,
    unread: Option<&'static str>,
}

fn entries(table: &Table) -> BTreeMap<PathBuf, Entry> {
    let entry = |row: Row| {
        let attributes = table.attributes(row);
        Entry {
            file_type: table.file_type(row),
            size: attributes.size(),
            allocated: attributes.allocated(),
            mtime: attributes.mtime(),
            ctime: attributes.ctime(),
            inode: attributes.inode(),
            mode: attributes.mode(),
            totals: table.totals(row),
            // A walk of Windows does not know names outside of the tree.
            shared: if cfg!(windows) { 0 } else { table.shared(row) },
            unread: table.unread_reason(row).map(|why| why.as_str()),
        }
    };
    table.iter().map(|row| (table.path(row), entry(row))).collect()
}

/// Returns whether only what is new is reported: Wine does not watch directories that were there when a tree was opened.
fn is_wine() -> bool {
    transect_sys::host::wine_version().is_some()
}

/// Applies what happened.
fn settle(tree: &mut LiveTree) -> Update {
    if is_wine() {
        tree.suspect_all();
    }
    tree.settle().expect("few entries")
}

/// Applies what happened, and compares with a walk.
#[track_caller]
fn assert_current(tree: &mut LiveTree) -> Update {
    let before = entries(&tree.table());
    let mut names: BTreeSet<PathBuf> = before.keys().cloned().collect();
    let update = settle(tree);
    follow(&mut names, &update);
    let columns = FieldMask::TIMES | FieldMask::MODE | FieldMask::FILE_ID;
    let options = ScanOptions::new([tree.root()]).same_file_system(true);
    let walked = Table::read_with(options, columns).expect("the root is there");
    let (expected, found) = (entries(&walked), entries(&tree.table()));
    for (path, entry) in &expected {
        assert_eq!(found.get(path), Some(entry), "{}", path.display());
    }
    let extra: Vec<_> = found.keys().filter(|path| !expected.contains_key(*path)).collect();
    assert!(extra.is_empty(), "not on disk: {extra:?}");
    assert!(
        names.iter().eq(expected.keys()),
        "the changes do not lead to the names that are there"
    );
    assert_eq!(tree.table().grand_total(), walked.grand_total());
    assert_eq!(tree.table().hard_links(), walked.hard_links());
    assert_reported(&before, &found, &update);
    update
}

/// Every entry with other attributes is in the changes: of a directory the mode, of everything else the times, too.
#[track_caller]
fn assert_reported(
    before: &BTreeMap<PathBuf, Entry>,
    now: &BTreeMap<PathBuf, Entry>,
    update: &Update,
) {
    let state = |entry: &Entry| {
        let is_directory = entry.file_type == FileType::Directory;
        let times = (!is_directory).then_some((entry.size, entry.mtime, entry.ctime));
        (entry.file_type, entry.mode, times)
    };
    for (path, entry) in now {
        let is_reported = update.changes.iter().any(|change| match change.kind {
            ChangeKind::Modified => change.path == *path,
            // What had the path before is another entry.
            _ => [Some(&change.path), change.from.as_ref()]
                .into_iter()
                .flatten()
                .any(|changed| path.starts_with(changed)),
        });
        let is_same = before.get(path).is_some_and(|it| state(it) == state(entry));
        assert!(is_same || is_reported, "{} is not reported: {update:?}", path.display());
    }
}

/// Applies the changes of names.
fn follow(names: &mut BTreeSet<PathBuf>, update: &Update) {
    for change in &update.changes {
        let source = change.from.as_ref().unwrap_or(&change.path);
        let (moved, others): (Vec<_>, Vec<_>) =
            std::mem::take(names).into_iter().partition(|path| path.starts_with(source));
        names.extend(others);
        assert_eq!(moved.is_empty(), change.kind == ChangeKind::Added, "{change:?}");
        match change.kind {
            ChangeKind::Removed => {}
            ChangeKind::Renamed => names.extend(moved.iter().map(|path| {
                let below = path.strip_prefix(source).expect("it is below");
                change.path.components().chain(below.components()).collect()
            })),
            _ => {
                names.extend(moved);
                names.insert(change.path.clone());
            }
        }
    }
}

/// A directory for a test, on a file system of its own if that is watched.
struct Place {
    #[cfg(target_os = "linux")]
    mount: Option<Mount>,
    temp: TempDir,
}

impl Place {
    #[cfg(target_os = "linux")]
    fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.temp.path(), Mount::path)
    }

    #[cfg(windows)]
    fn path(&self) -> &Path {
        self.temp.path()
    }

    fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path().join(path)
    }
}

fn open(root: impl Into<PathBuf>, watch: &WatchMethod) -> LiveTree {
    LiveTree::open_with(root, &Cancel::new(), watch).unwrap()
}

fn tree_of(watch: &WatchMethod, paths: &[&str]) -> Place {
    let temp = TempDir::new();
    #[cfg(target_os = "linux")]
    let mount = matches!(watch, WatchMethod::FileSystem | WatchMethod::Helper(_))
        .then(|| Mount::tmpfs("64M", &temp.join("mount")).unwrap());
    #[cfg(windows)]
    assert_eq!(*watch, PATHS);
    let temp = Place {
        #[cfg(target_os = "linux")]
        mount,
        temp,
    };
    for path in paths {
        let is_directory = path.ends_with('/');
        let path = temp.join(path);
        let directory = if is_directory { &*path } else { path.parent().expect("a directory") };
        fs::create_dir_all(directory).expect("a new directory");
        if !is_directory {
            fs::write(&path, path.as_os_str().as_encoded_bytes()).expect("a new file");
        }
    }
    temp
}

/// Returns whether file systems can be mounted and watched here.
#[cfg(target_os = "linux")]
fn can_watch_file_systems(test: &str) -> bool {
    let temp = TempDir::new();
    let mount = Mount::tmpfs("64M", &temp.join("mount"));
    let watcher = mount
        .and_then(|mount| Watcher::of_file_system(mount.path()).map_err(|error| error.to_string()));
    watcher.map_or_else(|why| skip(test, why), Some).is_some()
}

/// Returns the socket of a helper for all tests of this process.
#[cfg(target_os = "linux")]
fn helper() -> PathBuf {
    static HELPER: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let start = || {
        let temp = TempDir::new();
        let socket = temp.join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                std::thread::spawn(move || serve_watches(client.as_fd(), 1 << 20).unwrap());
            }
        });
        (temp, socket)
    };
    HELPER.get_or_init(start).1.clone()
}

/// Runs every test with each source of notifications.
macro_rules! tests {
    ($($name:ident,)*) => {
        #[cfg(target_os = "linux")]
        mod directories {
            use super::WatchMethod;
            $(#[test] fn $name() { super::$name(&WatchMethod::Directories); })*
        }
        #[cfg(target_os = "linux")]
        mod file_system {
            use super::{WatchMethod, can_watch_file_systems};
            $(#[test] fn $name() {
                if can_watch_file_systems(stringify!($name)) {
                    super::$name(&WatchMethod::FileSystem);
                }
            })*
        }
        mod paths {
            $(#[test] fn $name() { super::$name(&super::PATHS); })*
        }
        #[cfg(target_os = "linux")]
        mod helper {
            use super::{WatchMethod, can_watch_file_systems, helper};
            $(#[test] fn $name() {
                if can_watch_file_systems(stringify!($name)) {
                    super::$name(&WatchMethod::Helper(helper()));
                }
            })*
        }
    };
}

tests! {
    live_tree_changes_of_files_reported,
    live_tree_new_directories_read_and_watched,
    live_tree_many_new_directories_read_and_watched,
    live_tree_renamed_directory_kept_with_changes_below,
    live_tree_renamed_directory_and_one_below_it,
    live_tree_exchanged_directories,
    live_tree_directory_left_changed_and_returned,
    live_tree_removed_and_made_again,
    live_tree_names_of_any_bytes,
    live_tree_hard_links_follow,
    live_tree_changed_file_reported_for_each_name,
    live_tree_times_set_back,
    live_tree_other_names_known_after_a_gap,
    live_tree_ancestor_renamed_ends,
    live_tree_after_a_gap_compared,
    live_tree_after_a_gap_names_first,
    live_tree_after_a_gap_many_directories_gone,
    live_tree_resumed_after_changes,
    shared_tree_after_a_gap_answers_with_what_was_compared,
    live_tree_root_removed_or_renamed_ends,
    live_tree_cancelled_wait_ends,
    live_tree_random_changes,
    live_tree_changes_during_updates,
}

/// The changes as `kind path`, with paths below the root, sorted. Windows also reports a directory as modified if a name in
/// it changes.
fn changes(root: &Path, update: &Update) -> Vec<String> {
    let short = |path: &Path| {
        let path = path.strip_prefix(root).expect("below the root").display().to_string();
        if cfg!(windows) { path.replace('\\', "/") } else { path }
    };
    let mut lines: Vec<String> = update
        .changes
        .iter()
        .filter(|change| {
            let is_directory = change.file_type == FileType::Directory;
            !(cfg!(windows) && is_directory && change.kind == ChangeKind::Modified)
        })
        .map(|change| match &change.from {
            Some(from) => {
                format!("{} {} {}", change.kind.as_str(), short(from), short(&change.path))
            }
            None => format!("{} {}", change.kind.as_str(), short(&change.path)),
        })
        .collect();
    lines.sort();
    lines
}

fn live_tree_changes_of_files_reported(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/one", "a/two", "b/"]);
    let mut tree = open(temp.path(), watch);
    assert!(assert_current(&mut tree).changes.is_empty());
    fs::write(temp.join("a/new"), "12345").unwrap();
    fs::write(temp.join("a/one"), "longer than before, much longer").unwrap();
    fs::remove_file(temp.join("a/two")).unwrap();
    fs::write(temp.join("b/other"), "1").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", temp.join("b/link")).unwrap();
    let update = assert_current(&mut tree);
    let expected = [
        "added a/new",
        #[cfg(unix)]
        "added b/link",
        "added b/other",
        "modified a/one",
        "removed a/two",
    ];
    assert_eq!(changes(temp.path(), &update), expected);
    assert!(assert_current(&mut tree).changes.is_empty());
    // As before, but another file.
    fs::write(temp.join("a/other"), "12345").unwrap();
    fs::rename(temp.join("a/other"), temp.join("a/new")).unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified a/new"]);
    change_permissions(&temp.join("a/new"), 1).unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified a/new"]);
}

/// Changes what is permitted to no one but to its owner.
fn change_permissions(path: &Path, number: usize) -> std::io::Result<()> {
    #[cfg(unix)]
    let changed = std::os::unix::fs::PermissionsExt::from_mode(0o700 + number as u32);
    #[cfg(windows)]
    let changed = {
        let mut changed = path.metadata()?.permissions();
        changed.set_readonly(number.is_multiple_of(2));
        changed
    };
    fs::set_permissions(path, changed)
}

fn live_tree_new_directories_read_and_watched(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/"]);
    let mut tree = open(temp.path(), watch);
    fs::create_dir_all(temp.join("a/b/c/d/e")).unwrap();
    fs::write(temp.join("a/b/c/d/e/file"), "1").unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)).len(), 5);
    fs::write(temp.join("a/b/c/d/e/file"), "22").unwrap();
    let update = assert_current(&mut tree);
    assert_eq!(changes(temp.path(), &update), ["modified a/b/c/d/e/file"]);
    assert_eq!(tree.unwatched(), 0);
}

/// More than are kept open until they are read, with others in them.
fn live_tree_many_new_directories_read_and_watched(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/"]);
    let mut tree = open(temp.path(), watch);
    for number in 0..300 {
        fs::create_dir_all(temp.join(format!("a/{number}/b/c"))).unwrap();
    }
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)).len(), 900);
    for number in 0..300 {
        fs::write(temp.join(format!("a/{number}/b/c/file")), "1").unwrap();
    }
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)).len(), 300);
    assert_eq!(tree.unwatched(), 0);
    fs::remove_dir_all(temp.join("a")).unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["removed a"]);
}

fn live_tree_renamed_directory_kept_with_changes_below(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/b/c/file", "x/"]);
    let mut tree = open(temp.path(), watch);
    let rename = |from: &str, to: &str| fs::rename(temp.join(from), temp.join(to)).unwrap();
    // Before the notification of the rename is applied, something changes three levels below.
    fs::write(temp.join("a/b/c/file"), "first").unwrap();
    rename("a", "x/y");
    fs::write(temp.join("x/y/b/c/new"), "second").unwrap();
    let update = assert_current(&mut tree);
    let expected = ["added x/y/b/c/new", "modified x/y/b/c/file", "renamed a x/y"];
    assert_eq!(changes(temp.path(), &update), expected);
    fs::write(temp.join("x/y/b/c/new"), "third").unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified x/y/b/c/new"]);
    rename("x/y/b", "b");
    rename("x", "b/x");
    assert_current(&mut tree);
    rename("b/x", "x");
    rename("b", "x/b");
    fs::write(temp.join("x/b/c/new"), "").unwrap();
    assert_current(&mut tree);
}

/// A directory, and one that was in it, are renamed into the same new directory.
fn live_tree_renamed_directory_and_one_below_it(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/b/c/file", "a/other"]);
    let mut tree = open(temp.path(), watch);
    fs::create_dir(temp.join("new")).unwrap();
    fs::rename(temp.join("a"), temp.join("new/1")).unwrap();
    fs::rename(temp.join("new/1/b"), temp.join("new/2")).unwrap();
    fs::rename(temp.join("new/2/c"), temp.join("new/0")).unwrap();
    assert_current(&mut tree);
    fs::write(temp.join("new/2/file"), "1").unwrap();
    fs::write(temp.join("new/0/file"), "2").unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)).len(), 2);
}

fn live_tree_exchanged_directories(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/one/file", "b/two/deep/file"]);
    let mut tree = open(temp.path(), watch);
    let exchange = |a: &str, b: &str| {
        let (a, b, free) = (temp.join(a), temp.join(b), temp.join("free"));
        match watch {
            #[cfg(target_os = "linux")]
            _ if *watch != PATHS => {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, a, rustix::fs::CWD, b, flags).unwrap();
            }
            // Windows cannot do that at once.
            _ => [(&a, &free), (&b, &a), (&free, &b)].iter().for_each(|(from, to)| {
                fs::rename(from, to).unwrap();
            }),
        }
    };
    exchange("a/one", "b/two");
    assert_current(&mut tree);
    fs::write(temp.join("a/one/deep/new"), "1").unwrap();
    exchange("a", "b");
    fs::write(temp.join("b/one/deep/new"), "22").unwrap();
    assert_current(&mut tree);
}

fn live_tree_directory_left_changed_and_returned(watch: &WatchMethod) {
    let temp = tree_of(watch, &["root/a/b/file", "outside/"]);
    let mut tree = open(temp.join("root"), watch);
    let (inside, outside) = (temp.join("root/a"), temp.join("outside/a"));
    fs::rename(&inside, &outside).unwrap();
    let update = assert_current(&mut tree);
    assert_eq!(changes(&temp.join("root"), &update), ["removed a"]);
    fs::write(outside.join("b/file"), "changed outside").unwrap();
    fs::rename(&outside, &inside).unwrap();
    fs::write(inside.join("b/other"), "1").unwrap();
    assert_current(&mut tree);
    // Out, modified and back before anything is applied.
    fs::rename(&inside, &outside).unwrap();
    fs::write(outside.join("b/third"), "3").unwrap();
    fs::rename(&outside, &inside).unwrap();
    assert_current(&mut tree);
}

fn live_tree_removed_and_made_again(watch: &WatchMethod) {
    let temp = tree_of(watch, &["d/old/file"]);
    let mut tree = open(temp.path(), watch);
    for round in 0..20 {
        fs::remove_dir_all(temp.join("d")).unwrap();
        if round % 3 == 0 {
            assert_current(&mut tree);
        }
        fs::create_dir_all(temp.join("d/new")).unwrap();
        fs::write(temp.join(format!("d/new/{round}")), "1").unwrap();
        if round % 2 == 0 {
            assert_current(&mut tree);
        }
        fs::write(temp.join("d/new/again"), round.to_string()).unwrap();
    }
    assert_current(&mut tree);
    fs::remove_dir_all(temp.join("d")).unwrap();
    fs::write(temp.join("d"), "a file now").unwrap();
    assert_current(&mut tree);
    fs::remove_file(temp.join("d")).unwrap();
    fs::create_dir(temp.join("d")).unwrap();
    fs::write(temp.join("d/file"), "1").unwrap();
    assert_current(&mut tree);
}

fn live_tree_names_of_any_bytes(watch: &WatchMethod) {
    #[cfg(unix)]
    let names = [&b"new\nline"[..], b"\xff\xfe", b"\x01", b" ", "é".as_bytes(), &[b'x'; 255]]
        .map(std::os::unix::ffi::OsStrExt::from_bytes);
    #[cfg(windows)]
    let names: [&std::ffi::OsStr; 5] =
        [" b", "É", "ß~1.long", "dot.", "NUL"].map(|name| name.as_ref());
    let temp = tree_of(watch, &["d/"]);
    let mut tree = open(temp.path(), watch);
    for name in names {
        let name: &std::ffi::OsStr = name;
        fs::create_dir(temp.join("d").join(name)).unwrap();
        fs::write(temp.join("d").join(name).join(name), "1").unwrap();
    }
    assert_current(&mut tree);
    fs::remove_dir_all(temp.join("d")).unwrap();
    assert_current(&mut tree);
}

fn live_tree_hard_links_follow(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/file", "b/c/"]);
    let mut tree = open(temp.path(), watch);
    fs::hard_link(temp.join("a/file"), temp.join("b/c/name")).unwrap();
    fs::hard_link(temp.join("a/file"), temp.join("b/third")).unwrap();
    // No notification names `a/file` because of its new names; writing to it does.
    fs::write(temp.join("a/file"), "told").unwrap();
    let _ = settle(&mut tree);
    let table = tree.table();
    assert_eq!(table.hard_links(), 2);
    let root = table.roots().next().unwrap();
    let walked = Table::read(temp.path()).unwrap();
    assert_eq!(table.totals(root).apparent, walked.grand_total().apparent);
    fs::remove_file(temp.join("a/file")).unwrap();
    fs::remove_dir_all(temp.join("b/c")).unwrap();
    let _ = settle(&mut tree);
    assert_eq!(tree.table().hard_links(), 0);
    let walked = Table::read(temp.path()).unwrap();
    assert_eq!(tree.table().grand_total().apparent, walked.grand_total().apparent);
}

/// A notification has one name of a file; all its names get the new attributes.
fn live_tree_changed_file_reported_for_each_name(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/one", "a/other", "b/"]);
    fs::hard_link(temp.join("a/one"), temp.join("b/two")).unwrap();
    wait_for_ticks();
    let now = SystemTime::now();
    let mut tree = open(temp.path(), watch);
    fs::write(temp.join("b/two"), "longer than before").unwrap();
    let update = assert_current(&mut tree);
    assert_eq!(changes(temp.path(), &update), ["modified a/one", "modified b/two"]);
    assert!(assert_current(&mut tree).changes.is_empty());
    // One of them is compared with the names, the other one behind.
    let mut stored = tree.storable().map(|table| (table, now));
    fs::write(temp.join("a/one"), "again").unwrap();
    fs::write(temp.join("b/new"), "1").unwrap();
    tree = resumed(tree, &mut stored, watch);
    let update = assert_current(&mut tree);
    let expected = ["added b/new", "modified a/one", "modified b/two"];
    assert_eq!(changes(temp.path(), &update), expected);
    fs::hard_link(temp.join("a/one"), temp.join("b/third")).unwrap();
    let update = assert_current(&mut tree);
    let expected = ["added b/third", "modified a/one", "modified b/two"];
    assert_eq!(changes(temp.path(), &update), expected);
}

fn live_tree_times_set_back(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/file"]);
    let mut tree = open(temp.path(), watch);
    let file = fs::File::options().write(true).open(temp.join("a/file")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified a/file"]);
    if cfg!(unix) {
        fs::File::open(temp.join("a")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified a"]);
    }
}

/// What a file's other names do to it is not notified at this one: it is known once everything is compared.
fn live_tree_other_names_known_after_a_gap(watch: &WatchMethod) {
    let temp = tree_of(watch, &["root/a/shared", "root/a/alone"]);
    fs::hard_link(temp.join("root/a/shared"), temp.join("outside")).unwrap();
    let mut tree = open(temp.join("root"), watch);
    let mut compared = |what: &str| {
        tree.suspect_all();
        let update = assert_current(&mut tree);
        assert!(update.was_gap, "{what}");
    };
    fs::write(temp.join("outside"), "longer than before, much longer").unwrap();
    compared("written through a name outside of the tree");
    fs::hard_link(temp.join("root/a/alone"), temp.join("root/other")).unwrap();
    fs::remove_file(temp.join("root/other")).unwrap();
    compared("another name came and went");
    fs::remove_file(temp.join("outside")).unwrap();
    compared("a name outside of the tree is gone");
}

/// No notification tells it, but the root's path leads nowhere then.
fn live_tree_ancestor_renamed_ends(watch: &WatchMethod) {
    let temp = tree_of(watch, &["above/root/a/file"]);
    let mut tree = open(temp.join("above/root"), watch);
    fs::rename(temp.join("above"), temp.join("elsewhere")).unwrap();
    fs::write(temp.join("elsewhere/root/a/new"), "1").unwrap();
    let update = tree.settle().unwrap();
    assert!(update.is_root_gone && update.changes.is_empty(), "{update:?}");
    assert!(tree.next(&Cancel::new()).unwrap().is_none());
}

fn live_tree_after_a_gap_compared(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/b/file", "c/d/", "e/f"]);
    let mut tree = open(temp.path(), watch);
    tree.suspect_all();
    fs::rename(temp.join("a"), temp.join("c/d/a")).unwrap();
    fs::remove_dir_all(temp.join("e")).unwrap();
    fs::create_dir_all(temp.join("e/f/g")).unwrap();
    tree.suspect_all();
    let update = assert_current(&mut tree);
    assert!(update.was_gap);
    // Everything is watched afterwards.
    fs::write(temp.join("e/f/g/new"), "1").unwrap();
    fs::write(temp.join("c/d/a/b/file"), "2").unwrap();
    let update = assert_current(&mut tree);
    assert_eq!(update.was_gap, is_wine());
    assert_eq!(changes(temp.path(), &update), ["added e/f/g/new", "modified c/d/a/b/file"]);
    assert_eq!(tree.unwatched(), 0);
}

/// Waits until the times of directories prove that they did not change.
fn wait_for_ticks() {
    let called = SystemTime::now();
    let is_old = || called.elapsed().is_ok_and(|age| age > Duration::from_millis(100));
    wait_until("the directories are older than a tick", is_old);
}

/// Directories that did not change since they were listed are not listed again, but their files are queried.
fn live_tree_after_a_gap_names_first(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/file", "b/file", "c/"]);
    let test = "live_tree_after_a_gap_names_first";
    if *watch == PATHS {
        // Every directory is listed: no file system of Windows proves changes.
        return;
    }
    if !transect_sys::host::proves_changes(temp.path()) {
        skip::<()>(test, "the file system does not prove changes");
        return;
    }
    wait_for_ticks();
    let (mut tree, end) = (open(temp.path(), watch), Cancel::new());
    tree.suspect_all();
    fs::write(temp.join("a/file"), "longer than before, much longer").unwrap();
    fs::remove_file(temp.join("b/file")).unwrap();
    fs::create_dir(temp.join("c/d")).unwrap();
    let first = tree.next(&end).unwrap().unwrap();
    assert!(first.was_gap);
    assert_eq!(changes(temp.path(), &first), ["added c/d", "removed b/file"]);
    let second = tree.next(&end).unwrap().unwrap();
    assert!(!second.was_gap);
    assert_eq!(changes(temp.path(), &second), ["modified a/file"]);
    assert!(assert_current(&mut tree).changes.is_empty());
}

/// Of directories that are gone after a gap, each is looked for at its own place; their names are removed at once.
fn live_tree_after_a_gap_many_directories_gone(watch: &WatchMethod) {
    let paths: Vec<_> = (0..1000).map(|number| format!("many/{number:03}/below/file")).collect();
    let temp = tree_of(watch, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    wait_for_ticks();
    let mut tree = open(temp.path(), watch);
    tree.suspect_all();
    for number in 1..1000 {
        fs::remove_dir_all(temp.join(format!("many/{number:03}"))).unwrap();
    }
    let mut removed = changes(temp.path(), &assert_current(&mut tree));
    // Where notifications have paths, their directory is reported as modified, too.
    removed.retain(|change| change.starts_with("removed"));
    let expected: Vec<_> = (1..1000).map(|number| format!("removed many/{number:03}")).collect();
    assert_eq!(removed, expected);
}

/// Whatever changed while a tree was not followed is found, and reported, when it is followed again.
fn live_tree_resumed_after_changes(watch: &WatchMethod) {
    let paths = ["a/b/file", "c/d/", "e/f", "same/file", "same/below/other", "times", "x/1"];
    let temp = tree_of(watch, &paths);
    wait_for_ticks();
    let now = SystemTime::now();
    let mut tree = open(temp.path(), watch);
    assert!(tree.settle().unwrap().changes.is_empty());
    let mut stored = tree.storable().map(|table| (table, now));
    assert!(stored.is_some(), "everything is watched");
    let times = fs::File::options().write(true).open(temp.join("times")).unwrap();
    let modified = times.metadata().unwrap().modified().unwrap();
    fs::write(temp.join("times"), "TIMES").unwrap();
    times.set_modified(modified).unwrap();
    fs::write(temp.join("same/file"), "SAME/FILE").unwrap();
    fs::rename(temp.join("a"), temp.join("c/d/a")).unwrap();
    fs::write(temp.join("c/d/a/b/file"), "longer than before").unwrap();
    fs::remove_dir_all(temp.join("e")).unwrap();
    fs::create_dir_all(temp.join("e/f/g")).unwrap();
    // As a rule with the same inode number.
    fs::remove_dir_all(temp.join("x")).unwrap();
    fs::create_dir(temp.join("y")).unwrap();
    fs::write(temp.join("y/2"), "1").unwrap();
    let mut tree = resumed(tree, &mut stored, watch);
    let update = assert_current(&mut tree);
    assert!(update.was_gap);
    assert_eq!(tree.unwatched(), 0);
    let found = changes(temp.path(), &update);
    for expected in ["renamed a c/d/a", "modified same/file", "modified times", "added y/2"] {
        assert!(found.iter().any(|change| change == expected), "{expected}: {found:?}");
    }
    assert!(!found.iter().any(|change| change.contains("below")), "{found:?}");
    // Everything is watched afterwards.
    fs::write(temp.join("same/below/other"), "2").unwrap();
    fs::write(temp.join("c/d/a/b/new"), "2").unwrap();
    let update = assert_current(&mut tree);
    let count = changes(temp.path(), &update).len();
    assert_eq!((update.was_gap, count), (is_wine(), 2), "{update:?}");
}

/// Names are compared first; then the attributes below a path that is asked for, unless they are many.
fn shared_tree_after_a_gap_answers_with_what_was_compared(watch: &WatchMethod) {
    let temp = tree_of(watch, &["few/file", "many/"]);
    for number in 0..5000 {
        fs::write(temp.join(format!("many/{number}")), "").unwrap();
    }
    let test = "shared_tree_after_a_gap_answers_with_what_was_compared";
    if cfg!(windows) {
        // None of its file systems does.
        return;
    }
    if !transect_sys::host::proves_changes(temp.path()) {
        skip::<()>(test, "the file system does not prove changes");
        return;
    }
    wait_for_ticks();
    let now = SystemTime::now();
    let tree = SharedTree::new(open(temp.path(), watch), None);
    let (table, cursor) = tree.storable().unwrap().expect("everything is watched");
    drop(tree);
    fs::write(temp.join("few/file"), "longer than before").unwrap();
    fs::write(temp.join("many/7"), "1").unwrap();
    let live = LiveTree::resume_with(temp.path(), table, now, &Cancel::new(), watch).unwrap();
    let live = live.expect("the same root");
    let tree = SharedTree::new(live, Some(cursor));
    let view = |path: &str, attributes| {
        let view = tree.view(&temp.join(path), attributes).unwrap().expect("a path of the tree");
        let size = view.table.attributes(view.row).size();
        (view.is_current, size)
    };
    assert!(view("", false).0, "names are current");
    assert!(!view("", true).0 && !view("many", true).0);
    assert_eq!(view("few/file", true), (true, Some(18)));
    let since = tree.changes_since(Some(cursor)).unwrap();
    let mut changed: Vec<_> = since.changes.unwrap().iter().map(|it| it.path.clone()).collect();
    changed.sort();
    assert_eq!(changed, [temp.join("few/file"), temp.join("many/7")]);
    assert!(since.was_gap);
    assert_eq!(view("many/7", true), (true, Some(1)));
    let again = tree.changes_since(Some(since.cursor)).unwrap();
    assert!(again.changes.is_some_and(|changes| changes.is_empty()));
}

/// A name in another case is another name, and finds the same entry.
#[cfg(windows)]
#[test]
fn live_tree_case_of_a_name_changed() {
    let temp = tree_of(&PATHS, &["file", "dir/below/file"]);
    let mut tree = open(temp.path(), &PATHS);
    // Wine does nothing if only the case is another one.
    for (from, to) in [("file", "1"), ("1", "FILE"), ("dir", "2"), ("2", "Dir")] {
        fs::rename(temp.join(from), temp.join(to)).unwrap();
    }
    fs::write(temp.join("Dir/BELOW/file"), "longer than before").unwrap();
    let update = assert_current(&mut tree);
    let expected = ["added FILE", "modified Dir/below/file", "removed file", "renamed dir Dir"];
    assert_eq!(changes(temp.path(), &update), expected);
}

#[test]
fn live_tree_resumed_only_at_the_same_directory() {
    let temp = tree_of(&PATHS, &["root/file"]);
    let (root, now, end) = (temp.join("root"), SystemTime::now(), Cancel::new());
    let table = LiveTree::open(&root, &end).unwrap().storable().expect("everything is watched");
    fs::rename(&root, temp.join("other")).unwrap();
    let resume = |path: &Path| LiveTree::resume(path, Arc::clone(&table), now, &end).unwrap();
    assert!(resume(&root).is_none());
    fs::create_dir(&root).unwrap();
    assert!(resume(&root).is_none() && resume(&temp.join("other")).is_none());
}

fn live_tree_root_removed_or_renamed_ends(watch: &WatchMethod) {
    // Wine removes the root when the tree closes it.
    for &rename in if is_wine() { &[true][..] } else { &[false, true] } {
        let temp = tree_of(watch, &["root/a/file"]);
        let mut tree = open(temp.join("root"), watch);
        match rename {
            true => fs::rename(temp.join("root"), temp.join("elsewhere")).unwrap(),
            false => {
                fs::remove_dir_all(temp.join("root/a")).unwrap();
                let _ = tree.settle().unwrap();
                // No other notification than that of the root itself follows.
                fs::remove_dir(temp.join("root")).unwrap();
            }
        }
        let end = Cancel::new();
        while let Some(update) = tree.next(&end).unwrap() {
            if update.is_root_gone {
                break;
            }
        }
        assert!(tree.next(&end).unwrap().is_none());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn live_tree_unmounted_ends() {
    let test = "live_tree_unmounted_ends";
    if !can_watch_file_systems(test) {
        return;
    }
    for watch in [WatchMethod::Directories, WatchMethod::FileSystem, WatchMethod::Helper(helper())]
    {
        let temp = TempDir::new();
        let mount = Mount::tmpfs("1M", &temp.join("mount")).unwrap();
        fs::create_dir(mount.path().join("a")).unwrap();
        let mut tree = open(mount.path(), &watch);
        drop(mount);
        // Waits for a notification.
        assert!(tree.next(&Cancel::new()).unwrap().unwrap().is_root_gone, "{watch:?}");
    }
}

#[test]
fn live_tree_root_must_be_a_directory_that_exists() {
    let temp = tree_of(&PATHS, &["file"]);
    for name in ["file", "missing"] {
        let error = LiveTree::open(temp.join(name), &Cancel::new()).unwrap_err();
        assert_eq!(error.path(), Some(&*temp.join(name)), "{error}");
    }
}

/// No notification tells that a file is written through a mapping: it is noticed after a gap, or when the mapping is removed.
#[cfg(target_os = "linux")]
#[test]
fn live_tree_mapping_noticed_when_removed() {
    const SCRIPT: &str = "import mmap, sys; file = open(sys.argv[1], 'r+b'); it = mmap.mmap(file.fileno(), 0); file.close(); \
                          it[0] = 33; print(flush=True); input(); it.close(); print(flush=True); input()";
    let mut methods = vec![WatchMethod::Directories];
    if can_watch_file_systems("live_tree_mapping_noticed_when_removed") {
        methods.push(WatchMethod::FileSystem);
    }
    for (watch, is_gap) in methods.iter().flat_map(|watch| [(watch, false), (watch, true)]) {
        let temp = tree_of(watch, &["dir/file"]);
        let mut tree = open(temp.path(), watch);
        let mut python = Command::new("python3");
        let python = python.args(["-c", SCRIPT]).arg(temp.join("dir/file"));
        let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(python.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        if is_gap {
            tree.suspect_all();
        } else {
            writeln!(python.stdin.as_ref().unwrap()).unwrap();
            lines.next().unwrap().unwrap();
        }
        assert_eq!(changes(temp.path(), &assert_current(&mut tree)), ["modified dir/file"]);
        drop(python.stdin.take());
        python.wait().unwrap();
    }
}

fn live_tree_cancelled_wait_ends(watch: &WatchMethod) {
    let temp = tree_of(watch, &["file"]);
    let mut tree = open(temp.path(), watch);
    let (end, waker) = (Cancel::new(), tree.waker());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| tree.next(&end).unwrap().is_none());
        end.cancel();
        waker.wake();
        assert!(waiting.join().unwrap());
    });
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

/// Returns a tree that follows the same root with a stored table; the same tree if none is stored.
fn resumed(
    tree: LiveTree,
    stored: &mut Option<(Arc<Table>, SystemTime)>,
    watch: &WatchMethod,
) -> LiveTree {
    let Some((table, time)) = stored.take() else { return tree };
    let root = tree.root().to_owned();
    drop(tree);
    let resumed = LiveTree::resume_with(root, table, time, &Cancel::new(), watch);
    resumed.expect("notifications").expect("the same root")
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

fn walk(root: &Path) -> Vec<PathBuf> {
    let table = Table::read(root).expect("the root is there");
    table.iter().map(|row| table.path(row)).collect()
}

#[test]
fn shared_tree_followed_until_a_reader_finds_its_root_gone() {
    let temp = TempDir::new();
    let root = temp.join("root");
    fs::create_dir(&root).unwrap();
    let end = Cancel::new();
    let tree = SharedTree::new(LiveTree::open(&root, &end).unwrap(), None);
    let begin = tree.changes_since(None).unwrap().cursor;
    fs::rename(&root, temp.join("other")).unwrap();
    assert!(tree.changes_since(Some(begin)).unwrap().is_root_gone);
    // Nothing is left to be notified.
    tree.follow(&end).unwrap();
    fs::rename(temp.join("other"), &root).unwrap();
    assert!(tree.view(&root, true).unwrap().is_none(), "once it has gone, it stays so");
}

#[test]
fn shared_tree_names_in_removed_and_renamed_directories_listed() {
    let temp = TempDir::new();
    let root = temp.join("root");
    for directory in ["gone/deep", "old/deep"] {
        fs::create_dir_all(root.join(directory)).unwrap();
        fs::write(root.join(directory).join("file"), "1").unwrap();
    }
    let tree = SharedTree::new(LiveTree::open(&root, &Cancel::new()).unwrap(), None);
    let begin = tree.all_changes_since(None).unwrap().cursor;
    fs::remove_dir_all(root.join("gone")).unwrap();
    fs::rename(root.join("old"), root.join("new")).unwrap();
    let all = tree.all_changes_since(Some(begin)).unwrap().changes.unwrap();
    let removed = |path: &str| {
        let path = root.join(path);
        all.iter().any(|it| it.kind == ChangeKind::Removed && it.path == path)
    };
    for path in ["gone", "gone/deep", "gone/deep/file", "old/deep", "old/deep/file"] {
        assert!(removed(path), "{path}: {all:?}");
    }
    let usual = tree.changes_since(Some(begin)).unwrap().changes.unwrap();
    assert!(!usual.iter().any(|it| it.path.starts_with(root.join("old/deep"))), "{usual:?}");
    assert!(usual.iter().all(|change| all.contains(change)));
}
