//! Which directory of the table a notification and a file id belong to.

use std::collections::HashMap;
use std::num::NonZeroI64;
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::fast::FixedState;
use transect::FileId;
use transect::table::{DirectoryId, Renumbering};
use transect_sys::watch::WatchId;

/// Two changes within this many nanoseconds may get the same time: a tick of the slowest kernel's clock is 10 ms.
const TICK: i64 = 20_000_000;

/// The same where times are whole seconds.
const COARSE_TICK: i64 = 2_000_000_000;

/// The directories that the table has.
#[derive(Debug, Default)]
pub(crate) struct Places {
    by_watch: HashMap<WatchId, DirectoryId, FixedState>,
    by_file_id: HashMap<FileId, DirectoryId, FixedState>,
    /// By directory.
    places: HashMap<DirectoryId, Place, FixedState>,
    /// Directories that are there and not watched, with the number of the error if they cannot be opened.
    unwatched: HashMap<DirectoryId, Option<i32>, FixedState>,
}

/// What identifies a directory to the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// `None` if the directory that had it is gone.
    file_id: Option<FileId>,
    watch: Option<WatchId>,
    /// The time of the last change of the directory when it was listed: while it has the same time, it has the same names.
    /// `None` if that is not sure.
    listed: Option<NonZeroI64>,
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
        match watch {
            Some(watch) => _ = self.by_watch.insert(watch, directory),
            None => _ = self.unwatched.insert(directory, None),
        }
        self.places.insert(directory, Place { file_id: Some(file_id), watch, listed: None });
    }

    /// Records that a directory was listed, not earlier than at `clock`, and had this `ctime` before.
    pub(crate) fn list(&mut self, directory: DirectoryId, ctime: Option<i64>, clock: SystemTime) {
        let clock = clock.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        let listed = ctime.filter(|ctime| {
            let tick = if ctime % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
            ctime.saturating_add(tick) < clock
        });
        if let Some(place) = self.places.get_mut(&directory) {
            place.listed = listed.and_then(NonZeroI64::new);
        }
    }

    pub(crate) fn set_watch(&mut self, directory: DirectoryId, watch: WatchId) {
        if let Some(place) = self.places.get_mut(&directory) {
            place.watch = Some(watch);
            self.by_watch.insert(watch, directory);
            self.unwatched.remove(&directory);
        }
    }

    /// Returns whether a directory that is watched has the same names as when it was listed, given its `ctime`.
    pub(crate) fn is_proved(&self, directory: DirectoryId, ctime: Option<i64>) -> bool {
        let place = self.places.get(&directory).filter(|place| place.watch.is_some());
        let listed = place.and_then(|place| place.listed);
        listed.is_some_and(|listed| Some(listed.get()) == ctime)
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
        self.unwatched.remove(&directory);
        let Some(place) = self.places.get_mut(&directory) else { return };
        let gone = Place { file_id: None, watch: None, listed: None };
        let Place { file_id, watch, .. } = std::mem::replace(place, gone);
        self.forget(directory, file_id, watch);
    }

    /// Removes a directory, and returns its watch.
    pub(crate) fn remove(&mut self, directory: DirectoryId) -> Option<WatchId> {
        self.unwatched.remove(&directory);
        let Place { file_id, watch, .. } = self.places.remove(&directory)?;
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

    /// Records that a directory cannot be opened, with the number of the error. Returns the watch that it had.
    pub(crate) fn close(&mut self, directory: DirectoryId, error: i32) -> Option<WatchId> {
        let place = self.places.get_mut(&directory)?;
        let watch = place.watch.take();
        place.listed = None;
        self.unwatched.insert(directory, Some(error));
        self.forget(directory, None, watch)
    }

    /// Returns the directories that are not watched, with the number of the error of those that cannot be opened.
    pub(crate) fn unwatched(&self) -> impl ExactSizeIterator<Item = (DirectoryId, Option<i32>)> {
        self.unwatched.iter().map(|(&directory, &error)| (directory, error))
    }

    /// Returns the number of the error if a directory cannot be opened; the outer `None` if it is watched.
    pub(crate) fn unwatched_error(&self, directory: DirectoryId) -> Option<Option<i32>> {
        self.unwatched.get(&directory).copied()
    }

    /// Follows a table whose directories got other ids.
    pub(crate) fn renumber(&mut self, renumbering: &Renumbering) {
        let Self { places, unwatched, .. } = std::mem::take(self);
        let unwatched = unwatched.into_iter();
        self.unwatched
            .extend(unwatched.filter_map(|(id, error)| Some((renumbering.id(id)?, error))));
        for (directory, place) in places {
            let Some(directory) = renumbering.id(directory) else { continue };
            self.by_file_id.extend(place.file_id.map(|id| (id, directory)));
            self.by_watch.extend(place.watch.map(|watch| (watch, directory)));
            self.places.insert(directory, place);
        }
    }
}

#[cfg(test)]
#[cfg(any(target_os = "linux", windows))]
mod tests {
    use std::time::Duration;

    use transect::table::Table;
    use transect_sys::watch::{WatchMethod, Watcher};
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn places_recent_or_future_change_proves_nothing() {
        let temp = TempDir::new();
        let table = Table::read(temp.path()).unwrap();
        let directory = table.directory_id(table.roots().next().unwrap()).unwrap();
        let id = FileId { device: 1, inode: 2 };
        let method = if cfg!(windows) { WatchMethod::FileSystem } else { WatchMethod::Directories };
        let watcher = Watcher::of_tree(temp.path(), &method).unwrap();
        let watch = watcher.watch(temp.path()).unwrap();
        let is_proved = |ctime: i64, clock_ms: u64, watch| {
            let mut places = Places::default();
            places.insert(directory, id, watch);
            places.list(directory, Some(ctime), UNIX_EPOCH + Duration::from_millis(clock_ms));
            assert!(!places.is_proved(directory, Some(ctime + 1)));
            assert!(!places.is_proved(directory, None));
            places.is_proved(directory, Some(ctime))
        };
        let fine = 10_000_000_001;
        assert!(is_proved(fine, 10_021, Some(watch)));
        assert!(!is_proved(fine, 10_019, Some(watch)), "within a tick");
        assert!(!is_proved(fine, 9_000, Some(watch)), "the clock was set back");
        assert!(!is_proved(fine, 10_021, None), "not watched");
        assert!(is_proved(10_000_000_000, 12_001, Some(watch)));
        assert!(!is_proved(10_000_000_000, 11_999, Some(watch)), "times are whole seconds");
    }
}
