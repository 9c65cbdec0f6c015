//! What a live tree knows: the table, and which directory of the system each of its directories is.

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{DirectoryId, Table};
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
    /// Directories of which only the names were compared after a gap: the next update compares the attributes.
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

    /// Opens the root; returns `None` if its path leads elsewhere by now. It is not kept open between updates: the system
    /// notifies of the removal of a directory only when it is closed.
    pub(crate) fn open_root(&self) -> Option<DirHandle> {
        let handle = DirHandle::open(&self.root).ok()?;
        let id = handle.attributes().ok()?.file_id();
        (id == self.root_id).then_some(handle)
    }
}
