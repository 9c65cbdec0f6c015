//! What a live tree knows: the table, and which directory of the system each of its directories is.

use std::path::PathBuf;
use std::sync::Arc;

use transect::FieldMask;
use transect::table::Table;
use transect_sys::dir_handle::DirHandle;

use crate::inbox::Inbox;
use crate::places::Places;
use crate::suspects::Suspects;

/// The columns of the table: by them a changed entry is recognized, and a renamed directory or a second name of a file.
pub(crate) const COLUMNS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
    .union(FieldMask::FILE_ID);

/// A tree, and what is known of it.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub(crate) root: PathBuf,
    /// The root, wherever it is now.
    pub(crate) top: DirHandle,
    pub(crate) table: Arc<Table>,
    pub(crate) places: Places,
    pub(crate) inbox: Arc<Inbox>,
    /// Directories that could not be reached under their path: they were renamed, and the notification of that is
    /// still to come.
    pub(crate) unreached: Suspects,
}

impl Mirror {
    /// Returns whether the path of the root leads elsewhere by now.
    pub(crate) fn is_root_gone(&self) -> bool {
        let id = |handle: &DirHandle| handle.attributes().ok()?.file_id();
        let now = DirHandle::open(&self.root).ok();
        now.as_ref().and_then(id) != id(&self.top)
    }
}
