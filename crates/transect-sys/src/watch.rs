//! Change notifications for directories, which live trees use.
//!
//! A [`Watcher`] watches single directories, not the entries below them; on Windows, it watches a whole tree. One
//! thread calls [`Watcher::wait`] and [`Watcher::read`] alternately. Reading a file is not a change: the kernel
//! is not requested to report it, so reads wake no thread.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub use crate::linux::Watcher;
#[cfg(windows)]
pub use crate::windows::Watcher;
#[cfg(not(any(target_os = "linux", windows)))]
pub use unsupported::Watcher;

/// Identifies a watched directory. A watcher never reuses an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WatchId(pub(crate) usize);

/// A reported change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification<'a> {
    /// An entry of a watched directory was created, removed, renamed or changed; not on Windows.
    Entry {
        /// The directory that holds the entry.
        directory: WatchId,
        /// The name of the entry.
        name: &'a OsStr,
    },
    /// An entry of a tree was created, removed, renamed or changed: what a watcher of a whole tree on Windows reports.
    Path {
        /// The names that lead to the entry from the root.
        path: &'a Path,
        /// The last name was created, removed or renamed. What it leads to may have been outside of the tree before, where
        /// changes are not reported.
        of_name: bool,
    },
    /// The directory itself was renamed, removed or changed, or can no longer be watched.
    Directory(WatchId),
    /// The directory is not watched any more: it was deleted, its file system was unmounted, or [`Watcher::unwatch`] was
    /// called. On Windows, only `Directory` is reported.
    Unwatched(WatchId),
    /// The system dropped notifications, for any of the directories.
    Lost,
}

/// Where the notifications for a tree come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchMethod {
    /// The first of these that is available: the file system, the file system through the helper at [`HELPER_SOCKET`], each
    /// directory.
    #[default]
    Best,
    /// Each directory is watched; not on Windows.
    Directories,
    /// The whole file system is watched, on Windows the whole tree: [`Watcher::of_file_system`].
    FileSystem,
    /// The whole file system is watched through a helper with this socket: [`Watcher::through_helper`].
    Helper(PathBuf),
    /// The whole tree is watched as on Windows, for tests.
    #[cfg(all(feature = "fake", target_os = "linux"))]
    #[doc(hidden)]
    FakeTree,
}

/// Where the helper of an administrator listens.
pub const HELPER_SOCKET: &str = "/run/transect/watch.sock";

impl Watcher {
    /// Returns a watcher for the directories of a tree in one file system.
    ///
    /// # Errors
    /// Any error that the system reports; the method is not available for this tree.
    pub fn of_tree(root: &Path, method: &WatchMethod) -> io::Result<Self> {
        match method {
            WatchMethod::Best => Self::of_file_system(root)
                .or_else(|_| Self::through_helper(Path::new(HELPER_SOCKET), root))
                .or_else(|_| Self::new()),
            WatchMethod::Directories => Self::new(),
            WatchMethod::FileSystem => Self::of_file_system(root),
            WatchMethod::Helper(socket) => Self::through_helper(socket, root),
            #[cfg(all(feature = "fake", target_os = "linux"))]
            WatchMethod::FakeTree => Self::fake_of_tree(root),
        }
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod unsupported {
    use std::io;
    use std::path::Path;

    use super::{Notification, WatchId};

    /// Watcher for systems without notifications. It cannot be created.
    #[derive(Debug)]
    pub enum Watcher {}

    #[expect(missing_docs, reason = "there is no watcher: only what creates one is ever called")]
    impl Watcher {
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn of_file_system(_: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn through_helper(_: &Path, _: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn watch(&self, _: &Path) -> io::Result<WatchId> {
            match *self {}
        }

        pub fn unwatch(&self, _: WatchId) {
            match *self {}
        }

        pub fn wait(&self) -> bool {
            match *self {}
        }

        pub fn read(&self, _: &mut dyn FnMut(Notification<'_>)) {
            match *self {}
        }

        pub fn settle(&self) -> bool {
            match *self {}
        }

        pub fn stop(&self) {
            match *self {}
        }
    }
}

#[cfg(test)]
#[cfg(any(target_os = "linux", windows))]
mod tests {
    use std::ffi::OsString;
    use std::sync::Mutex;

    use transect_testkit::TempDir;
    #[cfg(target_os = "linux")]
    use transect_testkit::{Mount, skip};

    use super::*;

    /// Runs `test` with a watcher whose notifications are read on another thread.
    #[cfg(target_os = "linux")]
    fn with_watcher(test: impl FnOnce(&Watcher, &Mutex<Vec<Owned>>)) {
        with(Watcher::new().expect("a watcher"), test);
    }

    fn with(watcher: Watcher, test: impl FnOnce(&Watcher, &Mutex<Vec<Owned>>)) {
        let received = Mutex::new(Vec::new());
        // Ends the thread even if the test panics.
        struct Stop<'a>(&'a Watcher);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.stop();
            }
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while watcher.wait() {
                    read(&watcher, &received);
                }
            });
            let _stop = Stop(&watcher);
            test(&watcher, &received);
        });
    }

    #[derive(Debug, PartialEq, Eq)]
    enum Owned {
        Entry(WatchId, OsString),
        Path(PathBuf, bool),
        Directory(WatchId),
        Unwatched(WatchId),
        Lost,
    }

    fn read(watcher: &Watcher, received: &Mutex<Vec<Owned>>) {
        let mut received = received.lock().expect("no reader panicked");
        watcher.read(&mut |notification| {
            received.push(match notification {
                Notification::Entry { directory, name } => Owned::Entry(directory, name.to_owned()),
                Notification::Path { path, of_name } => Owned::Path(path.to_owned(), of_name),
                Notification::Directory(directory) => Owned::Directory(directory),
                Notification::Unwatched(directory) => Owned::Unwatched(directory),
                Notification::Lost => Owned::Lost,
            });
        });
    }

    /// Returns every notification of changes before this call.
    fn reported_by(watcher: &Watcher, received: &Mutex<Vec<Owned>>) -> Vec<Owned> {
        assert!(watcher.settle());
        read(watcher, received);
        std::mem::take(&mut received.lock().expect("no reader panicked"))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_changes_reported_with_names() {
        let temp = TempDir::new();
        for name in ["one", "two", "three"] {
            std::fs::create_dir(temp.join(name)).unwrap();
        }
        with_watcher(|watcher, received| {
            let [one, two] = ["one", "two"].map(|name| watcher.watch(&temp.join(name)).unwrap());
            assert_ne!(one, two);
            let write = |path: &str| std::fs::write(temp.join(path), path).unwrap();
            write("one/a");
            write("three/a");
            let first = reported_by(watcher, received);
            assert!(first.contains(&Owned::Entry(one, "a".into())), "{first:?}");
            assert!(first.iter().all(|it| *it == Owned::Entry(one, "a".into())), "{first:?}");
            std::fs::rename(temp.join("one/a"), temp.join("two/é")).unwrap();
            let second = reported_by(watcher, received);
            for expected in [Owned::Entry(one, "a".into()), Owned::Entry(two, "é".into())] {
                assert!(second.contains(&expected), "{second:?}");
            }
            watcher.unwatch(one);
            reported_by(watcher, received);
            write("one/b");
            write("two/b");
            let third = reported_by(watcher, received);
            assert!(third.contains(&Owned::Entry(two, "b".into())), "{third:?}");
            assert!(!third.contains(&Owned::Entry(one, "b".into())), "{third:?}");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_read_not_reported() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "1").unwrap();
        with_watcher(|watcher, received| {
            watcher.watch(temp.path()).unwrap();
            assert_eq!(std::fs::read(temp.join("file")).unwrap(), b"1");
            assert_eq!(reported_by(watcher, received), []);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_missing_directory_refused() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "1").unwrap();
        with_watcher(|watcher, _| {
            assert!(watcher.watch(&temp.join("missing")).is_err());
            assert!(watcher.watch(Path::new("")).is_err());
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_open_directory_watched_wherever_it_is() {
        use crate::dir_handle::{DirHandle, MountPolicy};

        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("a/dir")).unwrap();
        let top = DirHandle::open(temp.path()).unwrap();
        let dir = top.open_below(&["a".as_ref(), "dir".as_ref()]).unwrap();
        assert!(top.open_below(&["a".as_ref(), "..".as_ref()]).is_err());
        // Another directory has its path.
        std::fs::rename(temp.join("a"), temp.join("b")).unwrap();
        std::fs::create_dir_all(temp.join("a/dir")).unwrap();
        with_watcher(|watcher, received| {
            let watch = dir.watch(watcher).unwrap();
            let again = top.open_dir("b".as_ref(), MountPolicy::Refuse).unwrap();
            let again = again.open_dir("dir".as_ref(), MountPolicy::Refuse).unwrap();
            assert_eq!(again.watch(watcher).unwrap(), watch);
            std::fs::write(temp.join("a/dir/file"), "1").unwrap();
            assert_eq!(reported_by(watcher, received), []);
            std::fs::write(temp.join("b/dir/file"), "1").unwrap();
            let reported = reported_by(watcher, received);
            assert!(reported.contains(&Owned::Entry(watch, "file".into())), "{reported:?}");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_removed_directory_reported_id_not_reused() {
        let temp = TempDir::new();
        let dir = temp.join("dir");
        std::fs::create_dir(&dir).unwrap();
        with_watcher(|watcher, received| {
            let before = watcher.watch(&dir).unwrap();
            std::fs::remove_dir(&dir).unwrap();
            let reported = reported_by(watcher, received);
            for expected in [Owned::Directory(before), Owned::Unwatched(before)] {
                assert!(reported.contains(&expected), "{reported:?}");
            }
            std::fs::create_dir(&dir).unwrap();
            let after = watcher.watch(&dir).unwrap();
            assert_ne!(before, after);
            std::fs::write(dir.join("file"), "1").unwrap();
            let reported = reported_by(watcher, received);
            assert!(reported.contains(&Owned::Entry(after, "file".into())), "{reported:?}");
            assert!(!reported.contains(&Owned::Lost), "{reported:?}");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn watcher_of_file_system_reports_watched_directories_only() {
        let test = "watcher_of_file_system_reports_watched_directories_only";
        let temp = TempDir::new();
        let mount = Mount::tmpfs("1M", &temp.join("mount"));
        let Some(mount) = mount.map_or_else(|why| skip(test, why), Some) else { return };
        let at = |path: &str| temp.join("mount").join(path);
        std::fs::create_dir_all(at("in/below")).unwrap();
        std::fs::create_dir(at("out")).unwrap();
        let watcher = Watcher::of_file_system(&at("in"));
        let watcher = watcher.map_or_else(|why| skip(test, why), Some);
        let Some(watcher) = watcher else { return };
        let write = |path: &str| std::fs::write(at(path), path).unwrap();
        with(watcher, |watcher, received| {
            let top = watcher.watch(&at("in")).unwrap();
            let below = watcher.watch(&at("in/below")).unwrap();
            assert_eq!(watcher.watch(&at("in/below")).unwrap(), below);
            assert!(watcher.watch(temp.path()).is_err(), "another file system");
            for path in ["out/a", "in/a", "in/below/a", "b"] {
                write(path);
            }
            let reported = reported_by(watcher, received);
            for expected in [Owned::Entry(top, "a".into()), Owned::Entry(below, "a".into())] {
                assert!(reported.contains(&expected), "{reported:?}");
            }
            assert!(!reported.contains(&Owned::Entry(top, "b".into())), "{reported:?}");
            // It is followed by what it is, not by its path, and never mistaken for a later one.
            std::fs::rename(at("in/below"), at("out/moved")).unwrap();
            assert!(reported_by(watcher, received).contains(&Owned::Directory(below)));
            write("out/moved/b");
            let reported = reported_by(watcher, received);
            assert!(reported.contains(&Owned::Entry(below, "b".into())), "{reported:?}");
            std::fs::remove_dir_all(at("out/moved")).unwrap();
            std::fs::create_dir(at("out/moved")).unwrap();
            assert!(reported_by(watcher, received).contains(&Owned::Unwatched(below)));
            write("out/moved/c");
            watcher.unwatch(top);
            write("in/c");
            assert_eq!(reported_by(watcher, received), []);
            drop(mount);
            assert_eq!(reported_by(watcher, received), [Owned::Lost]);
            assert!(watcher.watch(&at("in")).is_err());
            assert_eq!(reported_by(watcher, received), []);
        });
    }

    /// Wine reports only what is in the root and in directories that were created later.
    #[cfg(windows)]
    #[test]
    fn watcher_of_tree_reports_paths_and_its_root() {
        let temp = TempDir::new();
        let root = temp.join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("file"), "1").unwrap();
        assert!(Watcher::of_file_system(&root.join("file")).is_err());
        let watcher = Watcher::of_file_system(&root).unwrap();
        assert_ne!(watcher.watch(&root).unwrap(), watcher.watch(&root).unwrap());
        with(watcher, |watcher, received| {
            let changed = |path: &str| Owned::Path(path.into(), false);
            let named = |path: &str| Owned::Path(path.into(), true);
            std::fs::write(root.join("file"), "22").unwrap();
            let reported = reported_by(watcher, received);
            assert!(reported.contains(&changed("file")), "{reported:?}");
            assert!(!reported.contains(&named("file")), "{reported:?}");
            std::fs::create_dir_all(root.join("a/b")).unwrap();
            assert!(reported_by(watcher, received).contains(&named("a")));
            std::fs::write(root.join("a/b/new"), "1").unwrap();
            let reported = reported_by(watcher, received);
            assert!(reported.contains(&named("a\\b\\new")), "{reported:?}");
            std::fs::rename(root.join("file"), root.join("é")).unwrap();
            let reported = reported_by(watcher, received);
            for expected in [named("file"), named("é")] {
                assert!(reported.contains(&expected), "{reported:?}");
            }
            std::fs::write(temp.join("outside"), "1").unwrap();
            assert_eq!(reported_by(watcher, received), []);
            std::fs::rename(&root, temp.join("other")).unwrap();
            let reported = reported_by(watcher, received);
            assert!(matches!(*reported, [Owned::Directory(_), ..]), "{reported:?}");
            std::fs::rename(temp.join("other"), &root).unwrap();
            reported_by(watcher, received);
            std::fs::remove_dir_all(&root).unwrap();
            assert_ne!(reported_by(watcher, received), []);
        });
    }

    #[test]
    fn watcher_dropped_with_pending_reads() {
        let temp = TempDir::new();
        let method = if cfg!(windows) { WatchMethod::FileSystem } else { WatchMethod::Directories };
        for _ in 0..20 {
            let watcher = Watcher::of_tree(temp.path(), &method).unwrap();
            let watch = watcher.watch(temp.path()).unwrap();
            std::fs::write(temp.join("file"), "1").unwrap();
            watcher.unwatch(watch);
            watcher.watch(temp.path()).unwrap();
        }
    }
}
