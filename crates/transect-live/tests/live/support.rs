//! Trees for tests, and what must hold for each after changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
#[cfg(target_os = "linux")]
use std::os::{fd::AsFd, unix::net::UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use transect::table::{Row, SubtreeTotals, Table};
use transect::{Cancel, FieldMask, FileType, ScanOptions};
use transect_live::{ChangeKind, LiveTree, Update, WatchMethod};
#[cfg(target_os = "linux")]
use transect_sys::{linux::serve_watches, watch::Watcher};
#[cfg(target_os = "linux")]
use transect_testkit::{Mount, skip};
use transect_testkit::{TempDir, wait_until};

/// Notifications with paths.
#[cfg(target_os = "linux")]
pub(crate) const PATHS: WatchMethod = WatchMethod::FakeTree;

#[cfg(windows)]
pub(crate) const PATHS: WatchMethod = WatchMethod::FileSystem;

/// What two tables of one tree have in common.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
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

pub(crate) fn entries(table: &Table) -> BTreeMap<PathBuf, Entry> {
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
pub(crate) fn is_wine() -> bool {
    transect_sys::host::wine_version().is_some()
}

/// Applies what happened.
pub(crate) fn settle(tree: &mut LiveTree) -> Update {
    if is_wine() {
        tree.suspect_all();
    }
    tree.settle().expect("few entries")
}

/// Applies what happened, and compares with a walk.
#[track_caller]
pub(crate) fn assert_current(tree: &mut LiveTree) -> Update {
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
pub(crate) fn assert_reported(
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
pub(crate) fn follow(names: &mut BTreeSet<PathBuf>, update: &Update) {
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
pub(crate) struct Place {
    #[cfg(target_os = "linux")]
    mount: Option<Mount>,
    temp: TempDir,
}

impl Place {
    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.temp.path(), Mount::path)
    }

    #[cfg(windows)]
    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path().join(path)
    }
}

pub(crate) fn open(root: impl Into<PathBuf>, watch: &WatchMethod) -> LiveTree {
    LiveTree::open_with(root, &Cancel::new(), watch).unwrap()
}

pub(crate) fn tree_of(watch: &WatchMethod, paths: &[&str]) -> Place {
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
pub(crate) fn can_watch_file_systems(test: &str) -> bool {
    let temp = TempDir::new();
    let mount = Mount::tmpfs("64M", &temp.join("mount"));
    let watcher = mount
        .and_then(|mount| Watcher::of_file_system(mount.path()).map_err(|error| error.to_string()));
    watcher.map_or_else(|why| skip(test, why), Some).is_some()
}

/// Returns the socket of a helper for all tests of this process.
#[cfg(target_os = "linux")]
pub(crate) fn helper() -> PathBuf {
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
            use transect_live::WatchMethod;
            $(#[test] fn $name() { super::$name(&WatchMethod::Directories); })*
        }
        #[cfg(target_os = "linux")]
        mod file_system {
            use transect_live::WatchMethod;

            use crate::support::can_watch_file_systems;
            $(#[test] fn $name() {
                if can_watch_file_systems(stringify!($name)) {
                    super::$name(&WatchMethod::FileSystem);
                }
            })*
        }
        mod paths {
            $(#[test] fn $name() { super::$name(&crate::support::PATHS); })*
        }
        #[cfg(target_os = "linux")]
        mod helper {
            use transect_live::WatchMethod;

            use crate::support::{can_watch_file_systems, helper};
            $(#[test] fn $name() {
                if can_watch_file_systems(stringify!($name)) {
                    super::$name(&WatchMethod::Helper(helper()));
                }
            })*
        }
    };
}

/// The changes as `kind path`, with paths below the root, sorted. Windows also reports a directory as modified if a name in
/// it changes.
pub(crate) fn changes(root: &Path, update: &Update) -> Vec<String> {
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

/// Changes what is permitted to no one but to its owner.
pub(crate) fn change_permissions(path: &Path, number: usize) -> std::io::Result<()> {
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

/// Waits until the times of directories prove that they did not change.
pub(crate) fn wait_for_ticks() {
    let called = SystemTime::now();
    let is_old = || called.elapsed().is_ok_and(|age| age > Duration::from_millis(100));
    wait_until("the directories are older than a tick", is_old);
}

/// Returns a tree that follows the same root with a stored table; the same tree if none is stored.
pub(crate) fn resumed(
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

pub(crate) fn walk(root: &Path) -> Vec<PathBuf> {
    let table = Table::read(root).expect("the root is there");
    table.iter().map(|row| table.path(row)).collect()
}
