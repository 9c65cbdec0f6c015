//! Sorts the entries of one directory, and buffers them until all are known.

use std::ffi::OsStr;

use transect_sys::{
    Attributes, Batch, EntryRef, FieldMask, FileId, FileType, Verdict, name_prefix,
};

use super::columns::{Chunk, Rows};
use super::directories::SubtreeTotals;
use super::hard_links::LinkedName;
use super::row::Row;

/// The entries of one directory, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct DirectoryBuffer {
    /// Unlike a chunk of the table it grows, as a directory may hold millions of entries.
    rows: Chunk,
    /// The first bytes of each name, and its index in `rows`.
    sort_keys: Vec<(u64, u32)>,
    /// Files that may have several names: index in `rows`, id, link count (0 if unknown).
    links: Vec<(u32, FileId, u32)>,
    totals: SubtreeTotals,
}

impl DirectoryBuffer {
    /// Adds the entries of a batch, and returns their allocated bytes. Of entries that a filter
    /// only descends into, adds directories, as something below them may match.
    pub(super) fn add_batch(&mut self, columns: FieldMask, batch: &Batch, follow: bool) -> u64 {
        let before = self.totals.disk_usage;
        for entry in batch.entries().filter(is_row) {
            self.push(columns, entry.name, entry.attributes, follow);
        }
        self.totals.disk_usage - before
    }

    #[inline]
    pub(super) fn push(
        &mut self,
        columns: FieldMask,
        name: &OsStr,
        attributes: &Attributes,
        follow: bool,
    ) {
        let index = self.rows.len() as u32;
        self.sort_keys.push((name_prefix(name.as_encoded_bytes()), index));
        self.rows.push(columns, name, attributes);
        self.totals += totals_of(attributes);
        if let Some((id, names)) = linked_file(attributes, follow) {
            self.links.push((index, id, names));
        }
    }

    /// Returns whether nothing is buffered.
    pub(super) fn is_empty(&self) -> bool {
        self.sort_keys.is_empty()
    }

    /// Appends the entries of a directory that are all in one batch to the rows of a table, as
    /// [`Self::add_batch`] and [`Self::flush_into`] do. They are copied once instead of twice. The buffer must be empty.
    pub(super) fn append_directory(
        &mut self,
        batch: &Batch,
        follow: bool,
        rows: &mut Rows,
        links: &mut Vec<LinkedName>,
    ) -> Option<(Row, u32, SubtreeTotals)> {
        let Self { sort_keys, .. } = self;
        let entries = (0..).zip(batch.entries()).filter(|(_, entry)| is_row(entry));
        sort_keys
            .extend(entries.map(|(index, it)| (name_prefix(it.name.as_encoded_bytes()), index)));
        let first = rows.next_row(sort_keys.len() as u32)?;
        sort(sort_keys, |index| batch.name_at(index as usize));
        let sorted = sort_keys.iter().map(|&(_, index)| index as usize);
        rows.push_entries(batch, sorted.clone());
        let mut totals = SubtreeTotals::default();
        for (row, index) in (first.0..).zip(sorted) {
            let attributes = batch.attributes_at(index);
            totals += totals_of(attributes);
            if let Some((id, link_count)) = linked_file(attributes, follow) {
                links.push(LinkedName { id, row, link_count });
            }
        }
        let count = sort_keys.len() as u32;
        sort_keys.clear();
        Some((first, count, totals))
    }

    /// Returns the totals of the buffered entries, without the bytes of files known to have several
    /// names.
    pub(super) fn totals_without_hard_links(&self, columns: FieldMask) -> SubtreeTotals {
        let mut totals = self.totals;
        for &(index, _, _) in self.links.iter().filter(|&&(_, _, names)| names > 1) {
            let bytes = |of: Option<u64>| of.unwrap_or(0);
            let apparent = bytes(self.rows.size(columns, index as usize));
            totals.subtract(apparent, bytes(self.rows.allocated(columns, index as usize)));
        }
        totals
    }

    /// Appends the files of at least this size to a chunk, except those known to have several names. Returns their
    /// number.
    pub(super) fn copy_large_files(&self, columns: FieldMask, least: u64, to: &mut Chunk) -> u32 {
        let is_large = |&index: &usize| {
            self.rows.file_type(index) == FileType::File
                && self.rows.allocated(columns, index).max(self.rows.size(columns, index))
                    >= Some(least)
        };
        // Sorted by index.
        let names = |index: u32| {
            let link = self.links.binary_search_by_key(&index, |&(index, ..)| index);
            link.map_or(1, |at| self.links[at].2)
        };
        let mut files: Vec<usize> = (0..self.rows.len()).filter(is_large).collect();
        files.retain(|&index| names(index as u32) <= 1);
        to.push_rows(columns, &self.rows, files.iter().copied());
        files.len() as u32
    }

    /// Appends the buffered entries to the rows of a table, sorted by name. Returns the first row,
    /// the number of rows, and their totals; `None` if they exceed what a table can hold.
    pub(super) fn flush_into(
        &mut self,
        rows: &mut Rows,
        links: &mut Vec<LinkedName>,
    ) -> Option<(Row, u32, SubtreeTotals)> {
        let Self { rows: buffered, sort_keys, .. } = self;
        let count = sort_keys.len() as u32;
        let first = rows.next_row(count)?;
        sort(sort_keys, |index| buffered.name(index as usize));
        rows.push_rows(buffered, sort_keys.iter().map(|&(_, index)| index as usize));
        if !self.links.is_empty() {
            let mut row_of = vec![0; sort_keys.len()];
            for (row, &(_, index)) in (first.0..).zip(sort_keys.iter()) {
                row_of[index as usize] = row;
            }
            links.extend(self.links.drain(..).map(|(index, id, link_count)| LinkedName {
                id,
                row: row_of[index as usize],
                link_count,
            }));
        }
        self.rows.clear();
        self.sort_keys.clear();
        Some((first, count, std::mem::take(&mut self.totals)))
    }
}

/// Returns whether an entry gets a row. Of entries that a filter only descends into, directories do; readers may have
/// dropped the files.
fn is_row(entry: &EntryRef<'_>) -> bool {
    let is_delivered = !matches!(entry.verdict, Verdict::DescendOnly | Verdict::Drop);
    is_delivered || entry.file_type() == FileType::Directory
}

/// Returns what an entry adds to the totals of its directory. A directory is counted when it is entered, together with
/// its own size.
#[inline]
fn totals_of(attributes: &Attributes) -> SubtreeTotals {
    match attributes.file_type() {
        FileType::Directory => SubtreeTotals::default(),
        _ => SubtreeTotals::of_entry(attributes),
    }
}

/// Returns the id and the link count (0 if unknown) of a file that may have several names.
///
/// Windows listings have no link count: any file may have more names. A file met through links may be met more
/// often than it has names.
#[inline]
fn linked_file(attributes: &Attributes, follow: bool) -> Option<(FileId, u32)> {
    let names = attributes.nlink();
    if (names == Some(1) && !follow) || attributes.file_type() == FileType::Directory {
        return None;
    }
    Some((attributes.file_id()?, names.filter(|_| !follow).unwrap_or(0)))
}

/// Sorts entries by name.
fn sort<'n>(sort_keys: &mut [(u64, u32)], name: impl Fn(u32) -> &'n OsStr) {
    sort_keys.sort_unstable_by(|&(a, a_index), &(b, b_index)| {
        let bytes = |index| name(index).as_encoded_bytes();
        a.cmp(&b).then_with(|| bytes(a_index).cmp(bytes(b_index)))
    });
}
