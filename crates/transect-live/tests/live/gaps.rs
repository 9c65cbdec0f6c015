//! Notifications were lost, or the tree was not followed.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use transect::Cancel;
use transect_live::{LiveTree, SharedTree, WatchMethod};
use transect_testkit::skip;

use crate::support::*;

tests! {
    live_tree_other_names_known_after_a_gap,
    live_tree_after_a_gap_compared,
    live_tree_after_a_gap_names_first,
    live_tree_after_a_gap_many_directories_gone,
    live_tree_resumed_after_changes,
    shared_tree_after_a_gap_answers_with_what_was_compared,
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
