//! One change after another, and the end of a tree.

use std::fs;
#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Write};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
use std::time::SystemTime;

use transect::Cancel;
use transect::table::Table;
use transect_live::{LiveTree, WatchMethod};
#[cfg(target_os = "linux")]
use transect_testkit::{Mount, TempDir};

use crate::support::*;

tests! {
    live_tree_changes_of_files_reported,
    live_tree_new_directories_read_and_watched,
    live_tree_many_new_directories_read_and_watched,
    live_tree_renamed_directory_kept_with_changes_below,
    live_tree_renamed_directory_and_one_below_it,
    live_tree_directories_turned_upside_down,
    live_tree_exchanged_directories,
    live_tree_directory_left_changed_and_returned,
    live_tree_removed_and_made_again,
    live_tree_names_of_any_bytes,
    live_tree_hard_links_follow,
    live_tree_changed_file_reported_for_each_name,
    live_tree_times_set_back,
    live_tree_ancestor_renamed_ends,
    live_tree_root_removed_or_renamed_ends,
    live_tree_cancelled_wait_ends,
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

/// Each directory is renamed into the one that was in it. The file is changed while its directory has a path of which only
/// the first name will be known.
fn live_tree_directories_turned_upside_down(watch: &WatchMethod) {
    let temp = tree_of(watch, &["a/b/c/d/file"]);
    let mut tree = open(temp.path(), watch);
    let rename = |from: &str, to: &str| fs::rename(temp.join(from), temp.join(to)).unwrap();
    rename("a/b/c", "new");
    fs::write(temp.join("new/d/file"), "longer than before, much longer").unwrap();
    rename("a/b", "new/1");
    rename("new/d", "new/1/2");
    fs::remove_dir(temp.join("a")).unwrap();
    assert_current(&mut tree);
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
