//! Which directories come from the tables, and which are opened. That both show the same is tested with
//! whole walks (`transect-testkit/tests/engine/mounted_volumes.rs`).

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use nix::sched::CloneFlags;
use rustix::thread::{CapabilitySet, CapabilitySets};
use transect_sys::{Batch, ListStatus};

use transect_testkit::{Mount, TempDir, loudly_skip, wait_until};

use super::*;

/// Waits until changes from now on are later than all that were made.
fn let_clock_go_on() {
    let begin = SystemTime::now();
    wait_until("the clock", || {
        begin.elapsed().is_ok_and(|elapsed| elapsed > CLOCK_LAG + Duration::from_millis(20))
    });
}

/// A reader and its root.
pub(super) fn open(path: &Path) -> (Live, Place) {
    let mut live = Live::new(OpenVolumes::default(), ReaderSettings::default());
    let root = live.open_root(path, false).unwrap();
    (live, root)
}

/// Opens the directory at these steps.
pub(super) fn open_below(live: &mut Live, from: &Place, steps: &[&str]) -> Place {
    let steps: Vec<&OsStr> = steps.iter().map(OsStr::new).collect();
    match from {
        Place::Table(TableDirectory { volume, directory }) => {
            match volume.step(*directory, &steps) {
                Ok(directory) => Place::table(volume, directory),
                Err((at, done)) => live.open_unsure(volume, at, &steps[done..]).unwrap(),
            }
        }
        Place::Live(from) => live.open(from, &steps, false).unwrap(),
    }
}

/// Returns whether the directory at these steps is in the tables.
fn is_in_tables(path: &Path, steps: &[&str]) -> bool {
    let (mut live, root) = open(path);
    matches!(open_below(&mut live, &root, steps), Place::Table(_))
}

fn mounted(test: &str, temp: &TempDir) -> Option<Mount> {
    match Mount::ext4(&temp.join("image"), &[], &temp.join("mounted")) {
        Ok(mount) => {
            fs::create_dir_all(mount.path().join("a/b/c")).unwrap();
            fs::create_dir_all(mount.path().join("other")).unwrap();
            let_clock_go_on();
            Some(mount)
        }
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

#[test]
fn mounted_only_what_changed_is_opened() {
    let temp = TempDir::new();
    let Some(mount) = mounted("mounted_only_what_changed_is_opened", &temp) else { return };
    let at = mount.path();
    for steps in [&["a"][..], &["a", "b"], &["a", "b", "c"], &["other"]] {
        assert!(is_in_tables(at, steps), "{steps:?}");
    }
    // A directory inside is a root like any other.
    assert!(is_in_tables(&at.join("a"), &["b", "c"]));

    // One that changed later than reading began: its time is in the future.
    let (mut live, root) = open(at);
    let Place::Table(TableDirectory { volume, directory }) = &root else { panic!("in the tables") };
    let b = volume.step(*directory, &[OsStr::new("a"), OsStr::new("b")]).unwrap();
    volume.mounted.as_ref().unwrap().doubt(b);
    let steps = [OsStr::new("a"), OsStr::new("b")];
    assert_eq!(volume.step(*directory, &steps).unwrap_err().1, 1, "up to `a`");
    let Ok(Place::Live(opened)) = live.open_unsure(volume, *directory, &steps) else {
        panic!("`a/b` is opened")
    };
    assert_eq!(opened.path, Path::new("a/b"));
    // What is below it is in the tables again.
    let below = live.open(&opened, &[OsStr::new("c")], false).unwrap();
    assert!(matches!(below, Place::Table(_)));

    // Unless a directory above it was moved since.
    fs::rename(at.join("a"), at.join("moved")).unwrap();
    let moved = [OsStr::new("moved"), OsStr::new("b"), OsStr::new("c")];
    volume.mounted.as_ref().unwrap().doubt(*directory);
    let found = live.open_unsure(volume, *directory, &moved).unwrap();
    assert!(matches!(found, Place::Live(_)));
    let gone = live.open_unsure(volume, *directory, &steps);
    assert!(matches!(gone, Err(Fault::Vanished)), "{gone:?}");
}

#[test]
fn mounted_changes_since_beginning_doubtful() {
    let temp = TempDir::new();
    let Some(mount) = mounted("mounted_changes_since_beginning_doubtful", &temp) else { return };
    let at = mount.path();
    let mut live = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    let found = directory::open(&mut live, at, false).unwrap();
    let file = device::open(found.id.device, &found.mount).unwrap();
    // The paths of doubtful directories, and whether the file's attributes are in the tables.
    let doubtful_if = |counts: bool, since: i64, change: &(dyn Fn() + Sync)| {
        // Two changes within a tick have the same time.
        let_clock_go_on();
        let calls = AtomicU32::new(0);
        let settle = || {
            // Between reading the blocks of directories and looking at their inodes again.
            if calls.fetch_add(1, Ordering::Relaxed) == 1 {
                change();
            }
            Ok(rustix::fs::syncfs(found.root.as_fd())?)
        };
        let effort = Effort { threads: 2, all_times: false };
        let (device, root) = (found.id.device, found.id.inode as u32);
        let written = || counts.then(|| device::sectors_written(device).unwrap());
        let about =
            ext4::mounted::Mounted { since, device, root, settle: &settle, written: &written };
        let (index, changed) = ext4::mounted::read(&file, effort, &about).unwrap();
        let path = |at: u32| path_of(&names_to(&index, at, &[]));
        let found = (0..).zip(changed).filter(|(_, changed)| *changed).map(|(at, _)| path(at));
        let mut found: Vec<PathBuf> = found.collect();
        found.sort();
        found
    };
    let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    let all = ["", "a", "a/b", "a/b/c", "lost+found", "other"];
    for counts in [false, true] {
        let doubtful = |since, change| doubtful_if(counts, since, change);
        assert_eq!(doubtful(i64::MAX, &|| {}), paths(&[]));
        assert_eq!(doubtful(0, &|| {}), paths(&all));
        let name = format!("a/b/new-{counts}");
        let create = || fs::write(at.join(&name), "content").unwrap();
        assert_eq!(doubtful(i64::MAX, &create), paths(&["a/b"]));
    }
    let doubtful = |since, change| doubtful_if(true, since, change);
    let remove = || fs::remove_dir(at.join("a/b/c")).unwrap();
    assert_eq!(doubtful(i64::MAX, &remove), paths(&["a/b", "a/b/c"]));
    let rename = || fs::rename(at.join("a/b"), at.join("other/b")).unwrap();
    assert_eq!(doubtful(i64::MAX, &rename), paths(&["a", "a/b", "other"]));
    let nothing = || assert!(at.join("other/b/new-true").exists());
    assert_eq!(doubtful(i64::MAX, &nothing), paths(&[]));
}

#[test]
fn mounted_names_and_attributes_of_changed_files_queried() {
    let test = "mounted_names_and_attributes_of_changed_files_queried";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp) else { return };
    let at = mount.path();
    fs::write(at.join("a/file"), "old").unwrap();
    fs::write(at.join("a/gone"), "old").unwrap();
    let_clock_go_on();
    let mut live = Live::new(OpenVolumes::default(), ReaderSettings::default());
    let root = live.open_root(at, false).unwrap();
    let Place::Table(TableDirectory { volume, directory }) = &root else { panic!("in the tables") };
    let a = volume.step(*directory, &[OsStr::new("a")]).unwrap();
    // As if both had changed since.
    fs::write(at.join("a/file"), "longer").unwrap();
    fs::remove_file(at.join("a/gone")).unwrap();
    let mut batch = Batch::new();
    let mut position = volume.index.begin(a);
    while let Some((name, _)) = volume.index.next(&mut position) {
        batch.push(OsStr::from_bytes(name), transect_sys::Attributes::default());
    }
    let table = TableDirectory { volume: Arc::clone(volume), directory: a };
    live.fill(&table, &mut batch, &Want::from(FieldMask::SIZE));
    let mut vanished = Vec::new();
    batch.drain_faults(|name, _, fault| vanished.push((name.to_owned(), fault)));
    assert!(matches!(&vanished[..], [(name, Fault::Vanished)] if name == "gone"), "{vanished:?}");
    let file = batch.iter().find(|entry| entry.name == "file").unwrap();
    assert_eq!(file.attributes.size(), Some(6));
    assert!(volume.is_doubtful(a), "it is listed in the usual way from now on");
    let Ok(Place::Live(opened)) = live.open_unsure(volume, *directory, &[OsStr::new("a")]) else {
        panic!("`a` is opened")
    };
    let listed = live.reader.list(&opened.handle, &mut batch, &Want::default()).unwrap();
    assert_eq!(listed, ListStatus::End);
    assert!(batch.iter().all(|entry| entry.name != "gone"));
}

#[test]
fn mounted_covered_directories_opened() {
    let temp = TempDir::new();
    let Some(mount) = mounted("mounted_covered_directories_opened", &temp) else { return };
    let at = mount.path();
    let covered = at.join("a/b");
    let _tmpfs = Mount::tmpfs("1m", &covered).unwrap();
    fs::create_dir(covered.join("inside")).unwrap();
    fs::create_dir(at.join("other/bound")).unwrap();
    fs::create_dir(at.join("origin")).unwrap();
    fs::create_dir(at.join("origin/sub")).unwrap();
    let origin = at.join("origin");
    let _bind = Mount::new(&["--bind", origin.to_str().unwrap()], &at.join("other/bound")).unwrap();
    let_clock_go_on();
    for steps in [&["a"][..], &["a", "b"], &["a", "b", "inside"], &["other"], &["other", "bound"]] {
        assert!(!is_in_tables(at, steps), "{steps:?}");
    }
    assert!(!is_in_tables(at, &["other", "bound", "sub"]), "it is `origin/sub` in the tables");
    assert!(is_in_tables(at, &["origin", "sub"]));
    // A bind mount is a root like any other.
    assert!(is_in_tables(&at.join("other/bound"), &["sub"]));
}

#[test]
fn mounted_other_file_systems_and_volumes_without_journal_refused() {
    let test = "mounted_other_file_systems_and_volumes_without_journal_refused";
    let temp = TempDir::new();
    let options = ["-O", "^has_journal"];
    let mount = match Mount::ext4(&temp.join("image"), &options, &temp.join("mounted")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    let why = |path: &Path| probe(path).unwrap_err().to_string();
    assert!(why(mount.path()).contains("no journal"), "{}", why(mount.path()));
    assert!(
        why(Path::new("/proc")).contains("not on a volume with ext4"),
        "{}",
        why(Path::new("/proc"))
    );
}

/// Gives up all capabilities of this thread but these.
pub(super) fn drop_capabilities(kept: CapabilitySet) {
    let inheritable = CapabilitySet::empty();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable };
    rustix::thread::set_capabilities(None, sets).unwrap();
}

#[test]
fn mounted_refused_without_privilege_to_list_everything() {
    let test = "mounted_refused_without_privilege_to_list_everything";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp) else { return };
    let path = mount.path().to_owned();
    assert_eq!(probe(&path).unwrap(), (ReaderKind::Ext4, true));
    // Capabilities belong to a thread.
    let refused = std::thread::spawn(move || {
        drop_capabilities(CapabilitySet::empty());
        probe(&path).unwrap_err()
    });
    let refused = refused.join().unwrap();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{refused}");
}

/// Runs work on a thread whose root directory is another one.
fn with_root<T: Send + 'static>(root: &Path, work: impl FnOnce() -> T + Send + 'static) -> T {
    let root = root.to_owned();
    let thread = std::thread::spawn(move || {
        // Only this thread gets a root directory of its own.
        nix::sched::unshare(CloneFlags::CLONE_FS).unwrap();
        std::os::unix::fs::chroot(&root).unwrap();
        std::env::set_current_dir("/").unwrap();
        work()
    });
    thread.join().unwrap()
}

#[test]
fn mounted_other_root_directory_recognized() {
    let temp = TempDir::new();
    let Some(mount) = mounted("mounted_other_root_directory_recognized", &temp) else { return };
    let at = mount.path();
    for proc in ["a/proc", "proc"] {
        fs::create_dir(at.join(proc)).unwrap();
    }
    let _inner = Mount::new(&["-t", "proc", "proc"], &at.join("a/proc")).unwrap();
    let _outer = Mount::new(&["-t", "proc", "proc"], &at.join("proc")).unwrap();
    let why = with_root(&at.join("a"), || probe(Path::new("/b")).unwrap_err().to_string());
    assert!(why.contains("outside the root directory of this process"), "{why}");
    // Here the mount is visible, but nothing leads to the device.
    let why = with_root(at, || probe(Path::new("/a")).unwrap_err().to_string());
    assert!(why.contains("is not available here"), "{why}");
}
