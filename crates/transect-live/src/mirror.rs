//! What a live tree knows: the table, and which directory of the system each of its directories is.

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::Table;
use transect::{FieldMask, FileId};
use transect_sys::dir_handle::DirHandle;

use crate::inbox::Inbox;
use crate::places::Places;
use crate::suspects::Suspects;

/// The columns of the table: by them a changed entry is recognized, and a renamed directory or a second name of a file.
pub const COLUMNS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
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
}

impl Mirror {
    /// Opens the root; returns `None` if its path leads elsewhere by now. It is not kept open between updates: the system
    /// notifies of the removal of a directory only when it is closed.
    pub(crate) fn open_root(&self) -> Option<DirHandle> {
        let handle = DirHandle::open(&self.root).ok()?;
        let id = handle.attributes().ok()?.file_id();
        (id == self.root_id).then_some(handle)
    }
}
