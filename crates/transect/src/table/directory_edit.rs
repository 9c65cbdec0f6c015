//! Changes of single directories, as notifications of changes name them: what is not mentioned stays, and a renamed
//! directory keeps everything below it.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FileId, FileType};

use super::directories::{Directory, SubtreeTotals, UnreadReason};
use super::edit::{Editor, Listed};
use super::{Row, Table};
use crate::error::{Error, ScanError};
use crate::sink::Diagnostics;

/// Identifies a directory in a table, and in all tables that are edited from it until one is
/// [renumbered](Table::renumbered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DirectoryId(u32);

impl DirectoryId {
    /// Returns its number. A table numbers its directories from 0; later tables have a few numbers that are not used.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// A change of one name in a directory.
#[derive(Clone, Copy, Debug)]
pub struct EntryChange<'a> {
    /// The name.
    pub name: &'a OsStr,
    /// What has the name now; `None` if nothing has.
    pub now: Option<Attributes>,
    /// The directory of the table that has the name now: it had it before, or was renamed. `None` if what has the name is
    /// new; a new directory is unread. So is one that would be in itself, or has two names in the same change: it was
    /// renamed while the names were queried. An id that an earlier edit removed counts as `None`.
    pub directory: Option<DirectoryId>,
}

/// The new ids of directories in a renumbered table, by their old ones.
#[derive(Debug)]
pub struct Renumbering(Vec<u32>);

impl Renumbering {
    const GONE: u32 = u32::MAX;

    /// Returns the new id of a directory; `None` if it is not in the table.
    pub fn id(&self, old: DirectoryId) -> Option<DirectoryId> {
        self.0.get(old.0 as usize).filter(|&&id| id != Self::GONE).map(|&id| DirectoryId(id))
    }

    /// Iterates over the old and new ids of all directories that are in the table.
    pub fn ids(&self) -> impl Iterator<Item = (DirectoryId, DirectoryId)> {
        let ids = (0..).zip(&self.0).filter(|&(_, &new)| new != Self::GONE);
        ids.map(|(old, &new)| (DirectoryId(old), DirectoryId(new)))
    }
}

#[doc(hidden)]
impl Table {
    /// Returns the id of a directory; `None` for everything else.
    pub fn directory_id(&self, row: Row) -> Option<DirectoryId> {
        self.index(row).map(DirectoryId)
    }

    /// Returns the row of a directory; `None` if it is not in the table any more.
    pub fn directory_row(&self, id: DirectoryId) -> Option<Row> {
        let known = self.base.directories.all.len() as u32 + self.edits.new_directories;
        let row = (id.0 < known).then(|| Row(self.directory_at(id.0).row))?;
        self.is_connected(row).then_some(row)
    }

    /// Returns the other names in the table of a file that has several.
    pub fn other_names(&self, row: Row) -> Vec<Row> {
        let names = self.linked_id(row).and_then(|id| self.linked_file(id));
        let rows = names.map(|names| names.rows.iter().map(|&row| Row(row)));
        rows.into_iter().flatten().filter(|&other| other != row).collect()
    }

    /// Returns a copy of all rows, in which nothing is left of the edits, and the new ids of its directories.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn renumbered(&self) -> Result<(Self, Renumbering), Error> {
        let mut copy = self.copied()?;
        copy.diagnostics = Arc::clone(&self.diagnostics);
        let known = self.base.directories.all.len() + self.edits.new_directories as usize;
        let mut ids = vec![Renumbering::GONE; known];
        // Both are in the order of names.
        for (old, new) in self.iter().zip(copy.iter()) {
            if let (Some(old), Some(new)) = (self.index(old), copy.index(new)) {
                ids[old as usize] = new;
            }
        }
        Ok((copy, Renumbering(ids)))
    }
}

/// A table that is being changed, directory by directory. A directory that loses its place may get another one until the
/// end.
#[derive(Debug)]
pub struct TableEditor {
    editor: Editor,
    detached: Vec<Detached>,
    /// The attributes of files with several names, as far as they were queried.
    current: HashMap<FileId, Attributes, FixedState>,
    /// The errors of the table before, as far as their directories are still there.
    diagnostics: Arc<Diagnostics>,
    new_errors: Vec<ScanError>,
}

/// A directory that lost its place.
#[derive(Debug)]
struct Detached {
    index: u32,
    /// Its path, if there were errors in or below it.
    path: Option<PathBuf>,
}

/// What is put into a directory.
struct Added<'a> {
    /// Its place among the changes.
    at: usize,
    name: &'a OsStr,
    now: Attributes,
    /// A directory of the table, and its attributes before.
    moved: Option<(u32, Attributes)>,
}

impl TableEditor {
    /// Returns an editor of a copy of the table, which shares everything that does not change.
    pub fn new(before: &Table) -> Self {
        let diagnostics = Arc::clone(&before.diagnostics);
        let (detached, current, new_errors) = (Vec::new(), HashMap::default(), Vec::new());
        Self { editor: Editor::new(before), detached, current, diagnostics, new_errors }
    }

    /// Returns the table as edited so far. Totals are those of the end only if no file has several names.
    pub fn table(&self) -> &Table {
        &self.editor.table
    }

    /// Changes a directory: its `own` attributes, if given, and names in it, sorted by their bytes. Returns the directory
    /// that each of the names stands for. Does nothing if an earlier edit removed the directory. Takes time for the number of entries of the directory if names are new or gone,
    /// otherwise for those that changed.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn change(
        &mut self,
        directory: DirectoryId,
        own: Option<&Attributes>,
        changes: &[EntryChange<'_>],
    ) -> Result<Vec<Option<DirectoryId>>, Error> {
        let DirectoryId(index) = directory;
        let mut ids = vec![None; changes.len()];
        if !self.has(directory) {
            return Ok(ids);
        }
        if let Some(own) = own {
            self.set_own(index, own);
        }
        let row = Row(self.table().directory_at(index).row);
        let (mut gone, mut added) = (Vec::new(), Vec::new());
        let mut placed = HashSet::new();
        for (at, &EntryChange { name, now, directory }) in changes.iter().enumerate() {
            let before = self.table().child(row, name);
            let before_id = before.and_then(|row| self.table().directory_id(row));
            let directory = directory.filter(|&id| self.has(id));
            let Some(now) = now else {
                gone.extend(before);
                continue;
            };
            let was_directory = before.map(|row| self.table().file_type(row).is_dir());
            match (before, was_directory) {
                (Some(_), Some(true)) if directory.is_some() && directory == before_id => {
                    let id = before_id.expect("BUG: it has one");
                    self.set_own(id.0, &now);
                    ids[at] = before_id;
                }
                (Some(before), Some(false)) if !now.file_type().is_dir() => {
                    self.modify(before, &now)
                }
                _ => {
                    gone.extend(before);
                    let moved = directory.filter(|_| now.file_type().is_dir());
                    let moved =
                        moved.filter(|&id| !self.is_above(id.0, index) && placed.insert(id));
                    let moved = moved.map(|id| (id.0, self.attributes_of(id.0)));
                    added.push(Added { at, name, now, moved });
                }
            }
        }
        if !gone.is_empty() || !added.is_empty() {
            self.replace(index, &gone, &added, &mut ids)?;
        }
        Ok(ids)
    }

    /// Records that a directory was read completely.
    pub fn mark_read(&mut self, directory: DirectoryId) {
        let DirectoryId(index) = directory;
        let row = Row(self.table().directory_at(index).row);
        if let Some(UnreadReason::Failed(_)) = self.table().why_unread(row) {
            let path = self.table().path(row);
            self.editor.change_errors(index, 1, 0);
            let is_new = self.new_errors.iter().position(|error| error.path() == path);
            if let Some(new) = is_new {
                self.new_errors.swap_remove(new);
            } else {
                self.forget_errors(1, |error| error.path() == path);
            }
        }
        let edits = &mut self.editor.table.edits;
        edits.unread.insert_mut(index, None);
        if self.table().directory_at(index).first == Directory::UNREAD {
            // Any row will do, as there are no entries.
            self.editor.set_entries(index, 0, 0);
        }
    }

    /// Records that a directory was not read, or not completely, because of an error or on purpose.
    pub fn mark_unread(
        &mut self,
        directory: DirectoryId,
        why: UnreadReason,
        error: Option<ScanError>,
    ) {
        let DirectoryId(index) = directory;
        let row = Row(self.table().directory_at(index).row);
        let had_failed = matches!(self.table().why_unread(row), Some(UnreadReason::Failed(_)));
        self.editor.table.edits.unread.insert_mut(index, Some(why));
        if had_failed || !matches!(why, UnreadReason::Failed(_)) {
            return;
        }
        self.editor.change_errors(index, 0, 1);
        match error {
            Some(error) => self.new_errors.push(error),
            None => Arc::make_mut(&mut self.diagnostics).errors += 1,
        }
    }

    /// Returns the table, and the names that were not queried, but are of files that have other attributes by another name.
    /// Directories that have no place are gone, with everything below them.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn finish(mut self) -> Result<(Table, Vec<Row>), Error> {
        for Detached { index, path } in std::mem::take(&mut self.detached) {
            let row = Row(self.table().directory_at(index).row);
            if let Some(path) = path {
                let lost = self.table().errors(row);
                self.forget_errors(lost, |error| error.path().starts_with(&path));
            }
            let below: Vec<Row> = self.table().subtree(row).collect();
            below.into_iter().for_each(|row| self.editor.remove_name(row));
        }
        for error in std::mem::take(&mut self.new_errors) {
            Arc::make_mut(&mut self.diagnostics).add(error);
        }
        // A queried link count does not include names that are gone, which were subtracted from it here.
        for (id, now) in &self.current {
            if let (Some(file), Some(link_count)) = (self.editor.loose.get_mut(id), now.nlink()) {
                file.link_count = link_count;
            }
        }
        self.editor.find_first_names();
        self.editor.apply_charges();
        // All names of a file have the same attributes, but only one of them may have been queried.
        let names: Vec<_> =
            self.editor.loose_names.iter().map(|(&row, &id)| (Row(row), id)).collect();
        let mut others = Vec::new();
        for (row, id) in names {
            if let Some(now) = self.current.get(&id).copied() {
                let state = |of: Attributes| (of.size(), of.allocated(), of.mtime(), of.ctime());
                let before = state(self.table().attributes(row));
                self.set_leaf(row, &now);
                others.extend((state(self.table().attributes(row)) != before).then_some(row));
            }
        }
        let mut table = self.editor.charged_table();
        table.diagnostics = self.diagnostics;
        Ok((table, others))
    }

    fn forget_errors(&mut self, count: u64, is_gone: impl Fn(&ScanError) -> bool) {
        let diagnostics = Arc::make_mut(&mut self.diagnostics);
        diagnostics.errors = diagnostics.errors.saturating_sub(count);
        diagnostics.kept_errors.retain(|error| !is_gone(error));
    }

    /// Returns whether a directory has a place, or lost it in this edit, itself or with one above it.
    fn has(&self, DirectoryId(mut index): DirectoryId) -> bool {
        if index >= self.editor.next_index() {
            return false;
        }
        loop {
            let &Directory { row, parent, .. } = self.table().directory_at(index);
            if parent == Directory::DETACHED {
                return self.detached.iter().any(|detached| detached.index == index);
            }
            if !self.table().directory_at(parent).range().contains(&row) {
                return false;
            }
            if parent == Directory::TOP {
                return true;
            }
            index = parent;
        }
    }

    /// Returns whether a directory is another one or above it.
    fn is_above(&self, above: u32, index: u32) -> bool {
        self.table().directories_above(index).any(|it| it == above)
    }

    fn attributes_of(&self, index: u32) -> Attributes {
        self.table().attributes(Row(self.table().directory_at(index).row))
    }

    /// Changes the attributes of a directory itself.
    fn set_own(&mut self, index: u32, own: &Attributes) {
        let before = SubtreeTotals::of_entry(&self.attributes_of(index));
        let after = self.set_attributes(Row(self.table().directory_at(index).row), own);
        self.editor.change_totals(index, &before, &after);
    }

    /// Stores the attributes of a row, and returns its own totals.
    fn set_attributes(&mut self, row: Row, attributes: &Attributes) -> SubtreeTotals {
        let mut attributes = *attributes;
        attributes.retain(self.table().columns());
        self.editor.table.edits.attributes.insert_mut(row.0, attributes);
        SubtreeTotals::of_entry(&attributes)
    }

    /// Changes a file.
    fn modify(&mut self, row: Row, now: &Attributes) {
        let linked = self.table().linked_id(row).or(self.editor.loose_names.get(&row.0).copied());
        if let Some(id) = linked {
            self.editor.loosen(id);
            if now.file_id() != Some(id) {
                self.editor.remove_name(row);
            }
        }
        self.add_name(row, now);
        self.editor.apply_charges();
        self.set_leaf(row, now);
    }

    /// Changes the attributes of a file whose bytes are charged to all its names.
    fn set_leaf(&mut self, row: Row, now: &Attributes) {
        let before = SubtreeTotals::of_entry(&self.table().attributes(row));
        let after = self.set_attributes(row, now);
        self.editor.change_totals(self.table().parent_of(row), &before, &after);
    }

    /// Counts a row as one of the names of its file, if that has several or had.
    fn add_name(&mut self, row: Row, attributes: &Attributes) {
        let (Some(id), Some(link_count)) = (attributes.file_id(), attributes.nlink()) else {
            return;
        };
        if link_count > 1 {
            self.editor.loosen(id);
            self.editor.loose.entry(id).or_default();
            self.editor.loose_names.insert(row.0, id);
        }
        if let Some(file) = self.editor.loose.get_mut(&id) {
            file.link_count = link_count;
            self.current.insert(id, *attributes);
        }
    }

    /// Removes and adds entries of a directory.
    fn replace(
        &mut self,
        index: u32,
        gone: &[Row],
        added: &[Added<'_>],
        ids: &mut [Option<DirectoryId>],
    ) -> Result<(), Error> {
        let mut lost = SubtreeTotals::default();
        let mut errors = (0, 0);
        let mut removed = gone.to_vec();
        for &row in gone {
            // Before something is moved out of it to another place.
            let (totals, errors_below) = self.detach(row);
            lost += totals;
            errors.0 += errors_below;
        }
        let mut renamed = Vec::new();
        for (moved, _) in added.iter().filter_map(|added| added.moved) {
            renamed.extend(self.take_out(moved, index)?);
        }
        // After everything was moved out of them to another place.
        for row in renamed {
            lost += self.table().totals(row);
            errors.0 += self.table().errors(row);
            removed.push(row);
        }
        removed.sort_unstable();
        let table = self.table();
        let stay = table.directory_at(index).children();
        let mut stay = stay.filter(|row| removed.binary_search(row).is_err()).peekable();
        // A renamed directory has the attributes of before until it has its place.
        let attributes = |added: &'_ Added<'_>| added.moved.map_or(added.now, |(_, before)| before);
        let new: Vec<Attributes> = added.iter().map(attributes).collect();
        let mut entries = Vec::new();
        let mut places = Vec::new();
        let bytes = |name: &OsStr| name.as_encoded_bytes().to_vec();
        for (added, attributes) in added.iter().zip(&new) {
            let name = bytes(added.name);
            while let Some(row) = stay.next_if(|&row| *table.name(row).as_encoded_bytes() < *name) {
                entries.push(Listed::Kept(row));
            }
            places.push(entries.len() as u32);
            entries.push(Listed::New(added.name, attributes));
        }
        entries.extend(stay.map(Listed::Kept));
        let first = self.editor.list(index, &entries)?;
        let mut gained = SubtreeTotals::default();
        for (added, place) in added.iter().zip(places) {
            let row = Row(first.0 + place);
            if let Some((moved, _)) = added.moved {
                self.attach(moved, row, index);
                gained += self.table().directory_at(moved).totals;
                errors.1 += self.table().errors_at(moved);
                ids[added.at] = Some(DirectoryId(moved));
            } else if added.now.file_type() == FileType::Directory {
                let id = self.editor.add_directory(row, index);
                let totals = SubtreeTotals::of_entry(&self.table().attributes(row));
                let new = Directory { totals, ..*self.table().directory_at(id) };
                self.editor.table.edits.directories.insert_mut(id, new);
                gained += totals;
                ids[added.at] = Some(DirectoryId(id));
            } else {
                self.add_name(row, &added.now);
                gained += SubtreeTotals::of_entry(&self.table().attributes(row));
            }
        }
        self.editor.change_totals(index, &lost, &gained);
        self.editor.change_errors(index, errors.0, errors.1);
        for added in added {
            if let Some((moved, _)) = added.moved {
                self.set_own(moved, &added.now);
            }
        }
        Ok(())
    }

    /// Prepares the removal of an entry from its directory, and returns what that loses: totals and errors.
    fn detach(&mut self, row: Row) -> (SubtreeTotals, u64) {
        self.editor.loosen_below(row);
        self.editor.apply_charges();
        let (totals, errors) = (self.table().totals(row), self.table().errors(row));
        let Some(index) = self.table().index(row) else {
            self.editor.remove_name(row);
            return (totals, errors);
        };
        let path = (errors > 0).then(|| self.table().path(row));
        self.detached.push(Detached { index, path });
        self.cut_off(index);
        (totals, errors)
    }

    /// What changes in or below a directory does not change those above it any more.
    fn cut_off(&mut self, index: u32) {
        let parent = Directory::DETACHED;
        let detached = Directory { parent, ..*self.table().directory_at(index) };
        self.editor.table.edits.directories.insert_mut(index, detached);
    }

    /// Takes a directory out of the one where it is, to be put into another one. Returns its row if that is the same one.
    fn take_out(&mut self, moved: u32, to: u32) -> Result<Option<Row>, Error> {
        let Directory { row, parent, .. } = *self.table().directory_at(moved);
        let row = Row(row);
        if parent == Directory::DETACHED {
            self.detached.retain(|detached| detached.index != moved);
            return Ok(None);
        }
        self.editor.loosen_below(row);
        self.editor.apply_charges();
        if parent == to {
            return Ok(Some(row));
        }
        let stay = self.table().directory_at(parent).children().filter(|&it| it != row);
        let stay: Vec<_> = stay.map(Listed::Kept).collect();
        let (lost, errors) = (self.table().totals(row), self.table().errors(row));
        self.editor.list(parent, &stay)?;
        self.editor.change_totals(parent, &lost, &SubtreeTotals::default());
        self.editor.change_errors(parent, errors, 0);
        self.cut_off(moved);
        Ok(None)
    }

    /// Gives a directory its new place.
    fn attach(&mut self, index: u32, row: Row, parent: u32) {
        let attached = Directory { row: row.0, parent, ..*self.table().directory_at(index) };
        let edits = &mut self.editor.table.edits;
        edits.directories.insert_mut(index, attached);
        edits.directory_rows.insert_mut(row.0, Some(index));
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
