//! A table without some entries, or with a directory read again: all other rows are copied, and
//! nothing else is read from the disk.
//!
//! Hard links are counted anew, from what both tables know of link counts.

use std::collections::HashMap;
use std::ffi::OsStr;

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FileId, FileType};

use super::directories::Directory;
use super::{Children, Row, RowSet, Table, TableImporter};
use crate::error::{Error, ScanError};
use crate::sink::Diagnostics;

/// What happened to the names of removed entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemovedNames {
    /// They are deleted: their files have fewer names.
    Deleted,
    /// They were moved out of the tree.
    Moved,
}

/// The changes to a table.
struct Edit<'t> {
    removed: &'t RowSet,
    names: RemovedNames,
    /// A directory, and the table that replaces it. Its only root is that directory; without a root,
    /// the directory is removed.
    replaced: Option<(Row, &'t Table)>,
}

/// The files with several names: by row, their ids and link counts.
type LinkedRows = HashMap<Row, (FileId, u32), FixedState>;

/// The files with several names after an edit.
#[derive(Default)]
struct Links {
    own: LinkedRows,
    other: LinkedRows,
    /// The link counts of the files in the directory that was read again: a file elsewhere may have got
    /// a second name there.
    read_again: HashMap<FileId, u32, FixedState>,
}

#[doc(hidden)]
impl Table {
    /// Returns a table without some entries and everything below them.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`], which cannot happen: there are fewer.
    pub fn without(&self, removed: &RowSet, names: RemovedNames) -> Result<Self, Error> {
        self.edited(&Edit { removed, names, replaced: None })
    }

    /// Returns a table in which a directory is replaced by the only root of another table with the same
    /// columns; without a root, the directory is left out. A file outside of the directory that got a
    /// second name in it is recognized only if the tables have file ids.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn with_directory(&self, directory: Row, read_again: &Self) -> Result<Self, Error> {
        let removed = match read_again.roots().len() {
            0 => RowSet::from_iter([directory]),
            _ => RowSet::new(),
        };
        let replaced = Some((directory, read_again));
        self.edited(&Edit { removed: &removed, names: RemovedNames::Deleted, replaced })
    }

    fn edited(&self, edit: &Edit<'_>) -> Result<Self, Error> {
        let links = self.links(edit);
        let mut importer = TableImporter::new(self.columns());
        let mut open: Vec<(&Self, Children)> =
            vec![(self, self.directory_at(Directory::TOP).children())];
        while let Some((table, rows)) = open.last_mut() {
            let table = *table;
            let Some(row) = rows.next() else {
                open.pop();
                if !open.is_empty() {
                    // Two entries of one name were also in the table before.
                    let _ = importer.leave();
                }
                continue;
            };
            let is_own = std::ptr::eq(table, self);
            if is_own && edit.removed.contains(row) {
                continue;
            }
            let name = table.name(row);
            match edit.replaced {
                Some((directory, other)) if is_own && directory == row => {
                    if let Some(root) = other.roots().next() {
                        copy(&mut importer, &mut open, (other, root, name), &links.other, &links);
                    }
                }
                _ => {
                    let names = if is_own { &links.own } else { &links.other };
                    copy(&mut importer, &mut open, (table, row, name), names, &links);
                }
            }
        }
        importer.set_diagnostics(self.diagnostics_after(edit));
        importer.finish()
    }

    fn links(&self, edit: &Edit<'_>) -> Links {
        let mut links = Links::default();
        if let Some((_, table)) = edit.replaced {
            for file in table.linked_files() {
                let entry = (file.id, file.link_count);
                links.read_again.insert(file.id, file.link_count);
                links.other.extend(file.rows.iter().map(|&row| (Row(row), entry)));
            }
        }
        for file in self.linked_files() {
            let rows = file.rows;
            let stays = |&&row: &&u32| !self.is_in(Row(row), edit);
            let names = rows.iter().filter(stays).count();
            let gone = (rows.len() - names) as u32;
            let deleted = if edit.names == RemovedNames::Deleted { gone } else { 0 };
            let known = file.link_count.saturating_sub(deleted);
            let count = links.read_again.get(&file.id).copied().unwrap_or(known);
            let entry = (file.id, count);
            links.own.extend(rows.iter().filter(stays).map(|&row| (Row(row), entry)));
        }
        links
    }

    /// Returns whether an entry is removed or replaced.
    fn is_in(&self, row: Row, edit: &Edit<'_>) -> bool {
        let is_changed = |row: Row| {
            edit.removed.contains(row)
                || edit.replaced.is_some_and(|(directory, _)| directory == row)
        };
        std::iter::successors(Some(row), |&row| self.parent(row)).any(is_changed)
    }

    /// Returns the diagnostics after an edit. The counts by kind are those of before: only errors are
    /// known by directory.
    fn diagnostics_after(&self, edit: &Edit<'_>) -> Diagnostics {
        let mut diagnostics = self.diagnostics.counts();
        let mut gone: Vec<Row> = edit.removed.iter().collect();
        gone.extend(edit.replaced.map(|(directory, _)| directory));
        let gone = self.outermost(gone);
        let lost: u64 = gone.iter().map(|&row| self.errors(row)).sum();
        diagnostics.errors = diagnostics.errors.saturating_sub(lost);
        let with_errors = gone.into_iter().filter(|&row| self.errors(row) > 0);
        let paths: Vec<_> = with_errors.map(|row| self.path(row)).collect();
        let stays = |error: &&ScanError| !paths.iter().any(|gone| error.path().starts_with(gone));
        let here = self.diagnostics.kept_errors.iter().filter(stays);
        diagnostics.kept_errors = here.cloned().collect();
        if let Some((_, other)) = edit.replaced.filter(|(_, other)| other.roots().len() > 0) {
            diagnostics.errors += other.diagnostics.errors;
            diagnostics.vanished += other.diagnostics.vanished;
            diagnostics.kept_errors.extend(other.diagnostics.kept_errors.iter().cloned());
        }
        diagnostics
    }
}

/// Copies an entry; the content of a directory follows.
fn copy<'t>(
    importer: &mut TableImporter,
    open: &mut Vec<(&'t Table, Children)>,
    (table, row, name): (&'t Table, Row, &OsStr),
    linked: &LinkedRows,
    links: &Links,
) {
    let mut attributes: Attributes = table.attributes(row);
    if attributes.file_type() != FileType::Directory {
        let known = linked.get(&row).copied();
        let same = || attributes.file_id().filter(|_| !links.read_again.is_empty());
        let named_again = || same().and_then(|id| Some((id, *links.read_again.get(&id)?)));
        match known.or_else(named_again) {
            Some((id, link_count)) => {
                attributes.set_device(id.device);
                attributes.set_inode(id.inode);
                // 0 is unknown.
                if link_count > 0 {
                    attributes.set_nlink(link_count);
                }
            }
            None => attributes.set_nlink(1),
        }
    }
    // A directory below the maximum depth was not entered.
    if table.index(row).is_none() {
        importer.add_entry(name, &attributes);
        return;
    }
    importer.enter(name, &attributes);
    if let Some(why) = table.why_unread(row) {
        importer.mark_unread(why);
    }
    // Errors are counted with everything below; here, those of the directory itself are needed.
    let errors = table.errors(row);
    if errors > 0 {
        let below: u64 = table.children(row).map(|child| table.errors(child)).sum();
        importer.count_errors(errors.saturating_sub(below));
    }
    open.push((table, table.children(row)));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transect_sys::FieldMask;
    use transect_testkit::TempDir;

    use super::*;
    use crate::ScanOptions;
    use crate::table::TableBuilder;

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
        for removed in
            [&["one", "inner", "linked"][..], &["one", "inner"], &["one"], &["two", "own"]]
        {
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
}
