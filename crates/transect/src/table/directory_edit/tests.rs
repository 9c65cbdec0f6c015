//! Tables whose directories were changed one by one equal tables of the changed tree.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use transect_sys::dir_handle::DirHandle;
use transect_sys::{FieldMask, file};
use transect_testkit::TempDir;

use super::*;
use crate::table::{RemovedNames, RowSet, SubtreeTotals};

fn read(root: &Path) -> Table {
    Table::read_with(crate::ScanOptions::new([root]), FieldMask::MTIME | FieldMask::FILE_ID)
        .unwrap()
}

/// What a view shows of each entry.
fn facts(table: &Table) -> Vec<(PathBuf, SubtreeTotals, u64, u64, Option<u64>)> {
    let fact = |row| {
        let inode = table.attributes(row).inode();
        let (shared, alone) = (table.shared(row), table.standalone_usage(row));
        (table.path(row), table.totals(row), shared, alone, inode)
    };
    let mut facts: Vec<_> = table.iter().map(fact).collect();
    facts.sort_by(|a, b| a.0.cmp(&b.0));
    facts
}

/// Applies what differs on the disk: in each directory first what is there, then what is gone.
fn follow(table: &Table, root: &Path) -> Table {
    let mut editor = TableEditor::new(table);
    let directories = table.iter().filter_map(|row| table.directory_id(row));
    let known: HashMap<_, _> = directories
        .map(|id| (table.attributes(table.directory_row(id).unwrap()).file_id(), id))
        .collect();
    let mut open = vec![(root.to_owned(), known[&query(root).file_id()])];
    let mut gone = Vec::new();
    while let Some((path, id)) = open.pop() {
        let mut there = BTreeSet::new();
        let handle = DirHandle::open(&path).unwrap();
        handle.for_each_name(&mut |name| _ = there.insert(name.to_owned())).unwrap();
        let changes: Vec<_> = there
            .iter()
            .map(|name| {
                let now = query(&path.join(name));
                let directory = known.get(&now.file_id()).copied();
                EntryChange { name, now: Some(now), directory }
            })
            .collect();
        let ids = editor.change(id, Some(&query(&path)), &changes).unwrap();
        editor.mark_read(id);
        open.extend(there.iter().zip(ids).filter_map(|(name, id)| Some((path.join(name), id?))));
        let row = editor.table().directory_row(id).unwrap();
        let names: HashSet<OsString> =
            editor.table().children(row).map(|row| editor.table().name(row).to_owned()).collect();
        let mut lost: Vec<OsString> =
            names.into_iter().filter(|name| !there.contains(name)).collect();
        lost.sort();
        gone.push((id, lost));
    }
    for (id, names) in gone {
        let gone = names.iter().map(|name| EntryChange { name, now: None, directory: None });
        editor.change(id, None, &gone.collect::<Vec<_>>()).unwrap();
    }
    editor.finish().unwrap().0
}

fn query(path: &Path) -> Attributes {
    file::query_attributes(path, FieldMask::all(), false).unwrap()
}

#[track_caller]
fn assert_followed(before: &Table, root: &Path) -> Table {
    let (edited, again) = (follow(before, root), read(root));
    assert_eq!(facts(&edited), facts(&again));
    assert_eq!(edited.hard_links(), again.hard_links());
    let (copy, ids) = edited.renumbered().unwrap();
    assert_eq!(facts(&copy), facts(&again));
    for row in edited.iter() {
        let Some(id) = edited.directory_id(row) else { continue };
        let new = copy.directory_row(ids.id(id).unwrap()).unwrap();
        assert_eq!(copy.path(new), edited.path(row));
    }
    edited
}

#[test]
fn table_directories_changed_one_by_one_equal_another_walk() {
    let temp = TempDir::new();
    let at = |path: &str| temp.join(path);
    for path in ["a/b/c", "d/e", "f"] {
        fs::create_dir_all(at(path)).unwrap();
        fs::write(at(path).join("file"), path.repeat(2000)).unwrap();
    }
    fs::hard_link(at("a/b/c/file"), at("d/e/linked")).unwrap();
    let mut table = read(temp.path());
    let rename = |from: &str, to: &str| fs::rename(at(from), at(to)).unwrap();
    let steps: [&dyn Fn(); 9] = [
        &|| fs::write(at("d/e/linked"), "short").unwrap(),
        &|| rename("a/b", "d/e/b"),
        &|| fs::hard_link(at("f/file"), at("d/second")).unwrap(),
        // Two directories exchange their names.
        &|| {
            rename("d/e", "f/x");
            rename("a", "d/e");
            rename("f/x", "a");
        },
        // A directory is replaced by one that was below it.
        &|| {
            rename("a/b/c", "f/c");
            fs::remove_dir_all(at("a")).unwrap();
            rename("f/c", "a");
        },
        &|| fs::remove_file(at("d/second")).unwrap(),
        &|| {
            fs::remove_dir_all(at("f")).unwrap();
            fs::write(at("f"), "a file").unwrap();
        },
        &|| fs::create_dir_all(at("d/new/deep")).unwrap(),
        &|| {
            fs::remove_dir_all(at("d")).unwrap();
            fs::create_dir(at("d")).unwrap();
        },
    ];
    for step in steps {
        step();
        table = assert_followed(&table, temp.path());
    }
}

/// By both kinds of edits.
#[test]
fn table_directory_removed_by_earlier_edit_does_not_return() {
    let temp = TempDir::new();
    fs::create_dir_all(temp.join("a/b/c")).unwrap();
    fs::write(temp.join("a/b/c/file"), "12345").unwrap();
    fs::write(temp.join("a/stays"), "123").unwrap();
    let table = read(temp.path());
    let root = table.roots().next().unwrap();
    let a = table.child(root, "a".as_ref()).unwrap();
    let b = table.child(a, "b".as_ref()).unwrap();
    let c = table.child(b, "c".as_ref()).unwrap();
    let ids = [root, a, b, c].map(|row| table.directory_id(row).unwrap());
    let [root_id, a_id, b_id, c_id] = ids;
    let gone = EntryChange { name: "b".as_ref(), now: None, directory: None };
    let mut editor = TableEditor::new(&table);
    editor.change(a_id, None, &[gone]).unwrap();
    let other = table.without(&RowSet::from_iter([b]), RemovedNames::Deleted).unwrap();
    for without in [editor.finish().unwrap().0, other] {
        let mut editor = TableEditor::new(&without);
        let (name, now) = ("new".as_ref(), query(&temp.join("a/b/c")));
        for id in [b_id, c_id] {
            let lost = EntryChange { name, now: Some(now), directory: None };
            assert_eq!(editor.change(id, Some(&now), &[lost]).unwrap(), [None]);
        }
        let change = EntryChange { name, now: Some(now), directory: Some(c_id) };
        let new = editor.change(root_id, None, &[change]).unwrap()[0].unwrap();
        assert_ne!(new, c_id);
        let edited = editor.finish().unwrap().0;
        let row = edited.directory_row(new).unwrap();
        assert_eq!(edited.children(row).len(), 0);
        let total = edited.grand_total();
        assert_eq!((total.entries(), total.files, total.apparent), (4, 1, 3));
    }
}

/// A name that is gone is noticed after the link count without it was queried, and after another name.
#[test]
fn edits_links_stay_together_whatever_order_they_are_noticed_in() {
    let temp = TempDir::new();
    let path = |name: &str| temp.join(name);
    fs::write(path("a"), "12345").unwrap();
    fs::hard_link(path("a"), path("b")).unwrap();
    let before = read(temp.path());
    fs::hard_link(path("a"), path("c")).unwrap();
    fs::remove_file(path("b")).unwrap();
    let edit = |table: &Table, changes: &[(&str, bool)]| {
        let mut editor = TableEditor::new(table);
        let root = table.directory_id(table.roots().next().unwrap()).unwrap();
        let names: Vec<_> = changes.iter().map(|(name, _)| OsString::from(name)).collect();
        let changes = names.iter().zip(changes).map(|(name, (_, is_there))| EntryChange {
            name,
            now: is_there.then(|| query(&temp.join(name))),
            directory: None,
        });
        editor.change(root, None, &changes.collect::<Vec<_>>()).unwrap();
        editor.finish().unwrap().0
    };
    let noticed = edit(&before, &[("a", true), ("c", true)]);
    let noticed = edit(&noticed, &[("b", false)]);
    for table in [&noticed, &noticed.renumbered().unwrap().0] {
        let root = table.roots().next().unwrap();
        for name in ["a", "c"] {
            let row = table.child(root, name.as_ref()).unwrap();
            assert_eq!(table.link_count(row), Some(2), "{name}");
        }
        assert_eq!(table.hard_links(), 1);
    }
    fs::write(path("c"), "1234567").unwrap();
    let written = edit(&noticed.renumbered().unwrap().0, &[("c", true)]);
    let row = written.child(written.roots().next().unwrap(), "a".as_ref()).unwrap();
    assert_eq!(written.size(row), Some(7), "by its other name");
}
