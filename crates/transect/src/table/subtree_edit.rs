//! A table without some entries, or with a directory read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directories::{Directory, SubtreeTotals, UnreadReason};
use super::edit::{Editor, Listed};
use super::{Row, RowSet, Table};
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

#[doc(hidden)]
impl Table {
    /// Returns a table without some entries and everything below them. Takes time for the removed
    /// entries and for the others of their directories.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`], which cannot happen: there are fewer.
    pub fn without(&self, removed: &RowSet, names: RemovedNames) -> Result<Self, Error> {
        let gone = self.outermost(removed.iter());
        let mut editor = Editor::new(self);
        editor.remove(&gone, names)?;
        editor.finish(self.diagnostics_after(&gone, None))
    }

    /// Returns a table in which a directory is replaced by the only root of another table with the same
    /// columns; without a root, the directory is left out. A file outside of the directory that got a
    /// second name in it is recognized only if the tables have file ids. Takes time for the content of
    /// the directory, before and after.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn with_directory(&self, directory: Row, read_again: &Self) -> Result<Self, Error> {
        let mut editor = Editor::new(self);
        match read_again.roots().next() {
            Some(root) => editor.replace(directory, read_again, root)?,
            None => editor.remove(&[directory], RemovedNames::Deleted)?,
        }
        let other = Some(read_again).filter(|other| other.roots().len() > 0);
        editor.finish(self.diagnostics_after(&[directory], other))
    }

    /// Returns the diagnostics without some entries, and with those of another table. The counts by
    /// kind are those of before: only errors are known by directory.
    fn diagnostics_after(&self, gone: &[Row], other: Option<&Self>) -> Diagnostics {
        let mut diagnostics = self.diagnostics.counts();
        let lost: u64 = gone.iter().map(|&row| self.errors(row)).sum();
        diagnostics.errors = diagnostics.errors.saturating_sub(lost);
        let with_errors = gone.iter().filter(|&&row| self.errors(row) > 0);
        let paths: Vec<_> = with_errors.map(|&row| self.path(row)).collect();
        let stays = |error: &&ScanError| !paths.iter().any(|gone| error.path().starts_with(gone));
        let here = self.diagnostics.kept_errors.iter().filter(stays);
        diagnostics.kept_errors = here.cloned().collect();
        if let Some(other) = other {
            diagnostics.errors += other.diagnostics.errors;
            diagnostics.vanished += other.diagnostics.vanished;
            diagnostics.kept_errors.extend(other.diagnostics.kept_errors.iter().cloned());
        }
        diagnostics
    }
}

impl Editor {
    /// Removes entries, of which none is below another one.
    fn remove(&mut self, gone: &[Row], names: RemovedNames) -> Result<(), Error> {
        let mut by_directory: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
        for &row in gone {
            self.remove_names(row, names);
            by_directory.entry(self.table.parent_of(row)).or_default().push(row);
        }
        self.apply_charges();
        for (index, gone) in by_directory {
            let mut lost = SubtreeTotals::default();
            gone.iter().for_each(|&row| lost += self.table.totals(row));
            let errors = gone.iter().map(|&row| self.table.errors(row)).sum();
            let stay = self.table.directory_at(index).children();
            let stay = stay.filter(|row| gone.binary_search(row).is_err()).map(Listed::Kept);
            self.list(index, &stay.collect::<Vec<_>>())?;
            self.change_totals(index, &lost, &SubtreeTotals::default());
            self.change_errors(index, errors, 0);
        }
        Ok(())
    }

    /// Replaces an entry and everything below it by the root of another table.
    fn replace(&mut self, row: Row, other: &Table, root: Row) -> Result<(), Error> {
        self.remove_names(row, RemovedNames::Deleted);
        for file in other.linked_files() {
            self.loosen(file.id);
            self.loose.entry(file.id).or_default().link_count = file.link_count;
        }
        self.apply_charges();
        let (parent, before) = (self.table.parent_of(row), self.table.totals(row));
        let errors = self.table.errors(row);
        let own = other.attributes(root);
        self.table.edits.attributes.insert_mut(row.0, own);
        if other.directory(root).is_some() {
            let index = match self.table.index(row) {
                Some(index) => index,
                None => self.add_directory(row, parent),
            };
            self.import(other, root, index)?;
        } else {
            self.table.edits.directory_rows.insert_mut(row.0, None);
        }
        let after = self.table.totals(row);
        self.change_totals(parent, &before, &after);
        self.change_errors(parent, errors, self.table.errors(row));
        self.find_first_names();
        Ok(())
    }

    /// Copies the content of a directory of another table.
    fn import(&mut self, other: &Table, from: Row, to: u32) -> Result<(), Error> {
        let first_new = self.next_index();
        let mut waiting = vec![(from, to)];
        while let Some((from, index)) = waiting.pop() {
            let entries: Vec<Row> = other.children(from).collect();
            let first = self.append(other, &entries)?;
            let mut totals = SubtreeTotals::of_entry(&other.attributes(from));
            for (&entry, row) in entries.iter().zip(first.0..) {
                if let Some(id) = other.linked_id(entry) {
                    self.loose_names.insert(row, id);
                }
                if other.directory(entry).is_some() {
                    waiting.push((entry, self.add_directory(Row(row), index)));
                } else {
                    totals += SubtreeTotals::of_entry(&other.attributes(entry));
                }
            }
            let was_read = other.directory(from).is_some_and(|it| it.first != Directory::UNREAD);
            let why = other.why_unread(from).filter(|&why| why != UnreadReason::Unvisited);
            let errors = other.errors(from);
            let first = if was_read { first.0 } else { Directory::UNREAD };
            let edited = Directory { first, count: 0, totals, ..*self.table.directory_at(index) };
            self.table.edits.directories.insert_mut(index, edited);
            self.table.edits.unread.insert_mut(index, why);
            self.table.edits.errors.insert_mut(index, errors);
            self.set_entries(index, first, entries.len());
        }
        // A directory has a lower index than those in it.
        for index in (first_new..self.next_index()).rev() {
            let &Directory { parent, totals, .. } = self.table.directory_at(index);
            let mut above = *self.table.directory_at(parent);
            above.totals += totals;
            self.table.edits.directories.insert_mut(parent, above);
        }
        Ok(())
    }

    /// Appends entries of a table with the same columns, and returns the first of their rows.
    fn append(&mut self, from: &Table, entries: &[Row]) -> Result<Row, Error> {
        let (columns, base_chunks) = (self.table.columns(), self.table.base.rows.chunk_count());
        let edits = &mut self.table.edits;
        let first = edits.next_rows(base_chunks, entries.len())?;
        for rows in entries.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let (chunk, _) = from.locate(rows[0]);
            edits.push_rows(columns, chunk, rows.iter().map(|row| row.index()));
        }
        for (&entry, row) in entries.iter().zip(first.0..) {
            if let Some(attributes) = from.edits.attributes(entry) {
                edits.attributes.insert_mut(row, *attributes);
            }
        }
        Ok(first)
    }

    /// Removes the names in and below an entry from their files, if these have others.
    fn remove_names(&mut self, row: Row, names: RemovedNames) {
        self.loosen_below(row);
        let rows: Vec<Row> = self.table.subtree(row).collect();
        for row in rows {
            match names {
                RemovedNames::Deleted => self.remove_name(row),
                RemovedNames::Moved => _ = self.loose_names.remove(&row.0),
            }
        }
    }

    fn finish(self, diagnostics: Diagnostics) -> Result<Table, Error> {
        let mut table = self.charged_table();
        // A partial table cannot be copied: it has entries without rows.
        if table.is_worn() && table.base.unlisted.is_empty() {
            table = table.copied()?;
        }
        table.diagnostics = Arc::new(diagnostics);
        Ok(table)
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod sequence_tests;
