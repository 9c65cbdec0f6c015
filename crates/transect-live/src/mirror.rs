//! What a live tree knows: the table, and which directory of the system each of its directories is.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::table::{DirectoryId, Row, Table};
use transect::{FieldMask, FileId};
use transect_sys::dir_handle::DirHandle;

use crate::inbox::Inbox;
use crate::places::Places;
use crate::suspects::{Names, Suspects};

/// The columns of the table. By times and sizes a changed entry is recognized, by its file id a renamed directory or a second
/// name of a file.
pub const COLUMNS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
    .union(FieldMask::MODE)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::FILE_ID);

/// The number of entries that are compared in one update behind the names, about: so long a question has to wait.
const BEHIND_ENTRIES: usize = 1 << 12;

/// A tree, and what is known of it.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub(crate) root: PathBuf,
    pub(crate) root_id: Option<FileId>,
    pub(crate) table: Arc<Table>,
    pub(crate) places: Places,
    pub(crate) inbox: Arc<Inbox>,
    /// Directories that could not be reached under their path: they were renamed, and the notification of that is
    /// still to come.
    pub(crate) unreached: Suspects,
    /// Directories of which only the names were compared after a gap: later updates compare the attributes.
    pub(crate) behind: Vec<DirectoryId>,
    /// The file system changes the ctime of a directory with its names, and lets no program set it.
    pub(crate) has_proofs: bool,
}

impl Mirror {
    /// Makes everything suspect, after notifications were lost.
    pub(crate) fn suspect_all(&self, top: &DirHandle, suspects: &mut Suspects) {
        // If the file system was unmounted meanwhile, nothing is watched any more, the root included.
        let watched =
            top.watch(self.inbox.watcher()).ok().and_then(|watch| self.places.watched(watch));
        for row in self.table.iter() {
            let Some(directory) = self.table.directory_id(row) else { continue };
            let is_watched = watched.is_some();
            let names =
                if is_watched && self.has_proofs { Names::AllUnlessProved } else { Names::All };
            suspects.entry(directory).and_modify(|names| *names = Names::All).or_insert(names);
        }
    }

    /// Takes some of the directories whose attributes are to be compared, one at least.
    pub(crate) fn take_some_behind(&mut self) -> Vec<DirectoryId> {
        let mut entries = 0;
        let is_enough = |&id: &DirectoryId| {
            let row = self.table.directory_row(id);
            let is_enough = entries >= BEHIND_ENTRIES;
            entries += row.map_or(0, |row| self.table.children(row).len());
            is_enough
        };
        let count = self.behind.iter().rev().position(is_enough).unwrap_or(self.behind.len());
        self.behind.split_off(self.behind.len() - count)
    }

    /// Takes the directories in and below a row whose attributes are to be compared; of a file, the one that holds it. If
    /// they have many entries, none is taken, and `None` returned.
    pub(crate) fn take_behind_below(&mut self, row: Row) -> Option<Vec<DirectoryId>> {
        if self.behind.is_empty() {
            return Some(Vec::new());
        }
        let directory = match self.table.directory_id(row) {
            Some(_) => row,
            None => self.table.parent(row)?,
        };
        let below: HashSet<DirectoryId> =
            self.table.subtree(directory).filter_map(|row| self.table.directory_id(row)).collect();
        let rows = self.behind.iter().filter(|id| below.contains(id));
        let rows = rows.filter_map(|&id| self.table.directory_row(id));
        if rows.map(|row| self.table.children(row).len()).sum::<usize>() > BEHIND_ENTRIES {
            return None;
        }
        let (taken, left) =
            std::mem::take(&mut self.behind).into_iter().partition(|id| below.contains(id));
        self.behind = left;
        Some(taken)
    }

    /// Returns the directories in and below a row that are not watched, with the number of the error of those that cannot be
    /// opened.
    pub(crate) fn unwatched_below(&self, top: Row) -> Vec<(DirectoryId, Option<i32>)> {
        let Self { table, places, .. } = self;
        // Whatever is less: all of them in the tree, or all entries below the row.
        if places.unwatched().len() as u64 <= table.totals(top).entries() {
            let is_below = |row| table.ancestors(row).any(|row| row == top);
            let is_below = |id| table.directory_row(id).is_some_and(is_below);
            return places.unwatched().filter(|&(id, _)| is_below(id)).collect();
        }
        let directories = table.subtree(top).filter_map(|row| table.directory_id(row));
        directories.filter_map(|id| Some((id, places.unwatched_error(id)?))).collect()
    }

    /// Returns the directories above, in and below a row that cannot be opened, with the numbers of the errors.
    pub(crate) fn closed_around(&self, row: Row) -> HashMap<Row, i32> {
        let Self { table, places, .. } = self;
        let above = table.ancestors(row).filter_map(|row| table.directory_id(row));
        let above = above.filter_map(|id| Some((id, places.unwatched_error(id)?)));
        let all = above.chain(self.unwatched_below(row));
        all.filter_map(|(id, error)| Some((table.directory_row(id)?, error?))).collect()
    }

    /// Opens the root; returns `None` if its path leads elsewhere by now. It is not kept open between updates: the system
    /// notifies of the removal of a directory only when it is closed.
    pub(crate) fn open_root(&self) -> Option<DirHandle> {
        let handle = DirHandle::open(&self.root).ok()?;
        let id = handle.attributes().ok()?.file_id();
        (id == self.root_id).then_some(handle)
    }
}

/// Returns the names that lead to a directory from the root.
pub(crate) fn names_above(table: &Table, directory: DirectoryId) -> Option<Vec<&OsStr>> {
    let row = table.directory_row(directory)?;
    let rows = table.ancestors(row);
    let mut names: Vec<&OsStr> = rows.map(|row| table.name(row)).collect();
    // The last one is the root.
    names.pop();
    names.reverse();
    Some(names)
}

/// Returns what a table has at a path below the root.
pub(crate) fn row_at(table: &Table, below: &Path) -> Option<Row> {
    below.iter().try_fold(table.roots().next()?, |row, name| table.child(row, name))
}
