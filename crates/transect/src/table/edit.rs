//! A table that is being changed. Only what changes is computed; the rest is shared with the table before (`edits.rs`).
//!
//! ```text
//! files with names in the changed part   their bytes are charged to all names
//! the changed part                       rows are appended, totals and errors added upwards
//! the same files                         their bytes are charged to the first name
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::sync::Arc;

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FieldMask, FileId, FileType};

use super::directories::{Directory, SubtreeTotals};
use super::edits::{EditedFile, EditedName};
use super::{Row, Table};
use crate::error::Error;

/// The number of appended rows from which on all rows are copied, if they are also a quarter of the table.
const MIN_WORN: u64 = 1 << 16;

#[doc(hidden)]
impl Table {
    /// Returns whether so much was edited that a copy of all rows pays, or a sum is not exact any more.
    pub fn is_worn(&self) -> bool {
        let edited = self.edits.appended + self.edits.attributes.size() as u64;
        // Copying everything costs the more rows, the less often it is done.
        edited > MIN_WORN.max(self.len() / 4) || self.edits.saturated
    }

    /// Returns the same table, which shares all rows, without diagnostics.
    fn shallow_copy(&self) -> Self {
        let (base, edits) = (Arc::clone(&self.base), self.edits.clone());
        Self { base, edits, diagnostics: Arc::default() }
    }

    /// Returns the indices of a directory and those above it, the top last.
    pub(super) fn directories_above(&self, index: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(index), |&index| {
            let parent = (index != Directory::TOP).then(|| self.directory_at(index).parent);
            parent.filter(|&parent| parent != Directory::DETACHED)
        })
    }

    /// Returns the rows of a directory and of those above it, the root first: in preorder, directories
    /// are sorted by this.
    fn preorder_key(&self, index: u32) -> Vec<u32> {
        let above = self.directories_above(index).take_while(|&index| index != Directory::TOP);
        let mut rows: Vec<u32> = above.map(|index| self.directory_at(index).row).collect();
        rows.reverse();
        rows
    }

    fn common_ancestor(&self, a: u32, b: u32) -> u32 {
        let above: Vec<u32> = self.directories_above(a).collect();
        let common = self.directories_above(b).find(|index| above.contains(index));
        common.expect("BUG: the top is above all directories")
    }
}

/// A table that is being changed.
#[derive(Debug)]
pub(super) struct Editor {
    pub(super) table: Table,
    /// The files that are charged to all their names meanwhile.
    pub(super) loose: HashMap<FileId, LooseFile, FixedState>,
    /// The names of these files, by row.
    pub(super) loose_names: HashMap<u32, FileId, FixedState>,
    /// Bytes to add to each of these directories and to all above it.
    charges: HashMap<u32, Charged, FixedState>,
    /// A sum was larger than what can be counted, so that nothing can be subtracted from it.
    is_saturated: bool,
}

/// An entry of a directory that is listed again.
pub(super) enum Listed<'a> {
    /// An entry that the table has: only its row changes.
    Kept(Row),
    New(&'a OsStr, &'a Attributes),
}

impl Listed<'_> {
    fn kept(&self) -> Option<Row> {
        match self {
            Self::Kept(row) => Some(*row),
            Self::New(..) => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LooseFile {
    /// 0 if unknown.
    pub(super) link_count: u32,
    /// The table knew that it has several names, and so all that it has.
    is_known: bool,
}

/// Bytes to add to a directory.
#[derive(Clone, Copy, Debug, Default)]
struct Charged {
    apparent: i128,
    disk_usage: i128,
    /// See [`DirectoryShares`](super::hard_links::DirectoryShares).
    elsewhere: i128,
    shared: i128,
}

/// Whether bytes of extra names are subtracted or added again.
#[derive(Clone, Copy, PartialEq)]
enum Charge {
    ToFirst,
    ToAll,
}

impl Editor {
    pub(super) fn new(before: &Table) -> Self {
        let mut table = before.shallow_copy();
        table.edits.exist = true;
        Self {
            table,
            loose: HashMap::default(),
            loose_names: HashMap::default(),
            charges: HashMap::default(),
            is_saturated: false,
        }
    }

    /// Gives a directory new rows for its entries, and returns the first.
    pub(super) fn list(&mut self, index: u32, entries: &[Listed<'_>]) -> Result<Row, Error> {
        let kept = || entries.iter().filter_map(Listed::kept);
        for row in kept() {
            if let Some(id) = self.table.linked_id(row) {
                self.loosen(id);
            }
        }
        let before = self.table.shallow_copy();
        let (columns, base_chunks) = (self.table.columns(), self.table.base.rows.chunk_count());
        let first = self.table.edits.next_rows(base_chunks, entries.len())?;
        let chunk_of = |entry: &Listed<'_>| entry.kept().map(|row| row.chunk());
        for entries in entries.chunk_by(|a, b| chunk_of(a).is_some() && chunk_of(a) == chunk_of(b))
        {
            match &entries[0] {
                Listed::Kept(row) => {
                    let rows = entries.iter().filter_map(Listed::kept).map(|row| row.index());
                    let rows: Vec<usize> = rows.collect();
                    let (chunk, _) = before.locate(*row);
                    self.table.edits.push_rows(columns, chunk, rows.into_iter());
                }
                Listed::New(name, attributes) => {
                    self.table.edits.push_new(columns, name, attributes);
                }
            }
        }
        for (entry, row) in entries.iter().zip(first.0..) {
            let Some(old) = entry.kept() else { continue };
            if let Some(id) = self.loose_names.remove(&old.0) {
                self.loose_names.insert(row, id);
            }
            if let Some(attributes) = before.edits.attributes(old) {
                self.table.edits.attributes.remove_mut(&old.0);
                self.table.edits.attributes.insert_mut(row, *attributes);
            }
            if let Some(index) = self.table.index(old) {
                let moved = Directory { row, ..*self.table.directory_at(index) };
                self.table.edits.directories.insert_mut(index, moved);
                self.table.edits.directory_rows.insert_mut(row, Some(index));
            }
        }
        self.set_entries(index, first.0, entries.len());
        Ok(first)
    }

    pub(super) fn set_entries(&mut self, index: u32, first: u32, count: usize) {
        let count = count as u32;
        let edited = Directory { first, count, ..*self.table.directory_at(index) };
        self.table.edits.directories.insert_mut(index, edited);
        if count > 0 {
            self.table.edits.listings.insert_mut(first, index);
        }
    }

    pub(super) fn next_index(&self) -> u32 {
        self.table.base.directories.all.len() as u32 + self.table.edits.new_directories
    }

    pub(super) fn add_directory(&mut self, row: Row, parent: u32) -> u32 {
        let index = self.next_index();
        let (first, totals) = (Directory::UNREAD, SubtreeTotals::default());
        let directory = Directory { row: row.0, parent, first, count: 0, totals };
        let edits = &mut self.table.edits;
        edits.new_directories += 1;
        edits.directories.insert_mut(index, directory);
        edits.directory_rows.insert_mut(row.0, Some(index));
        index
    }

    /// Changes the totals of a directory and all above it.
    pub(super) fn change_totals(
        &mut self,
        index: u32,
        lost: &SubtreeTotals,
        gained: &SubtreeTotals,
    ) {
        let above: Vec<u32> = self.table.directories_above(index).collect();
        for index in above {
            let mut directory = *self.table.directory_at(index);
            let before = directory.totals;
            self.is_saturated |= before.is_saturated();
            directory.totals.remove(lost);
            directory.totals += *gained;
            // Without the column, it is not known which entries are older.
            if self.table.columns().contains(FieldMask::MTIME)
                && lost.newest() >= before.newest()
                && gained.newest() < lost.newest()
            {
                directory.totals.set_newest(self.newest_in(index));
            }
            self.table.edits.directories.insert_mut(index, directory);
        }
    }

    /// Returns the newest change in and below a directory, from the totals of its entries.
    fn newest_in(&self, index: u32) -> Option<i64> {
        let table = &self.table;
        let directory = table.directory_at(index);
        let own = (index != Directory::TOP).then(|| table.mtime(Row(directory.row))).flatten();
        let unlisted = table.base.unlisted.get(index as usize).and_then(SubtreeTotals::newest);
        let entries = directory.children().map(|row| table.totals(row).newest());
        entries.chain([own, unlisted]).max().flatten()
    }

    pub(super) fn change_errors(&mut self, index: u32, lost: u64, gained: u64) {
        if lost == gained {
            return;
        }
        let above: Vec<u32> = self.table.directories_above(index).collect();
        for index in above.into_iter().filter(|&index| index != Directory::TOP) {
            let errors = self.table.errors_at(index) - lost + gained;
            self.table.edits.errors.insert_mut(index, errors);
        }
    }

    /// Charges all files with several names in and below an entry to all of them.
    pub(super) fn loosen_below(&mut self, row: Row) {
        if self.table.linked_files().next().is_none() {
            return;
        }
        let rows: Vec<Row> = self.table.subtree(row).collect();
        for row in rows {
            if let Some(id) = self.table.linked_id(row) {
                self.loosen(id);
            }
        }
    }

    /// A name of a loose file is gone.
    pub(super) fn remove_name(&mut self, row: Row) {
        let Some(id) = self.loose_names.remove(&row.0) else { return };
        let file = self.loose.get_mut(&id).expect("BUG: a name without its file");
        file.link_count = file.link_count.saturating_sub(1);
    }

    /// Charges a file with several names to all of them.
    pub(super) fn loosen(&mut self, id: FileId) {
        let Some(file) = self.table.linked_file(id) else { return };
        let (rows, link_count, all_here) = (file.rows.to_vec(), file.link_count, file.all_here);
        self.charge(&rows, all_here, Charge::ToAll);
        let edits = &mut self.table.edits;
        edits.files.insert_mut(id, None);
        edits.extra_names -= rows.len() as i64 - 1;
        for &row in &rows {
            edits.names.insert_mut(row, None);
            self.loose_names.insert(row, id);
        }
        self.loose.insert(id, LooseFile { link_count, is_known: true });
    }

    /// Finds the names of files that had only one, in another directory, and got a second one.
    pub(super) fn find_first_names(&mut self) {
        let mut counts: HashMap<FileId, u32, FixedState> = HashMap::default();
        self.loose_names.values().for_each(|&id| *counts.entry(id).or_default() += 1);
        counts.retain(|id, count| {
            let file = &self.loose[id];
            !file.is_known && (file.link_count == 0 || *count < file.link_count)
        });
        let ids = FieldMask::INODE.union(FieldMask::DEVICE);
        if counts.is_empty() || !self.table.columns().contains(ids) {
            return;
        }
        for row in self.table.iter() {
            let attributes = self.table.attributes(row);
            if attributes.file_type() != FileType::Directory
                && let Some(id) = attributes.file_id().filter(|id| counts.contains_key(id))
            {
                self.loose_names.insert(row.0, id);
            }
        }
    }

    /// Charges each file to its first name again.
    fn charge_loose_files(&mut self) {
        let mut names: HashMap<FileId, Vec<u32>, FixedState> = HashMap::default();
        for (row, id) in std::mem::take(&mut self.loose_names) {
            names.entry(id).or_default().push(row);
        }
        for (id, mut rows) in names {
            let (table, link_count) = (&self.table, self.loose[&id].link_count);
            // A count that was queried after another name had gone was counted down once too often.
            let link_count = if link_count == 0 { 0 } else { link_count.max(rows.len() as u32) };
            rows.sort_by_cached_key(|&row| (table.preorder_key(table.parent_of(Row(row))), row));
            let all_here = link_count == 0 || link_count as usize <= rows.len();
            self.set_link_counts(&rows, link_count);
            if rows.len() == 1 && all_here {
                continue;
            }
            self.charge(&rows, all_here, Charge::ToFirst);
            let edits = &mut self.table.edits;
            edits.extra_names += rows.len() as i64 - 1;
            for (at, &row) in rows.iter().enumerate() {
                edits.names.insert_mut(row, Some(EditedName { id, is_extra: at > 0 }));
            }
            let file = EditedFile { rows, all_here, link_count };
            edits.files.insert_mut(id, Some(Arc::new(file)));
        }
    }

    fn set_link_counts(&mut self, rows: &[u32], link_count: u32) {
        if link_count == 0 || !self.table.columns().contains(FieldMask::NLINK) {
            return;
        }
        for &row in rows {
            let mut attributes = self.table.attributes(Row(row));
            attributes.set_nlink(link_count);
            self.table.edits.attributes.insert_mut(row, attributes);
        }
    }

    /// Charges a file to the first of its `rows` instead of to all of them, or the other way round: see
    /// `hard_links.rs`. Takes effect with [`Editor::apply_charges`].
    fn charge(&mut self, rows: &[u32], all_here: bool, to: Charge) {
        let [first, others @ ..] = rows else { return };
        let sign = if to == Charge::ToFirst { 1 } else { -1 };
        let bytes = sign * i128::from(self.table.allocated(Row(*first)).unwrap_or(0));
        let mut before = self.table.parent_of(Row(*first));
        let mut lowest_common = before;
        self.charged(before).shared += bytes;
        for &name in others {
            let (row, parent) = (Row(name), self.table.parent_of(Row(name)));
            let ancestor = self.table.common_ancestor(before, parent);
            lowest_common = self.table.common_ancestor(lowest_common, parent);
            let size = i128::from(self.table.size(row).unwrap_or(0));
            let allocated = i128::from(self.table.allocated(row).unwrap_or(0));
            let charged = self.charged(parent);
            charged.apparent -= sign * size;
            charged.disk_usage -= sign * allocated;
            for (index, bytes) in [(parent, bytes), (ancestor, -bytes)] {
                let charged = self.charged(index);
                charged.elsewhere += bytes;
                charged.shared += bytes;
            }
            before = parent;
        }
        if all_here {
            self.charged(lowest_common).shared -= bytes;
        }
    }

    fn charged(&mut self, index: u32) -> &mut Charged {
        self.charges.entry(index).or_default()
    }

    /// Adds what was charged in each directory to it and to all above it, each once.
    pub(super) fn apply_charges(&mut self) {
        let table = &self.table;
        let depth = |index| Reverse(table.directories_above(index).count());
        let charges = std::mem::take(&mut self.charges).into_iter();
        let mut charges: BTreeMap<_, Charged> =
            charges.map(|(index, charged)| ((depth(index), index), charged)).collect();
        while let Some(((Reverse(depth), index), charged)) = charges.pop_first() {
            let mut directory = *self.table.directory_at(index);
            self.is_saturated |= directory.totals.is_saturated();
            directory.totals.change_bytes(charged.apparent, charged.disk_usage);
            let mut shares = self.table.shares(index);
            shares.charged_elsewhere += charged.elsewhere;
            shares.shared += charged.shared;
            self.table.edits.directories.insert_mut(index, directory);
            if index == Directory::TOP {
                // The bytes shared by all roots together are never needed.
                return;
            }
            self.table.edits.shares.insert_mut(index, shares);
            if directory.parent == Directory::DETACHED {
                continue;
            }
            let above = charges.entry((Reverse(depth - 1), directory.parent)).or_default();
            above.apparent += charged.apparent;
            above.disk_usage += charged.disk_usage;
            above.elsewhere += charged.elsewhere;
            above.shared += charged.shared;
        }
    }

    /// Returns the table, with each file charged to its first name, and without diagnostics.
    pub(super) fn charged_table(mut self) -> Table {
        self.charge_loose_files();
        self.apply_charges();
        self.table.edits.saturated |= self.is_saturated;
        self.table
    }
}
