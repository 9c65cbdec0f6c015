//! A tree that several readers share.

use std::fs;

use transect::Cancel;
use transect_live::{ChangeKind, LiveTree, SharedTree};
use transect_testkit::TempDir;

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
