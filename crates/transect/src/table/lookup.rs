//! Where the rows, directories and hard links of a table are: in its base, unless an edit changed them.

use transect_sys::FileId;

use super::columns::Chunk;
use super::directories::{Directory, UnreadReason};
use super::hard_links::{DirectoryShares, LinkedNames};
use super::{Row, Table};

impl Table {
    #[inline]
    pub(super) fn locate(&self, row: Row) -> (&Chunk, usize) {
        match row.chunk().checked_sub(self.base.rows.chunk_count()) {
            None => self.base.rows.locate(row),
            Some(chunk) => (&self.edits.chunks[chunk], row.index()),
        }
    }

    /// Returns whether the row exists, and its directory and those above it still have it.
    pub(super) fn contains(&self, row: Row) -> bool {
        let exists = match row.chunk().checked_sub(self.base.rows.chunk_count()) {
            None => self.base.rows.contains(row),
            Some(chunk) => {
                self.edits.chunks.get(chunk).is_some_and(|chunk| row.index() < chunk.len())
            }
        };
        exists && (!self.edits.exist || self.is_connected(row))
    }

    pub(super) fn is_connected(&self, mut row: Row) -> bool {
        loop {
            let index = self.parent_of(row);
            let directory = self.directory_at(index);
            if !directory.range().contains(&row.0) {
                return false;
            }
            if index == Directory::TOP {
                return true;
            }
            row = Row(directory.row);
        }
    }

    /// Returns the index of a directory.
    #[inline]
    pub(super) fn index(&self, row: Row) -> Option<u32> {
        match self.edits.exist {
            false => self.base.directories.index(row),
            true => self.edited_index(row),
        }
    }

    // Not inlined: nearly all tables have no edits.
    #[inline(never)]
    fn edited_index(&self, row: Row) -> Option<u32> {
        let edited = self.edits.directory_rows.get(&row.0).copied();
        edited.unwrap_or_else(|| self.base.directories.index(row))
    }

    #[inline]
    pub(super) fn directory(&self, row: Row) -> Option<&Directory> {
        self.index(row).map(|index| self.directory_at(index))
    }

    /// Returns the directory with an index; the top for [`Directory::TOP`].
    #[inline]
    pub(super) fn directory_at(&self, index: u32) -> &Directory {
        match self.edits.exist {
            false => self.base.directories.at(index),
            true => self.edited_directory(index),
        }
    }

    #[inline(never)]
    fn edited_directory(&self, index: u32) -> &Directory {
        let edited = self.edits.directories.get(&index);
        edited.unwrap_or_else(|| self.base.directories.at(index))
    }

    /// Iterates over all directories but the top, those that are no longer in the table included.
    pub(super) fn all_directories(&self) -> impl Iterator<Item = &Directory> {
        let count = self.base.directories.all.len() as u32 + self.edits.new_directories;
        (0..count).map(|index| self.directory_at(index))
    }

    /// Returns the index of the directory that holds an entry; [`Directory::TOP`] for a root.
    #[inline]
    pub(super) fn parent_of(&self, row: Row) -> u32 {
        if row.chunk() < self.base.rows.chunk_count() {
            return self.base.directories.parent_of(row);
        }
        let listing = self.edits.listings.range(..=row.0).next_back();
        *listing.expect("BUG: an appended row without a directory").1
    }

    /// Returns why a directory was not read, or not completely.
    pub(super) fn why_unread(&self, row: Row) -> Option<UnreadReason> {
        let Some(index) = self.index(row) else {
            return Some(UnreadReason::Unvisited);
        };
        let unvisited = self.directory_at(index).first == Directory::UNREAD;
        let why = match self.edits.unread.get(&index) {
            Some(edited) => *edited,
            None => self.base.directories.unread.get(&index).copied(),
        };
        why.or(unvisited.then_some(UnreadReason::Unvisited))
    }

    /// Returns the number of errors in and below a directory.
    pub(super) fn errors_at(&self, index: u32) -> u64 {
        let edited = self.edits.errors.get(&index);
        edited.or_else(|| self.base.directories.errors.get(&index)).copied().unwrap_or(0)
    }

    /// Returns whether the file has other names, in the table or not.
    pub(super) fn has_extra_names(&self, row: Row) -> bool {
        match self.edits.names.get(&row.0) {
            Some(edited) => edited.is_some(),
            None => self.base.shared.has_extra_names(row),
        }
    }

    pub(super) fn is_charged_elsewhere(&self, row: Row) -> bool {
        if !self.edits.exist {
            return self.base.shared.is_charged_elsewhere(row);
        }
        match self.edits.names.get(&row.0) {
            Some(edited) => edited.is_some_and(|name| name.is_extra),
            None => self.base.shared.is_charged_elsewhere(row),
        }
    }

    /// Returns the bytes that a directory shares with others.
    pub(super) fn shares(&self, index: u32) -> DirectoryShares {
        let edited = self.edits.shares.get(&index).copied();
        edited.unwrap_or_else(|| self.base.shared.shares(index))
    }

    /// Iterates over the files with several names.
    pub(super) fn linked_files(&self) -> impl Iterator<Item = LinkedNames<'_>> {
        let base = self
            .base
            .shared
            .linked()
            .filter(|(file, _)| !self.edits.exist || !self.edits.files.contains_key(&file.id));
        let base = base.map(|(file, rows)| file.names(rows));
        let edited = self.edits.files.iter();
        let edited = edited.filter_map(|(&id, file)| Some(file.as_deref()?.names(id)));
        base.chain(edited)
    }

    /// Returns the names of a file, if it has several.
    pub(super) fn linked_file(&self, id: FileId) -> Option<LinkedNames<'_>> {
        match self.edits.files.get(&id) {
            Some(edited) => edited.as_deref().map(|file| file.names(id)),
            None => self.base.shared.find(id).map(|(file, rows)| file.names(rows)),
        }
    }

    /// Returns the id of a file, if it has several names.
    pub(super) fn linked_id(&self, row: Row) -> Option<FileId> {
        match self.edits.names.get(&row.0) {
            Some(edited) => edited.map(|name| name.id),
            None => self.base.shared.id_of(row),
        }
    }
}
