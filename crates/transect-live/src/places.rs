//! Which directory of the table a notification and a file id belong to.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroI64;
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use transect::FileId;
use transect::table::{DirectoryId, Renumbering, Table};
use transect_sys::watch::WatchId;

/// Two changes within this many nanoseconds may get the same time: a tick of the slowest kernel's clock is 10 ms.
const TICK: i64 = 20_000_000;

/// The same where times are whole seconds.
const COARSE_TICK: i64 = 2_000_000_000;

/// The directories that the table has.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// By the number of the directory. The two indexes below find their keys here.
    places: Vec<Option<Place>>,
    by_watch: HashTable<DirectoryId>,
    by_file_id: HashTable<DirectoryId>,
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
    /// Returns no places, with room for the directories of a table.
    pub(crate) fn with_room(table: &Table) -> Self {
        let count = table.grand_total().directories as usize;
        Self { places: Vec::with_capacity(count), ..Self::default() }
    }

    fn get(&self, directory: DirectoryId) -> Option<&Place> {
        self.places.get(directory.number())?.as_ref()
    }

    fn get_mut(&mut self, directory: DirectoryId) -> Option<&mut Place> {
        self.places.get_mut(directory.number())?.as_mut()
    }

    pub(crate) fn insert(
        &mut self,
        directory: DirectoryId,
        file_id: FileId,
        watch: Option<WatchId>,
    ) {
        // It may have been watched before it was compared after a gap.
        self.remove(directory);
        if watch.is_none() {
            self.unwatched.insert(directory, None);
        }
        self.put(directory, Place { file_id: Some(file_id), watch, listed: None });
    }

    /// Stores a place. From now on, its file id and its watch lead to this directory, and to no other.
    fn put(&mut self, directory: DirectoryId, place: Place) {
        let number = directory.number();
        if self.places.len() <= number {
            if self.places.capacity() <= number {
                // A vector would double its memory.
                self.places.reserve_exact(number + 1 - self.places.len() + number / 8);
            }
            self.places.resize(number + 1, None);
        }
        self.places[number] = Some(place);
        let Self { places, by_watch, by_file_id, .. } = self;
        if let Some(id) = place.file_id {
            lead(by_file_id, places, directory, id, |place| place.file_id);
        }
        if let Some(watch) = place.watch {
            lead(by_watch, places, directory, watch, |place| place.watch);
        }
    }

    /// Records that a directory was listed, not earlier than at `clock`, and had this `ctime` before.
    pub(crate) fn list(&mut self, directory: DirectoryId, ctime: Option<i64>, clock: SystemTime) {
        let clock = clock.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        let listed = ctime.filter(|ctime| {
            let tick = if ctime % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
            ctime.saturating_add(tick) < clock
        });
        if let Some(place) = self.get_mut(directory) {
            place.listed = listed.and_then(NonZeroI64::new);
        }
    }

    pub(crate) fn set_watch(&mut self, directory: DirectoryId, watch: WatchId) {
        if let Some(&place) = self.get(directory) {
            self.forget(directory, place);
            self.put(directory, Place { watch: Some(watch), ..place });
            self.unwatched.remove(&directory);
        }
    }

    /// Returns whether a directory that is watched has the same names as when it was listed, given its `ctime`.
    pub(crate) fn is_proved(&self, directory: DirectoryId, ctime: Option<i64>) -> bool {
        let place = self.get(directory).filter(|place| place.watch.is_some());
        let listed = place.and_then(|place| place.listed);
        listed.is_some_and(|listed| Some(listed.get()) == ctime)
    }

    pub(crate) fn watched(&self, watch: WatchId) -> Option<DirectoryId> {
        let is_it = |&id: &DirectoryId| self.get(id).is_some_and(|it| it.watch == Some(watch));
        self.by_watch.find(hash(&watch), is_it).copied()
    }

    pub(crate) fn with_file_id(&self, id: FileId) -> Option<DirectoryId> {
        let is_it = |&it: &DirectoryId| self.file_id(it) == Some(id);
        self.by_file_id.find(hash(&id), is_it).copied()
    }

    pub(crate) fn file_id(&self, directory: DirectoryId) -> Option<FileId> {
        self.get(directory)?.file_id
    }

    pub(crate) fn is_watched(&self, directory: DirectoryId) -> bool {
        self.get(directory).is_some_and(|place| place.watch.is_some())
    }

    /// The directory is gone: something else may get its file id.
    pub(crate) fn forget_identity(&mut self, directory: DirectoryId) {
        self.unwatched.remove(&directory);
        let Some(place) = self.get_mut(directory) else { return };
        let gone = Place { file_id: None, watch: None, listed: None };
        let place = std::mem::replace(place, gone);
        self.forget(directory, place);
    }

    /// Removes a directory, and returns its watch.
    pub(crate) fn remove(&mut self, directory: DirectoryId) -> Option<WatchId> {
        self.unwatched.remove(&directory);
        let place = self.places.get_mut(directory.number())?.take()?;
        self.forget(directory, place)
    }

    /// Removes what led to a directory, unless it leads to another one by now. Returns the watch if it did.
    fn forget(&mut self, directory: DirectoryId, place: Place) -> Option<WatchId> {
        let remove = |index: &mut HashTable<DirectoryId>, hash| {
            index.find_entry(hash, |&it| it == directory).map(|found| found.remove()).is_ok()
        };
        if let Some(id) = place.file_id {
            remove(&mut self.by_file_id, hash(&id));
        }
        place.watch.filter(|watch| remove(&mut self.by_watch, hash(watch)))
    }

    /// Records that a directory cannot be opened, with the number of the error. Returns the watch that it had.
    pub(crate) fn close(&mut self, directory: DirectoryId, error: i32) -> Option<WatchId> {
        let place = self.get_mut(directory)?;
        let watch = place.watch.take();
        place.listed = None;
        self.unwatched.insert(directory, Some(error));
        self.forget(directory, Place { file_id: None, watch, listed: None })
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
    pub(crate) fn renumber(&mut self, renumbering: &Renumbering, table: &Table) {
        let Self { places, unwatched, .. } = std::mem::replace(self, Self::with_room(table));
        let unwatched = unwatched.into_iter();
        self.unwatched
            .extend(unwatched.filter_map(|(id, error)| Some((renumbering.id(id)?, error))));
        for (old, new) in renumbering.ids() {
            if let Some(Some(place)) = places.get(old.number()) {
                self.put(new, *place);
            }
        }
    }
}

fn hash(key: &impl Hash) -> u64 {
    FixedState::default().hash_one(key)
}

/// Makes a key of a place lead to its directory, instead of to the one before.
fn lead<K: Copy + Eq + Hash>(
    index: &mut HashTable<DirectoryId>,
    places: &[Option<Place>],
    directory: DirectoryId,
    key: K,
    key_of: impl Fn(&Place) -> Option<K>,
) {
    let key_at = |id: &DirectoryId| places[id.number()].as_ref().and_then(&key_of);
    let hash_at =
        |id: &DirectoryId| hash(&key_at(id).expect("BUG: an index has a place without key"));
    match index.entry(hash(&key), |id| key_at(id) == Some(key), hash_at) {
        Entry::Occupied(mut other) => *other.get_mut() = directory,
        Entry::Vacant(place) => _ = place.insert(directory),
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

    fn watcher_of(temp: &TempDir) -> Watcher {
        let method = if cfg!(windows) { WatchMethod::FileSystem } else { WatchMethod::Directories };
        Watcher::of_tree(temp.path(), &method).unwrap()
    }

    #[test]
    fn places_keys_lead_to_the_last_directory_that_got_them() {
        let temp = TempDir::new();
        let names: Vec<String> = (0..100).map(|number| format!("{number:02}")).collect();
        names.iter().for_each(|name| std::fs::create_dir(temp.join(name)).unwrap());
        let table = Table::read(temp.path()).unwrap();
        let ids: Vec<DirectoryId> =
            table.iter().filter_map(|row| table.directory_id(row)).collect();
        let watcher = watcher_of(&temp);
        let watches: Vec<WatchId> =
            names.iter().map(|name| watcher.watch(&temp.join(name)).unwrap()).collect();
        let file_id = |number: usize| FileId { device: 1, inode: number as u64 };
        let mut places = Places::with_room(&table);
        for (number, &watch) in watches.iter().enumerate().rev() {
            places.insert(ids[number], file_id(number), Some(watch));
        }
        for (number, &watch) in watches.iter().enumerate() {
            assert_eq!(places.with_file_id(file_id(number)), Some(ids[number]));
            assert_eq!(places.watched(watch), Some(ids[number]));
        }
        places.insert(ids[100], file_id(7), None);
        assert_eq!(places.with_file_id(file_id(7)), Some(ids[100]));
        assert_eq!(places.remove(ids[7]), Some(watches[7]));
        assert_eq!(places.with_file_id(file_id(7)), Some(ids[100]), "another has it by now");
        assert_eq!((places.watched(watches[7]), places.file_id(ids[7])), (None, None));
        places.set_watch(ids[100], watches[7]);
        assert_eq!(places.watched(watches[7]), Some(ids[100]));
        assert_eq!(places.close(ids[100], 13), Some(watches[7]));
        assert_eq!(places.unwatched_error(ids[100]), Some(Some(13)));
        places.forget_identity(ids[8]);
        assert_eq!((places.with_file_id(file_id(8)), places.watched(watches[8])), (None, None));
        assert_eq!(places.with_file_id(file_id(9)), Some(ids[9]));
    }

    #[test]
    fn places_recent_or_future_change_proves_nothing() {
        let temp = TempDir::new();
        let table = Table::read(temp.path()).unwrap();
        let directory = table.directory_id(table.roots().next().unwrap()).unwrap();
        let id = FileId { device: 1, inode: 2 };
        let watch = watcher_of(&temp).watch(temp.path()).unwrap();
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
