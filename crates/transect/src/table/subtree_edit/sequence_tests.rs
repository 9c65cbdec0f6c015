//! Tables whose directories were changed one by one equal tables of the changed tree, in random sequences.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use proptest::prelude::*;
use proptest::sample::Index;
use transect_sys::{Attributes, FaultKind, FileType};

use super::tests::{COLUMNS, all_facts};
use super::*;
use crate::table::{DirectoryId, EntryChange, TableEditor, TableImporter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    File(u64),
    Directory(u32),
}

#[derive(Clone, Debug, Default)]
struct Folder {
    mtime: i64,
    errors: u64,
    is_unread: bool,
    entries: BTreeMap<String, Entry>,
}

/// A tree in memory; the root is directory 0.
#[derive(Clone, Debug, Default)]
struct Tree {
    folders: BTreeMap<u32, Folder>,
    /// The size and time of each file.
    files: BTreeMap<u64, (u64, i64)>,
    outside: BTreeMap<u64, u32>,
    next: u32,
}

#[derive(Clone, Debug)]
enum Change {
    Create(Index, usize, u64),
    MakeDirectory(Index, usize, bool),
    Link(Index, Index, usize),
    LinkOutside(Index, bool),
    Write(Index, u64),
    Remove(Index),
    Rename(Index, Index, usize),
    Exchange(Index, Index),
    Touch(Index, i64),
    ReadAgain(Index),
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Tree {
    fn new() -> Self {
        let mut tree = Self::default();
        tree.folders.insert(0, Folder::default());
        tree.next = 1;
        tree
    }

    /// All directories in the tree, parents first, and entries.
    fn walk(&self) -> (Vec<u32>, Vec<(u32, String)>) {
        let (mut folders, mut entries, mut at) = (vec![0], Vec::new(), 0);
        while at < folders.len() {
            for (name, &entry) in &self.folders[&folders[at]].entries {
                entries.push((folders[at], name.clone()));
                if let Entry::Directory(number) = entry {
                    folders.push(number);
                }
            }
            at += 1;
        }
        (folders, entries)
    }

    fn entry(&self, at: &(u32, String)) -> Entry {
        self.folders[&at.0].entries[&at.1]
    }

    fn is_in_or_below(&self, folder: u32, above: u32) -> bool {
        folder == above
            || self.folders[&above].entries.values().any(
                |&entry| matches!(entry, Entry::Directory(it) if self.is_in_or_below(folder, it)),
            )
    }

    fn counts(&self) -> BTreeMap<u64, u32> {
        let mut counts = self.outside.clone();
        for at in self.walk().1 {
            if let Entry::File(number) = self.entry(&at) {
                *counts.entry(number).or_default() += 1;
            }
        }
        counts
    }

    fn apply(&mut self, change: &Change) {
        let (folders, entries) = self.walk();
        let counts = self.counts();
        match change {
            Change::Create(place, name, number) => {
                let (folder, name) = (*place.get(&folders), NAMES[*name].to_owned());
                if !counts.contains_key(number) {
                    self.files.insert(*number, (1000 + number * 3, *number as i64 * 10));
                }
                let entries = &mut self.folders.get_mut(&folder).unwrap().entries;
                entries.insert(name, Entry::File(*number));
            }
            Change::MakeDirectory(place, name, is_unread) => {
                let (folder, name) = (*place.get(&folders), NAMES[*name].to_owned());
                let number = self.next;
                self.next += 1;
                let (mtime, errors) = (i64::from(number) * 7 % 50, u64::from(*is_unread));
                let new = Folder { mtime, errors, is_unread: *is_unread, ..Folder::default() };
                self.folders.insert(number, new);
                let entries = &mut self.folders.get_mut(&folder).unwrap().entries;
                entries.insert(name, Entry::Directory(number));
            }
            Change::ReadAgain(place) => {
                let folder = self.folders.get_mut(place.get(&folders)).unwrap();
                folder.is_unread = !folder.is_unread;
                folder.errors =
                    if folder.is_unread { folder.errors + 1 } else { folder.errors - 1 };
            }
            Change::Touch(place, mtime) => {
                self.folders.get_mut(place.get(&folders)).unwrap().mtime = *mtime;
            }
            _ if entries.is_empty() => {}
            Change::Link(from, place, name) => {
                if let file @ Entry::File(_) = self.entry(from.get(&entries)) {
                    let folder = self.folders.get_mut(place.get(&folders)).unwrap();
                    folder.entries.insert(NAMES[*name].to_owned(), file);
                }
            }
            Change::LinkOutside(from, more) => {
                if let Entry::File(number) = self.entry(from.get(&entries)) {
                    let names = self.outside.entry(number).or_default();
                    *names = if *more { *names + 1 } else { names.saturating_sub(1) };
                }
            }
            Change::Write(at, size) => {
                if let Entry::File(number) = self.entry(at.get(&entries)) {
                    self.files.insert(number, (*size, *size as i64 % 100));
                }
            }
            Change::Remove(at) => {
                let (folder, name) = at.get(&entries);
                self.folders.get_mut(folder).unwrap().entries.remove(name);
            }
            Change::Rename(from, place, name) => {
                let (from, to) = (from.get(&entries), *place.get(&folders));
                let moved = self.entry(from);
                if matches!(moved, Entry::Directory(number) if self.is_in_or_below(to, number)) {
                    return;
                }
                if let Entry::Directory(number) = moved {
                    self.folders.get_mut(&number).unwrap().mtime += 1;
                }
                self.folders.get_mut(&from.0).unwrap().entries.remove(&from.1);
                self.folders.get_mut(&to).unwrap().entries.insert(NAMES[*name].to_owned(), moved);
            }
            Change::Exchange(a, b) => {
                let (a, b) = (a.get(&entries), b.get(&entries));
                let (at_a, at_b) = (self.entry(a), self.entry(b));
                let contains = |outer, inner: &(u32, String)| matches!(outer, Entry::Directory(it) if self.is_in_or_below(inner.0, it));
                if contains(at_a, b) || contains(at_b, a) {
                    return;
                }
                self.folders.get_mut(&a.0).unwrap().entries.insert(a.1.clone(), at_b);
                self.folders.get_mut(&b.0).unwrap().entries.insert(b.1.clone(), at_a);
            }
        }
        // What is no longer in the tree has no names; its number may be used again.
        let counts = self.counts();
        self.outside.retain(|_, names| *names > 0);
        self.files.retain(|number, _| counts.get(number).is_some_and(|&names| names > 0));
    }

    fn attributes(&self, entry: Entry, counts: &BTreeMap<u64, u32>) -> Attributes {
        match entry {
            Entry::Directory(number) => {
                let mut own = Attributes::of_type(FileType::Directory);
                own.set_mtime(self.folders[&number].mtime);
                own.set_size(0);
                own.set_allocated(4096);
                own
            }
            Entry::File(number) => {
                let (size, mtime) = self.files[&number];
                let mut file = Attributes::of_type(FileType::File);
                file.set_size(size);
                file.set_allocated(512 * (size % 37));
                file.set_mtime(mtime);
                file.set_device(1);
                file.set_inode(number);
                file.set_nlink(counts[&number]);
                file
            }
        }
    }

    fn import(&self, name: &str, number: u32, counts: &BTreeMap<u64, u32>, to: &mut TableImporter) {
        to.enter(OsStr::new(name), &self.attributes(Entry::Directory(number), counts));
        let folder = &self.folders[&number];
        for (name, &entry) in &folder.entries {
            match entry {
                Entry::Directory(number) => self.import(name, number, counts, to),
                Entry::File(_) => to.add_entry(OsStr::new(name), &self.attributes(entry, counts)),
            }
        }
        if folder.is_unread {
            to.mark_unread(UnreadReason::Failed(FaultKind::Denied));
        }
        to.count_errors(folder.errors);
        to.leave().unwrap();
    }

    fn errors(&self) -> u64 {
        self.walk().0.iter().map(|folder| self.folders[folder].errors).sum()
    }

    fn table(&self) -> Table {
        let mut importer = TableImporter::new(COLUMNS);
        self.import("root", 0, &self.counts(), &mut importer);
        let mut table = importer.finish().unwrap();
        std::sync::Arc::make_mut(&mut table.diagnostics).errors = self.errors();
        table
    }
}

type Ids = BTreeMap<u32, DirectoryId>;

fn ids_of(tree: &Tree, table: &Table) -> Ids {
    let mut ids = Ids::new();
    let mut open = vec![(0, table.roots().next().unwrap())];
    while let Some((number, row)) = open.pop() {
        ids.insert(number, table.directory_id(row).unwrap());
        for (name, &entry) in &tree.folders[&number].entries {
            if let Entry::Directory(below) = entry {
                open.push((below, table.child(row, OsStr::new(name)).unwrap()));
            }
        }
    }
    ids
}

/// Applies the differences between two trees: found names first, gone names after.
fn follow(table: &Table, ids: &mut Ids, before: &Tree, after: &Tree) -> Table {
    let mut editor = TableEditor::new(table);
    let counts = after.counts();
    let (known, _) = before.walk();
    let known: BTreeSet<u32> = known.into_iter().collect();
    let none = BTreeMap::new();
    let mut gone = Vec::new();
    let mut mentioned = BTreeSet::new();
    // What remains of each file under the same name is enough to learn of its change.
    for number in after.walk().0 {
        let id = ids[&number];
        let folder = &after.folders[&number];
        let old = if known.contains(&number) { &before.folders[&number].entries } else { &none };
        let mut changes = Vec::new();
        for (name, &entry) in &folder.entries {
            let now = after.attributes(entry, &counts);
            let is_new = old.get(name) != Some(&entry);
            let is_changed = match entry {
                Entry::Directory(below) => {
                    known.contains(&below)
                        && after.folders[&below].mtime % 2 == 1
                        && after.folders[&below].mtime != before.folders[&below].mtime
                }
                Entry::File(file) => {
                    !is_new
                        && (before.files.get(&file) != after.files.get(&file)
                            || before.outside.get(&file) != after.outside.get(&file))
                }
            };
            let first_mention = match entry {
                Entry::File(file) => is_changed && mentioned.insert(file),
                Entry::Directory(_) => is_changed,
            };
            if is_new || first_mention {
                let directory = match entry {
                    Entry::Directory(below) if known.contains(&below) => Some(ids[&below]),
                    _ => None,
                };
                changes.push((
                    name,
                    entry,
                    EntryChange { name: OsStr::new(name), now: Some(now), directory },
                ));
            }
        }
        let own_changed = known.contains(&number)
            && (folder.mtime % 2 == 0 || number == 0)
            && folder.mtime != before.folders[&number].mtime;
        let own = after.attributes(Entry::Directory(number), &counts);
        let sent: Vec<_> = changes.iter().map(|change| change.2).collect();
        let found = editor.change(id, own_changed.then_some(&own), &sent).unwrap();
        assert_eq!(found.len(), sent.len());
        for ((_, entry, change), found) in changes.iter().zip(found) {
            match entry {
                Entry::Directory(below) if change.directory.is_none() => {
                    ids.insert(*below, found.unwrap());
                }
                _ => assert_eq!(found, change.directory),
            }
        }
        let was_unread = known.contains(&number).then(|| before.folders[&number].is_unread);
        if was_unread != Some(folder.is_unread) {
            if folder.is_unread {
                let path = editor.table().path(editor.table().directory_row(id).unwrap());
                let error = ScanError::new(
                    crate::error::Operation::OpenDirectory,
                    path,
                    0,
                    std::io::Error::from(std::io::ErrorKind::PermissionDenied),
                );
                editor.mark_unread(id, UnreadReason::Failed(FaultKind::Denied), Some(error));
            } else {
                editor.mark_read(id);
            }
        }
        let lost: Vec<&String> =
            old.keys().filter(|name| !folder.entries.contains_key(*name)).collect();
        gone.push((id, lost));
    }
    for (id, lost) in gone {
        let lost: Vec<_> = lost
            .iter()
            .map(|name| EntryChange { name: OsStr::new(name), now: None, directory: None })
            .collect();
        editor.change(id, None, &lost).unwrap();
    }
    editor.finish().unwrap().0
}

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<Index>();
    let name = || 0..NAMES.len();
    prop_oneof![
        4 => (at(), name(), 1..8u64).prop_map(|(a, b, c)| Change::Create(a, b, c)),
        4 => (at(), name(), prop::bool::weighted(0.15)).prop_map(|(a, b, c)| Change::MakeDirectory(a, b, c)),
        2 => (at(), at(), name()).prop_map(|(a, b, c)| Change::Link(a, b, c)),
        1 => (at(), any::<bool>()).prop_map(|(a, b)| Change::LinkOutside(a, b)),
        2 => (at(), 0..100_000u64).prop_map(|(a, b)| Change::Write(a, b)),
        2 => at().prop_map(Change::Remove),
        4 => (at(), at(), name()).prop_map(|(a, b, c)| Change::Rename(a, b, c)),
        2 => (at(), at()).prop_map(|(a, b)| Change::Exchange(a, b)),
        1 => (at(), 0..100i64).prop_map(|(a, b)| Change::Touch(a, b)),
        1 => at().prop_map(Change::ReadAgain),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn table_changed_by_name_equals_table_of_changed_tree(
        first in prop::collection::vec(change(), 0..30),
        batches in prop::collection::vec((prop::collection::vec(change(), 0..6), prop::bool::weighted(0.1)), 1..8),
    ) {
        let mut tree = Tree::new();
        first.iter().for_each(|change| tree.apply(change));
        let mut table = tree.table();
        let mut ids = ids_of(&tree, &table);
        for (batch, renumber) in batches {
            let before = tree.clone();
            batch.iter().for_each(|change| tree.apply(change));
            let untouched = all_facts(&table);
            let edited = follow(&table, &mut ids, &before, &tree);
            prop_assert_eq!(all_facts(&table), untouched, "the table before has changed");
            table = edited;
            let expected = all_facts(&tree.table());
            prop_assert_eq!(&all_facts(&table), &expected);
            prop_assert_eq!(table.diagnostics.errors, tree.errors(), "counted errors");
            let (copy, renumbering) = table.renumbered().unwrap();
            prop_assert_eq!(&all_facts(&copy), &expected, "a copy");
            let (living, _) = tree.walk();
            for folder in &living {
                let row = table.directory_row(ids[folder]).unwrap();
                let new = copy.directory_row(renumbering.id(ids[folder]).unwrap()).unwrap();
                prop_assert_eq!(table.path(row), copy.path(new));
            }
            let living: BTreeSet<u32> = living.into_iter().collect();
            for (folder, &id) in &ids {
                prop_assert_eq!(table.directory_row(id).is_some(), living.contains(folder));
            }
            ids.retain(|folder, _| living.contains(folder));
            if renumber {
                ids.values_mut().for_each(|id| *id = renumbering.id(*id).unwrap());
                table = copy;
            }
        }
    }
}

#[test]
fn directory_in_itself_or_at_two_names_is_unread_there() {
    let mut before = Tree::new();
    for (number, parent) in [(1, 0), (2, 1)] {
        before.folders.insert(number, Folder::default());
        let entries = &mut before.folders.get_mut(&parent).unwrap().entries;
        entries.insert("a".to_owned(), Entry::Directory(number));
    }
    let table = before.table();
    let ids = ids_of(&before, &table);
    let (root, outer, inner) = (ids[&0], ids[&1], ids[&2]);
    let counts = BTreeMap::new();
    let now = Some(before.attributes(Entry::Directory(1), &counts));
    let put =
        |name, directory| EntryChange { name: OsStr::new(name), now, directory: Some(directory) };
    let mut editor = TableEditor::new(&table);
    for within in [outer, inner] {
        let ids = editor.change(within, None, &[put("x", outer)]).unwrap();
        let new = ids[0].unwrap();
        assert!(new != outer);
        let row = editor.table().directory_row(new).unwrap();
        assert_eq!(editor.table().unread_reason(row), Some(UnreadReason::Unvisited));
    }
    let twice = editor.change(root, None, &[put("x", inner), put("y", inner)]).unwrap();
    assert!(twice[0] == Some(inner) && twice[1] != Some(inner));
    let table = editor.finish().unwrap().0;
    assert_eq!(table.grand_total().directories, 6);
    assert_eq!(table.iter().count(), 6);
}
