//! Trees that are read with the metadata of a snapshot.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;

use transect::{Error, FieldMask, ScanOptions};
use transect_snapshot::{LiveTree, Scope};
use transect_testkit::TempDir;

fn tree() -> TempDir {
    let temp = TempDir::new();
    fs::create_dir(temp.join("directory")).unwrap();
    fs::write(temp.join("directory/file"), "123").unwrap();
    temp
}

fn scope(options: ScanOptions) -> Scope {
    let tree = LiveTree::read(options, FieldMask::MTIME).unwrap();
    tree.metadata().scope.unwrap()
}

#[test]
fn live_tree_has_times_and_attributes_of_its_walk() {
    let temp = tree();
    let tree = LiveTree::read(ScanOptions::new([temp.path()]), FieldMask::MTIME).unwrap();
    let metadata = tree.metadata();
    assert_eq!(tree.table().len(), 3);
    assert!(metadata.complete && metadata.fields().contains(FieldMask::MTIME));
    assert!(metadata.started.unwrap() <= metadata.ended.unwrap());
}

#[test]
fn live_tree_scope_filtered_by_any_filter_and_depth() {
    let temp = tree();
    let all = || ScanOptions::new([temp.path()]);
    assert_eq!(scope(all()), Scope::default());
    assert!(scope(all().filter_entry(|_| true)).filtered);
    assert!(scope(all().max_depth(1)).filtered && scope(all().min_depth(1)).filtered);
    let mut hidden = all();
    hidden.filters.exclude_hidden = true;
    assert!(scope(hidden).filtered);
    let elsewhere = scope(all().follow_links(true).same_file_system(true));
    assert!(elsewhere.follow && elsewhere.one_file_system && !elsewhere.filtered);
}

#[test]
fn live_tree_missing_root_is_an_error() {
    let temp = tree();
    let missing = LiveTree::read(ScanOptions::new([temp.join("none")]), FieldMask::empty());
    assert!(matches!(missing, Err(Error::Root(_))), "{missing:?}");
}
