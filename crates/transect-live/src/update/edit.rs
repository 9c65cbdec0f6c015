//! Queries names, puts what is found into the table, and reports what changed.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use transect::table::{DirectoryId, EntryChange, Row};
use transect::{Attributes, Error, FileType, Operation};
use transect_sys::dir_handle::{DirHandle, MountPolicy};

use super::{MAX_ATTEMPTS, NewDirectory, Pass};
use crate::change::{Change, ChangeKind};
use crate::mirror::{COLUMNS, names_above};
use crate::suspects::Names;

impl Pass<'_> {
    /// Queries names in an open directory, and applies what was found. Returns whether all could be queried.
    pub(super) fn query(
        &mut self,
        directory: DirectoryId,
        handle: &DirHandle,
        own: &Attributes,
        names: &BTreeSet<OsString>,
    ) -> Result<bool, Error> {
        let (mut found, mut gone, mut is_complete) = (Vec::new(), Vec::new(), true);
        for name in names {
            match handle.entry_attributes(name) {
                Ok(attributes) => match handle.other_spelling(name) {
                    None => found.push((name.as_os_str(), attributes)),
                    Some(stored) => {
                        gone.push(name.clone());
                        // What changed may be below it.
                        let names = names_above(self.table(), directory);
                        let path = names.map(|names| names.into_iter().chain([&*stored]).collect());
                        self.renamed.extend(path);
                        let stored = Names::These(BTreeSet::from([stored]));
                        self.queue.push_back((directory, stored, MAX_ATTEMPTS));
                    }
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => gone.push(name.clone()),
                Err(error) => {
                    is_complete = false;
                    self.fail(directory, Operation::Stat, error);
                }
            }
        }
        if !gone.is_empty() {
            let table = self.editor.table();
            let rows =
                gone.iter().filter_map(|name| table.child(table.directory_row(directory)?, name));
            self.gone_directories.extend(rows.filter_map(|row| table.directory_id(row)));
            self.gone.entry(directory).or_default().extend(gone);
        }
        self.place(directory, handle, own, &found)?;
        Ok(is_complete)
    }

    /// Puts what was found in a directory into the table.
    fn place(
        &mut self,
        directory: DirectoryId,
        handle: &DirHandle,
        own: &Attributes,
        found: &[(&OsStr, Attributes)],
    ) -> Result<(), Error> {
        let Some(row) = self.table().directory_row(directory) else { return Ok(()) };
        let mut changes = Vec::new();
        for &(name, mut attributes) in found {
            let is_directory = attributes.file_type() == FileType::Directory;
            let link_count = attributes.nlink().filter(|_| !is_directory);
            attributes.retain(COLUMNS);
            if let Some(count) = link_count {
                attributes.set_nlink(count);
            }
            let before = self.table().child(row, name);
            let before_id = before.and_then(|row| self.table().directory_id(row));
            let known = attributes.file_id().filter(|_| is_directory);
            let mut known = known.and_then(|id| self.tree.places.with_file_id(id));
            if known != before_id && is_directory && is_mount_point(handle, name) {
                known = None;
            }
            known.map(|known| self.gone_directories.remove(&known));
            if let Some(before) = before
                && known == before_id
                && is_same(&self.table().attributes(before), &attributes)
                && (!is_directory || known.is_some())
            {
                // Another name may have gone since: the table then counts down from what was queried now.
                if link_count.is_some_and(|count| count > 1) {
                    changes.push(EntryChange { name, now: Some(attributes), directory: None });
                }
                continue;
            }
            if known.is_some_and(|known| self.is_in_or_below(directory, known)) {
                // Another mount of a directory above.
                known = None;
            }
            if known != before_id && known.is_some_and(|known| self.is_below_placed(known)) {
                // It is not where the table has it any more, so it is read as a new one.
                known = None;
            }
            let moved = known.filter(|_| known != before_id);
            let is_other = before.is_some_and(|row| {
                known != before_id || self.table().file_type(row) != attributes.file_type()
            });
            match before {
                // It was renamed to another one of these names, and reported.
                Some(_) if before_id.is_some_and(|id| self.placed.contains(&id)) => {}
                Some(before) if is_other => self.lose(directory, before),
                // A rename put another file there.
                Some(before)
                    if self.table().attributes(before).file_id() != attributes.file_id() =>
                {
                    self.suspect_other_names(self.row_before(directory, name));
                }
                _ => {}
            }
            self.report(row, before.filter(|_| !is_other), moved, name, attributes.file_type());
            self.placed.extend(moved);
            changes.push(EntryChange { name, now: Some(attributes), directory: known });
        }
        let mut own = *own;
        own.retain(COLUMNS);
        let before = self.table().attributes(row);
        let own = (!is_same(&before, &own)).then_some(&own);
        if own.is_some_and(|own| is_changed_itself(&before, own)) {
            let (kind, path) = (ChangeKind::Modified, self.table().path(row));
            self.changes.push(Change::new(kind, path, None, FileType::Directory));
        }
        if changes.is_empty() && own.is_none() {
            return Ok(());
        }
        let ids = self.editor.change(directory, own, &changes)?;
        self.placed.clear();
        for (change, id) in changes.iter().zip(ids) {
            let Some(id) = id else { continue };
            if self.displaced.contains(&id) {
                self.find_again(id);
            }
            if change.directory.is_none() {
                self.enter(handle, id, change.name, change.now.as_ref());
            } else if !self.tree.places.is_watched(id) {
                // Reading it may be permitted by now.
                self.unread.push(NewDirectory { id, handle: None, attempts: 0 });
            }
        }
        Ok(())
    }

    /// Removes names that are gone.
    pub(super) fn remove(
        &mut self,
        directory: DirectoryId,
        names: &BTreeSet<OsString>,
    ) -> Result<(), Error> {
        let Some(row) = self.table().directory_row(directory) else { return Ok(()) };
        let mut changes = Vec::new();
        for name in names {
            let Some(child) = self.table().child(row, name) else { continue };
            self.lose(directory, child);
            changes.push(EntryChange { name, now: None, directory: None });
        }
        if !changes.is_empty() {
            self.editor.change(directory, None, &changes)?;
        }
        Ok(())
    }

    /// Reports what is found under a name: `before` is the same entry, `moved` a directory that was elsewhere.
    fn report(
        &mut self,
        directory: Row,
        before: Option<Row>,
        moved: Option<DirectoryId>,
        name: &OsStr,
        file_type: FileType,
    ) {
        let table = self.table();
        let path = table.path(directory).join(name);
        let moved = moved.filter(|id| !self.displaced.contains(id));
        let from = moved.and_then(|id| Some(table.path(table.directory_row(id)?)));
        let kind = match (&from, before) {
            (Some(_), _) => ChangeKind::Renamed,
            (None, Some(_)) => ChangeKind::Modified,
            (None, None) => ChangeKind::Added,
        };
        self.changes.push(Change { kind, path, from, file_type });
    }

    /// Reports everything below a directory as added: it was reported as removed before it was found elsewhere.
    fn find_again(&mut self, directory: DirectoryId) {
        let table = self.editor.table();
        let rows = table.directory_row(directory).into_iter().flat_map(|row| table.subtree(row));
        for (place, row) in rows.enumerate() {
            table.directory_id(row).map(|id| self.displaced.remove(&id));
            if place > 0 {
                let (path, file_type) = (table.path(row), table.file_type(row));
                let kind = ChangeKind::Added;
                self.changes.push(Change { kind, path, from: None, file_type });
            }
        }
    }

    /// Reports a name as gone. A directory may still be found elsewhere.
    fn lose(&mut self, directory: DirectoryId, row: Row) {
        let table = self.editor.table();
        let (path, file_type) = (table.path(row), table.file_type(row));
        let below = |row| table.subtree(row).filter_map(|row| table.directory_id(row));
        // What is about to be renamed is not there any more.
        let renamed = self.placed.iter().filter_map(|&id| table.directory_row(id));
        let renamed: HashSet<_> = renamed.flat_map(below).collect();
        self.displaced.extend(below(row).filter(|id| !renamed.contains(id)));
        let before = self.row_before(directory, table.name(row));
        self.changes.push(Change { kind: ChangeKind::Removed, path, from: None, file_type });
        self.suspect_other_names(before);
    }

    /// Returns what had a name before the update.
    fn row_before(&self, directory: DirectoryId, name: &OsStr) -> Option<Row> {
        let before = &self.tree.table;
        before.directory_row(directory).and_then(|row| before.child(row, name))
    }

    /// Looks at the other names of files in or below an entry of the table before the update: no notification tells
    /// them that their file has one name less.
    fn suspect_other_names(&mut self, row: Option<Row>) {
        let before = &self.tree.table;
        let rows = row.into_iter().flat_map(|row| before.subtree(row));
        let others = rows.flat_map(|row| before.other_names(row));
        let others = others.filter_map(|row| {
            let directory = before.directory_id(before.parent(row)?)?;
            let names = Names::These(BTreeSet::from([before.name(row).to_owned()]));
            Some((directory, names, MAX_ATTEMPTS))
        });
        self.queue.extend(others);
    }

    /// Returns whether a directory is below one that is about to be renamed.
    fn is_below_placed(&self, directory: DirectoryId) -> bool {
        let mut above = self.placed.iter().filter(|&&above| above != directory);
        above.any(|&above| self.is_in_or_below(directory, above))
    }

    /// Returns whether a directory is another one, or below it.
    fn is_in_or_below(&self, directory: DirectoryId, other: DirectoryId) -> bool {
        let table = self.table();
        let Some(row) = table.directory_row(directory) else { return false };
        table.ancestors(row).any(|row| table.directory_id(row) == Some(other))
    }
}

fn is_mount_point(directory: &DirHandle, name: &OsStr) -> bool {
    let opened = directory.open_dir(name, MountPolicy::Refuse);
    opened.is_err_and(|error| error.kind() == io::ErrorKind::CrossesDevices)
}

/// Returns whether two entries are the same file in the same state.
fn is_same(a: &Attributes, b: &Attributes) -> bool {
    a.file_type() == b.file_type()
        && a.file_id() == b.file_id()
        && (a.size(), a.allocated(), a.mtime(), a.ctime())
            == (b.size(), b.allocated(), b.mtime(), b.ctime())
}

/// Returns whether more changed of a directory than the names in it, which set both times to the same one.
fn is_changed_itself(before: &Attributes, now: &Attributes) -> bool {
    now.mtime() != now.ctime()
        || (before.mode(), before.uid(), before.gid()) != (now.mode(), now.uid(), now.gid())
}
