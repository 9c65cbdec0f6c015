//! Edited tables equal tables of the changed tree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use proptest::prelude::*;
use transect_sys::{Attributes, FieldMask, FileType};
use transect_testkit::TempDir;

use super::*;
use crate::ScanOptions;
use crate::table::{TableBuilder, TableImporter};

fn read(root: &std::path::Path) -> Table {
    let builder = TableBuilder::new(FieldMask::MTIME | FieldMask::FILE_ID);
    let plan = ScanOptions::new([root]).plan().unwrap();
    plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap()
}

/// Returns everything that a view shows of each entry, in the order of names.
#[cfg(not(windows))]
fn facts(table: &Table) -> Vec<String> {
    let roots = table.roots().flat_map(|root| table.subtree(root));
    let mut facts: Vec<String> = roots
        .map(|row| {
            let path = table.path(row);
            let (totals, shared) = (table.totals(row), table.shared(row));
            let (alone, unread) = (table.standalone_usage(row), table.unread_reason(row));
            let type_and_time = (table.file_type(row), table.mtime(row), table.size(row));
            format!("{path:?} {totals:?} {shared} {alone} {unread:?} {type_and_time:?}")
        })
        .collect();
    facts.sort();
    facts.push(format!("{} {} {:?}", table.len(), table.hard_links(), table.grand_total()));
    facts
}

fn find(table: &Table, path: &[&str]) -> Row {
    let root = table.roots().next().unwrap();
    path.iter().fold(root, |row, name| table.child(row, OsStr::new(name)).unwrap())
}

/// Two directories with a file of their own each, and a file with names in both.
fn sample() -> TempDir {
    let temp = TempDir::new();
    for folder in ["one/inner", "two"] {
        fs::create_dir_all(temp.join(folder)).unwrap();
    }
    fs::write(temp.join("one/inner/linked"), vec![1; 50_000]).unwrap();
    fs::hard_link(temp.join("one/inner/linked"), temp.join("two/linked")).unwrap();
    fs::write(temp.join("one/own"), vec![1; 20_000]).unwrap();
    fs::write(temp.join("two/own"), vec![1; 10_000]).unwrap();
    temp
}

#[test]
fn table_without_entries_equals_another_walk() {
    for removed in [&["one", "inner", "linked"][..], &["one", "inner"], &["one"], &["two", "own"]] {
        let temp = sample();
        let before = read(temp.path());
        let row = find(&before, removed);
        // What remains has the times of before.
        let path = before.path(row);
        match path.is_dir() {
            true => fs::remove_dir_all(&path).unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
        let edited = before.without(&RowSet::from_iter([row]), RemovedNames::Deleted).unwrap();
        let without_times = |table: &Table| -> Vec<String> {
            let sums = |row| {
                let totals = table.totals(row);
                let shared = (table.shared(row), table.standalone_usage(row));
                format!(
                    "{:?} {} {} {shared:?}",
                    table.path(row),
                    totals.disk_usage,
                    totals.entries()
                )
            };
            let mut all: Vec<String> =
                table.roots().flat_map(|root| table.subtree(root)).map(sums).collect();
            all.sort();
            all
        };
        let again = read(temp.path());
        assert_eq!(without_times(&edited), without_times(&again), "{removed:?}");
        assert_eq!(edited.hard_links(), again.hard_links(), "{removed:?}");
    }
}

// Without link counts, as in listings of Windows, only names in the table are known.
#[cfg(not(windows))]
#[test]
fn table_without_moved_name_stays_shared() {
    let temp = sample();
    let table = read(temp.path());
    let gone = RowSet::from_iter([find(&table, &["one"])]);
    let edited = table.without(&gone, RemovedNames::Moved).unwrap();
    let linked = find(&edited, &["two", "linked"]);
    assert!(edited.shared(linked) >= 50_000, "its other name is elsewhere");
    let edited = table.without(&gone, RemovedNames::Deleted).unwrap();
    assert_eq!(edited.shared(find(&edited, &["two", "linked"])), 0);
}

#[cfg(not(windows))]
#[test]
fn table_with_directory_read_again_equals_another_walk() {
    let temp = sample();
    let before = read(temp.path());
    assert_eq!(
        facts(&before.without(&RowSet::new(), RemovedNames::Deleted).unwrap()),
        facts(&before)
    );
    let one = find(&before, &["one"]);
    fs::write(temp.join("one/new"), vec![1; 30_000]).unwrap();
    fs::hard_link(temp.join("two/own"), temp.join("one/inner/second")).unwrap();
    fs::remove_file(temp.join("one/own")).unwrap();
    let edited = before.with_directory(one, &read(&temp.join("one"))).unwrap();
    assert_eq!(facts(&edited), facts(&read(temp.path())));
    // A directory that is gone.
    let one = find(&edited, &["one"]);
    fs::remove_dir_all(temp.join("one")).unwrap();
    let nothing = TableImporter::new(FieldMask::empty()).finish().unwrap();
    let edited = edited.with_directory(one, &nothing).unwrap();
    let names: Vec<_> = edited.children(edited.roots().next().unwrap()).collect();
    assert_eq!(names.len(), 1);
    assert_eq!(edited.hard_links(), 0);
}

/// A tree in memory.
#[derive(Clone, Debug)]
enum Node {
    /// The number of a file, of which there can be other names.
    File(u64),
    Directory(Directory),
}

#[derive(Clone, Debug, Default)]
struct Directory {
    mtime: i64,
    is_unread: bool,
    errors: u64,
    entries: BTreeMap<String, Node>,
}

/// What is known of the files outside of the tree.
#[derive(Clone, Debug, Default)]
struct Outside {
    /// The number of names of each file.
    names: BTreeMap<u64, u32>,
}

pub(super) const COLUMNS: FieldMask =
    FieldMask::MTIME.union(FieldMask::FILE_ID).union(FieldMask::NLINK);

impl Directory {
    fn count_names(&self, counts: &mut BTreeMap<u64, u32>) {
        for node in self.entries.values() {
            match node {
                Node::File(number) => *counts.entry(*number).or_default() += 1,
                Node::Directory(directory) => directory.count_names(counts),
            }
        }
    }

    fn own(&self) -> Attributes {
        let mut own = Attributes::of_type(FileType::Directory);
        own.set_mtime(self.mtime);
        own.set_size(0);
        own.set_allocated(4096);
        own
    }

    fn import(&self, name: &str, counts: &BTreeMap<u64, u32>, importer: &mut TableImporter) {
        importer.enter(OsStr::new(name), &self.own());
        for (name, node) in &self.entries {
            match node {
                Node::Directory(directory) => directory.import(name, counts, importer),
                Node::File(number) => {
                    let mut file = Attributes::of_type(FileType::File);
                    file.set_size(1000 + number);
                    file.set_allocated(512 * number);
                    file.set_mtime(*number as i64 * 10);
                    file.set_device(1);
                    file.set_inode(*number);
                    file.set_nlink(counts[number]);
                    importer.add_entry(OsStr::new(name), &file);
                }
            }
        }
        if self.is_unread {
            importer.mark_unread(UnreadReason::Failed(transect_sys::FaultKind::Denied));
        }
        importer.count_errors(self.errors);
        importer.leave().unwrap();
    }

    /// Makes a table of the directory, which is a part of `tree`.
    fn table(&self, tree: &Self, outside: &Outside) -> Table {
        let mut counts = outside.names.clone();
        tree.count_names(&mut counts);
        let mut importer = TableImporter::new(COLUMNS);
        self.import("root", &counts, &mut importer);
        importer.finish().unwrap()
    }

    /// Returns the paths of everything below.
    fn paths(&self, above: &[String], paths: &mut Vec<Vec<String>>) {
        for (name, node) in &self.entries {
            let path = [above, std::slice::from_ref(name)].concat();
            paths.push(path.clone());
            if let Node::Directory(directory) = node {
                directory.paths(&path, paths);
            }
        }
    }

    fn parent_of<'d>(&'d mut self, path: &[String]) -> Option<&'d mut Self> {
        path[..path.len() - 1].iter().try_fold(self, |directory, name| {
            match directory.entries.get_mut(name)? {
                Node::Directory(directory) => Some(directory),
                Node::File(_) => None,
            }
        })
    }
}

fn directory() -> impl Strategy<Value = Directory> {
    let names = || prop::sample::select(vec!["a", "b", "c", "d", "e"]).prop_map(str::to_owned);
    let file = || (1..8u64).prop_map(Node::File);
    let of = |entries| {
        let own =
            (0..100i64, prop::bool::weighted(0.1), prop_oneof![4 => Just(0u64), 1 => 1..3u64]);
        (own, entries).prop_map(|((mtime, is_unread, errors), entries)| Directory {
            mtime,
            is_unread,
            errors,
            entries,
        })
    };
    let leaf = of(prop::collection::btree_map(names(), file(), 0..4).boxed());
    leaf.prop_recursive(3, 30, 5, move |inner| {
        let node = prop_oneof![file(), inner.prop_map(Node::Directory)];
        of(prop::collection::btree_map(names(), node, 0..5).boxed())
    })
}

#[derive(Clone, Debug)]
enum Change {
    /// The entries at these places in the list of paths.
    Remove(Vec<prop::sample::Index>, bool),
    /// The directory at this place, or the root.
    Replace(prop::sample::Index, Directory),
}

fn change() -> impl Strategy<Value = Change> {
    let index = || any::<prop::sample::Index>();
    prop_oneof![
        (prop::collection::vec(index(), 1..4), any::<bool>())
            .prop_map(|(places, moved)| Change::Remove(places, moved)),
        (index(), directory()).prop_map(|(place, directory)| Change::Replace(place, directory)),
    ]
}

/// Returns what a table says about its entries.
pub(super) fn all_facts(table: &Table) -> Vec<String> {
    let mut facts: Vec<String> = table
        .iter()
        .map(|row| {
            assert_eq!(table.row(row.number()), Some(row));
            let selection = table.selection_totals(&[row], &[]);
            let attributes = table.attributes(row);
            let own = (attributes.nlink(), table.errors(row), table.mtime(row), table.size(row));
            let parent = table.parent(row).map(|parent| table.path(parent));
            let alone = (table.shared(row), table.standalone_usage(row), table.unread_reason(row));
            let (path, totals) = (table.path(row), table.totals(row));
            format!("{path:?} in {parent:?}: {totals:?} {alone:?} {own:?} {selection:?}")
        })
        .collect();
    facts.push(format!("{} {} {:?}", table.len(), table.hard_links(), table.grand_total()));
    facts
}

proptest! {
    #[test]
    fn edited_table_equals_table_of_changed_tree(
        mut tree in directory(),
        outside in prop::collection::btree_map(1..8u64, 0..2u32, 0..3),
        changes in prop::collection::vec(change(), 1..8),
    ) {
        let mut outside = Outside { names: outside };
        let mut table = tree.table(&tree, &outside);
        for change in changes {
            let mut paths = Vec::new();
            tree.paths(&[], &mut paths);
            let row_of = |table: &Table, path: &[String]| {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                find(table, &path)
            };
            let untouched = all_facts(&table);
            let edited = match change {
                Change::Remove(places, moved) => {
                    prop_assume!(!paths.is_empty());
                    let gone: Vec<_> = places.iter().map(|place| place.get(&paths).clone()).collect();
                    let rows: RowSet = gone.iter().map(|path| row_of(&table, path)).collect();
                    let mut before = BTreeMap::new();
                    tree.count_names(&mut before);
                    for path in &gone {
                        if let Some(parent) = tree.parent_of(path) {
                            parent.entries.remove(&path[path.len() - 1]);
                        }
                    }
                    if moved {
                        let mut after = BTreeMap::new();
                        tree.count_names(&mut after);
                        for (number, names) in before {
                            let left = after.get(&number).copied().unwrap_or(0);
                            *outside.names.entry(number).or_default() += names - left;
                        }
                    }
                    let names = if moved { RemovedNames::Moved } else { RemovedNames::Deleted };
                    table.without(&rows, names).unwrap()
                }
                Change::Replace(place, new) => {
                    let directories: Vec<_> = std::iter::once(Vec::new())
                        .chain(paths.into_iter().filter(|path| {
                            let parent = tree.parent_of(path).unwrap();
                            matches!(parent.entries[&path[path.len() - 1]], Node::Directory(_))
                        }))
                        .collect();
                    let path = place.get(&directories);
                    let row = row_of(&table, path);
                    match path.last() {
                        None => tree = new.clone(),
                        Some(name) => {
                            let parent = tree.parent_of(path).unwrap();
                            parent.entries.insert(name.clone(), Node::Directory(new.clone()));
                        }
                    }
                    table.with_directory(row, &new.table(&tree, &outside)).unwrap()
                }
            };
            prop_assert_eq!(all_facts(&table), untouched, "the table before has changed");
            table = edited;
            let expected = all_facts(&tree.table(&tree, &outside));
            prop_assert_eq!(&all_facts(&table), &expected);
            prop_assert_eq!(&all_facts(&table.copied().unwrap()), &expected, "a copy");
        }
    }
}

#[test]
fn edited_table_with_sums_beyond_64_bits_counts_again() {
    let table = |names: &[&str]| {
        let mut importer = TableImporter::new(COLUMNS);
        importer.enter(OsStr::new("root"), &Directory::default().own());
        for name in names {
            let mut file = Attributes::of_type(FileType::File);
            file.set_size(u64::MAX - 10);
            file.set_allocated(u64::MAX / 2);
            file.set_nlink(1);
            importer.add_entry(OsStr::new(name), &file);
        }
        importer.finish().unwrap()
    };
    let before = table(&["a", "b", "c"]);
    let gone = RowSet::from_iter([find(&before, &["b"]), find(&before, &["c"])]);
    let edited = before.without(&gone, RemovedNames::Deleted).unwrap();
    assert_eq!(all_facts(&edited), all_facts(&table(&["a"])));
}

#[test]
fn rows_of_large_directory_follow_each_other_through_chunks() {
    let mut importer = TableImporter::new(FieldMask::empty());
    importer.enter(OsStr::new("root"), &Directory::default().own());
    let names: Vec<String> = (0..70_000).map(|number| format!("{number:05}")).collect();
    let file = Attributes::of_type(FileType::File);
    names.iter().for_each(|name| importer.add_entry(OsStr::new(name), &file));
    let table = importer.finish().unwrap();
    let root = table.roots().next().unwrap();
    let mut editor = Editor::new(&table);
    let index = table.index(root).unwrap();
    for shown in [3..70_000, 5..69_990, 5..70, 6..69] {
        let children: Vec<Row> = editor.table.children(root).collect();
        let found = |name: &str| editor.table.child(root, OsStr::new(name)).is_some();
        let stay: Vec<Row> = children
            .into_iter()
            .filter(|&row| {
                shown.contains(&editor.table.name(row).to_str().unwrap().parse().unwrap())
            })
            .collect();
        assert!(found(&names[shown.start]));
        editor.list(index, &stay.iter().copied().map(Listed::Kept).collect::<Vec<_>>()).unwrap();
        let listed: Vec<_> =
            editor.table.children(root).map(|row| editor.table.name(row)).collect();
        assert_eq!(listed, names[shown].iter().map(OsStr::new).collect::<Vec<_>>());
        assert!(editor.table.children(root).all(|row| editor.table.parent(row) == Some(root)));
    }
}

#[test]
fn directory_that_became_a_file_and_one_again() {
    let (file, own) = (Attributes::of_type(FileType::File), Directory::default().own());
    let table = |is_directory: bool| {
        let mut importer = TableImporter::new(COLUMNS);
        importer.enter(OsStr::new("root"), &own);
        match is_directory {
            true => importer.enter(OsStr::new("d"), &own),
            false => importer.add_entry(OsStr::new("d"), &file),
        }
        importer.finish().unwrap()
    };
    let alone = |is_directory: bool| {
        let mut importer = TableImporter::new(COLUMNS);
        match is_directory {
            true => importer.enter(OsStr::new("d"), &own),
            false => importer.add_entry(OsStr::new("d"), &file),
        }
        importer.finish().unwrap()
    };
    let mut edited = table(true);
    for is_directory in [false, true, false] {
        edited = edited.with_directory(find(&edited, &["d"]), &alone(is_directory)).unwrap();
        assert_eq!(all_facts(&edited), all_facts(&table(is_directory)), "{is_directory}");
        let roots: Vec<Row> = edited.roots().collect();
        assert_eq!(edited.selection_totals(&roots, &[]).unread, 0);
    }
}
