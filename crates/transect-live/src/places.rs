//! Which directory of the table a notification and a file id belong to.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use transect::FileId;
use transect::table::{DirectoryId, Renumbering};
use transect_sys::watch::WatchId;

/// The directories that the table has.
#[derive(Debug, Default)]
pub(crate) struct Places {
    by_watch: HashMap<WatchId, DirectoryId, FixedState>,
    by_file_id: HashMap<FileId, DirectoryId, FixedState>,
    /// By directory.
    places: HashMap<DirectoryId, Place, FixedState>,
}

/// What identifies a directory to the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// `None` if the directory that had it is gone.
    file_id: Option<FileId>,
    watch: Option<WatchId>,
}

impl Places {
    pub(crate) fn insert(
        &mut self,
        directory: DirectoryId,
        file_id: FileId,
        watch: Option<WatchId>,
    ) {
        // It may have been watched before it was compared after a gap.
        self.remove(directory);
        self.by_file_id.insert(file_id, directory);
        if let Some(watch) = watch {
            self.by_watch.insert(watch, directory);
        }
        self.places.insert(directory, Place { file_id: Some(file_id), watch });
    }

    pub(crate) fn watched(&self, watch: WatchId) -> Option<DirectoryId> {
        self.by_watch.get(&watch).copied()
    }

    pub(crate) fn with_file_id(&self, id: FileId) -> Option<DirectoryId> {
        self.by_file_id.get(&id).copied()
    }

    pub(crate) fn file_id(&self, directory: DirectoryId) -> Option<FileId> {
        self.places.get(&directory)?.file_id
    }

    pub(crate) fn is_watched(&self, directory: DirectoryId) -> bool {
        self.places.get(&directory).is_some_and(|place| place.watch.is_some())
    }

    /// The directory is gone: something else may get its file id.
    pub(crate) fn forget_identity(&mut self, directory: DirectoryId) {
        let Some(place) = self.places.get_mut(&directory) else { return };
        let Place { file_id, watch } =
            std::mem::replace(place, Place { file_id: None, watch: None });
        self.forget(directory, file_id, watch);
    }

    /// Removes a directory, and returns its watch.
    pub(crate) fn remove(&mut self, directory: DirectoryId) -> Option<WatchId> {
        let Place { file_id, watch } = self.places.remove(&directory)?;
        self.forget(directory, file_id, watch)
    }

    /// Removes what leads to a directory, unless it leads to another one by now. Returns the watch if it did.
    fn forget(
        &mut self,
        directory: DirectoryId,
        file_id: Option<FileId>,
        watch: Option<WatchId>,
    ) -> Option<WatchId> {
        if let Some(id) = file_id
            && self.by_file_id.get(&id) == Some(&directory)
        {
            self.by_file_id.remove(&id);
        }
        let watch = watch.filter(|watch| self.by_watch.get(watch) == Some(&directory))?;
        self.by_watch.remove(&watch);
        Some(watch)
    }

    pub(crate) fn watched_count(&self) -> usize {
        self.by_watch.len()
    }

    /// Follows a table whose directories got other ids.
    pub(crate) fn renumber(&mut self, renumbering: &Renumbering) {
        let places = std::mem::take(self).places;
        for (directory, Place { file_id, watch }) in places {
            let Some(directory) = renumbering.id(directory) else { continue };
            match file_id {
                Some(file_id) => self.insert(directory, file_id, watch),
                None => _ = self.places.insert(directory, Place { file_id, watch }),
            }
        }
    }
}
