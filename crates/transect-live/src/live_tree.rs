//! A tree and its table, kept current.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::SystemTime;

use foldhash::fast::FixedState;
use transect::table::{DirectoryId, Row, Table, TableBuilder};
use transect::{Cancel, Error, FileId, Operation, ReaderKind, ScanError, ScanOptions};
use transect_sys::watch::{WatchId, WatchMethod, Watcher};
use transect_sys::{ReaderSettings, SystemReader};

use crate::change::Change;
use crate::inbox::{Hints, Inbox};
use crate::lookup::PathLookup;
use crate::mirror::{COLUMNS, Mirror};
use crate::pace::Pace;
use crate::places::Places;
use crate::reader::{Watched, WatchingReader};
use crate::resume::watch_again;
use crate::suspects::{Names, Suspects};
use crate::update::apply;

/// A table of a tree that follows the tree.
#[derive(Debug)]
pub struct LiveTree {
    mirror: Mirror,
    pace: Pace,
    has_ended: bool,
    /// The names are still to be compared with those of a table from before.
    is_resumed: bool,
    /// Ends after everything else here.
    _thread: Notifications,
}

/// What happened since the update before.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Update {
    /// The changes. Applied in this order, they lead from the names before to those of now.
    pub changes: Vec<Change>,
    /// Notifications were lost, and all names were compared. What was created and removed in between is not reported. Changed
    /// attributes of files that kept their names may be reported in the next updates of [`LiveTree::next`], which follow at
    /// once.
    pub was_gap: bool,
    /// The root is not at its path any more. There are no further updates.
    pub is_root_gone: bool,
}

impl LiveTree {
    /// Walks a tree, and watches each of its directories. Other file systems below the root are not entered. If `end` is
    /// cancelled meanwhile, the tree is only what was read.
    ///
    /// # Errors
    /// The root is not a directory or cannot be read; the system has no notifications, or allows no further watcher.
    pub fn open(root: impl Into<PathBuf>, end: &Cancel) -> Result<Self, Error> {
        Self::open_with(root, end, &WatchMethod::default())
    }

    /// Like [`LiveTree::open`], but with a choice of where the notifications come from.
    ///
    /// # Errors
    /// As those of [`LiveTree::open`]; the method is not available for this tree.
    pub fn open_with(
        root: impl Into<PathBuf>,
        end: &Cancel,
        method: &WatchMethod,
    ) -> Result<Self, Error> {
        let root = root.into();
        let refused = |error: std::io::Error| Error::NoNotifications(transect::reason(&error));
        let inbox = Inbox::new(Watcher::of_tree(&root, method).map_err(refused)?);
        // The kernel's queue must not overflow during the walk.
        let thread = Notifications::start(&inbox)?;
        let watched = Arc::<Watched>::default();
        let options = ScanOptions::new([&root]).same_file_system(true).cancel(end.clone());
        let (builder, clock) = (TableBuilder::new(COLUMNS), SystemTime::now());
        let outcome = options.plan()?.run_with(
            || builder.sink(),
            || {
                let inner = SystemReader::new(ReaderKind::best(), ReaderSettings::default());
                WatchingReader::new(inner, Arc::clone(&inbox), Arc::clone(&watched))
            },
        )?;
        let mut table = outcome.sink.into_table()?.require_root()?;
        table.pack();
        let row = table.roots().next().filter(|&row| table.directory_id(row).is_some());
        let Some(row) = row else {
            let error = std::io::ErrorKind::NotADirectory.into();
            return Err(Error::Root(ScanError::new(Operation::OpenDirectory, root, 0, error)));
        };
        let root_id = table.attributes(row).file_id();
        let watched = watched.take();
        let places = find_places(&table, watched.watches, clock);
        let is_watched = table.directory_id(row).is_some_and(|id| places.is_watched(id));
        if let (false, Some(error)) = (is_watched, watched.failure) {
            return Err(refused(error));
        }
        if root_id.is_none() {
            return Err(Error::NoNotifications("its directories have no file ids".to_owned()));
        }
        let (table, unreached, behind) = (Arc::new(table), Suspects::default(), Vec::new());
        let has_proofs = transect_sys::host::proves_changes(&root);
        let mirror = Mirror { root, root_id, table, places, inbox, unreached, behind, has_proofs };
        let pace = Pace::default();
        // The walk needed more memory than the table.
        transect_sys::memory::return_free_memory();
        Ok(Self { mirror, pace, has_ended: false, is_resumed: false, _thread: thread })
    }

    /// Follows a tree again, with a table that [`LiveTree::storable`] returned before. All directories are watched; those that
    /// changed since are listed in the next update, which is as after lost notifications. If `end` is cancelled meanwhile, the
    /// tree is not complete. Returns `None` if something else is at the root.
    ///
    /// # Errors
    /// The system has no notifications, or allows no further watcher.
    pub fn resume(
        root: impl Into<PathBuf>,
        table: Arc<Table>,
        stored: SystemTime,
        end: &Cancel,
    ) -> Result<Option<Self>, Error> {
        Self::resume_with(root, table, stored, end, &WatchMethod::default())
    }

    /// Like [`LiveTree::resume`], but with a choice of where the notifications come from.
    ///
    /// # Errors
    /// As those of [`LiveTree::resume`]; the method is not available for this tree.
    pub fn resume_with(
        root: impl Into<PathBuf>,
        mut table: Arc<Table>,
        stored: SystemTime,
        end: &Cancel,
        method: &WatchMethod,
    ) -> Result<Option<Self>, Error> {
        let root = root.into();
        if let Some(table) = Arc::get_mut(&mut table) {
            table.pack();
        }
        let row = table.roots().next().filter(|&row| table.name(row) == root.as_os_str());
        let root_id = row.and_then(|row| table.attributes(row).file_id());
        let refused = |error: std::io::Error| Error::NoNotifications(transect::reason(&error));
        let inbox = Inbox::new(Watcher::of_tree(&root, method).map_err(refused)?);
        let thread = Notifications::start(&inbox)?;
        let has_proofs = transect_sys::host::proves_changes(&root);
        let mut mirror = Mirror {
            root,
            root_id,
            table,
            places: Places::default(),
            inbox,
            unreached: Suspects::default(),
            behind: Vec::new(),
            has_proofs,
        };
        let Some(top) = mirror.open_root().filter(|_| root_id.is_some()) else { return Ok(None) };
        let (places, proved) =
            watch_again(&mirror.table, &top, mirror.inbox.watcher(), stored, end);
        mirror.places = places;
        mirror.behind = if has_proofs { proved } else { Vec::new() };
        let same: HashSet<DirectoryId> = mirror.behind.iter().copied().collect();
        let directories = mirror.table.iter().filter_map(|row| mirror.table.directory_id(row));
        let changed = directories.filter(|id| !same.contains(id));
        mirror.unreached = changed.map(|id| (id, Names::All)).collect();
        let pace = Pace::default();
        transect_sys::memory::return_free_memory();
        Ok(Some(Self { mirror, pace, has_ended: false, is_resumed: true, _thread: thread }))
    }

    /// Returns a table to [resume](LiveTree::resume) from. `None` if a directory is not watched although it was read: its
    /// times prove nothing.
    pub fn storable(&self) -> Option<Arc<Table>> {
        let Mirror { table, places, unreached, .. } = &self.mirror;
        let is_proof = |row| {
            let id = table.directory_id(row);
            id.is_none_or(|id| places.is_watched(id) || table.unread_reason(row).is_some())
        };
        let is_storable = !self.has_ended && unreached.is_empty() && table.iter().all(is_proof);
        is_storable.then(|| self.table())
    }

    /// Returns the path of the root, as given.
    pub fn root(&self) -> &Path {
        &self.mirror.root
    }

    /// Returns the table after the last update. Later updates do not change it: they make another one.
    pub fn table(&self) -> Arc<Table> {
        Arc::clone(&self.mirror.table)
    }

    pub(crate) fn lookup(&self, mounts: &[PathBuf]) -> PathLookup<'_> {
        PathLookup::new(&self.mirror, mounts)
    }

    /// Returns the directories above, in and below a row that cannot be opened, with the numbers of the errors.
    pub(crate) fn closed_around(&self, row: Row) -> HashMap<Row, i32> {
        self.mirror.closed_around(row)
    }

    /// Returns the number of directories that are not watched although they were read: changes in them are not
    /// noticed. The system limits the number of watches of a user (`fs.inotify.max_user_watches`).
    pub fn unwatched(&self) -> u64 {
        let table = &self.mirror.table;
        let was_read = |row: Row| table.unread_reason(row).is_none();
        let rows = self.mirror.places.unwatched().filter_map(|(id, _)| table.directory_row(id));
        rows.filter(|&row| was_read(row)).count() as u64
    }

    /// Waits until something changed, and applies it. A single change is applied at once. While changes continue, an
    /// update collects those of up to 50 ms. Returns `None` if `end` was cancelled and the tree was
    /// [woken](Waker::wake), or after the root has gone.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn next(&mut self, end: &Cancel) -> Result<Option<Update>, Error> {
        loop {
            if self.has_ended {
                return Ok(None);
            }
            let is_due = self.is_behind() || self.pace.wait(&self.mirror.inbox, end);
            if !is_due || end.is_cancelled() {
                return Ok(None);
            }
            let update = self.update()?;
            // Something may have changed twice, and be as before.
            if !update.changes.is_empty() || update.was_gap || update.is_root_gone {
                return Ok(Some(update));
            }
        }
    }

    /// Returns whether something is still to be compared after a gap.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_resumed || !self.mirror.behind.is_empty()
    }

    /// Applies what was notified, without waiting for further notifications.
    pub(crate) fn update(&mut self) -> Result<Update, Error> {
        let hints = match self.is_behind() {
            true => self.mirror.inbox.take(),
            false => self.mirror.inbox.take_arrived(),
        };
        let behind = if self.is_resumed { Vec::new() } else { self.mirror.take_some_behind() };
        self.apply(hints, behind)
    }

    /// Applies every change that was made before this call.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn settle(&mut self) -> Result<Update, Error> {
        let mut update = self.settle_names()?;
        if !self.mirror.behind.is_empty() {
            let behind = std::mem::take(&mut self.mirror.behind);
            let Update { changes, is_root_gone, .. } = self.apply(Hints::default(), behind)?;
            update.changes.extend(changes);
            update.is_root_gone |= is_root_gone;
        }
        Ok(update)
    }

    /// Compares the directories in and below one that are not watched with the table. Each is watched if that is possible
    /// by now.
    pub(crate) fn check_unwatched(&mut self, top: Row) -> Result<Update, Error> {
        let below = self.mirror.unwatched_below(top);
        if below.is_empty() {
            return Ok(Update::default());
        }
        let unreached = &mut self.mirror.unreached;
        below.into_iter().for_each(|(directory, _)| _ = unreached.insert(directory, Names::All));
        self.apply(Hints::default(), Vec::new())
    }

    /// Applies every change that was made before this call, except that after a gap only names are compared.
    pub(crate) fn settle_names(&mut self) -> Result<Update, Error> {
        let hints = self.mirror.inbox.take();
        self.apply(hints, Vec::new())
    }

    /// Compares the attributes in and below a row that were not compared after a gap. Returns `None` if they are too many to
    /// wait for.
    pub(crate) fn settle_below(&mut self, row: Row) -> Result<Option<Update>, Error> {
        let behind = self.mirror.take_behind_below(row);
        behind.map(|behind| self.apply(Hints::default(), behind)).transpose()
    }

    /// Makes the next update compare every directory, as after lost notifications: for changes that no notification
    /// reports.
    pub fn suspect_all(&mut self) {
        self.mirror.inbox.lose();
    }

    /// Makes the next update list the directories in and below a row, and query everything in them; of a file, the one that
    /// holds it.
    pub(crate) fn suspect_below(&mut self, row: Row) {
        let Mirror { table, unreached, .. } = &mut self.mirror;
        let is_directory = table.directory_id(row).is_some();
        let top = if is_directory { Some(row) } else { table.parent(row) };
        let rows = top.into_iter().flat_map(|top| table.subtree(top));
        let directories = rows.filter_map(|row| table.directory_id(row));
        directories.for_each(|directory| _ = unreached.insert(directory, Names::All));
    }

    /// Returns a handle that ends [`LiveTree::next`] from another thread.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.mirror.inbox))
    }

    fn apply(&mut self, hints: Hints, behind: Vec<DirectoryId>) -> Result<Update, Error> {
        let was_gap = hints.lost | std::mem::take(&mut self.is_resumed);
        let top = self.mirror.open_root();
        self.has_ended = top.is_none();
        let is_suspected = !hints.is_empty() || !behind.is_empty();
        let changes = match top {
            // A table that was edited, even if nothing changed, is slower.
            Some(top) if is_suspected || !self.mirror.unreached.is_empty() => {
                apply(&mut self.mirror, top, hints, behind)?
            }
            _ => Vec::new(),
        };
        Ok(Update { changes, was_gap, is_root_gone: self.has_ended })
    }
}

/// Ends [`LiveTree::next`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Inbox>);

impl Waker {
    /// Makes [`LiveTree::next`] look whether it was cancelled.
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Waits until something may have changed; returns false if `end` was cancelled.
    pub(crate) fn wait(&self, pace: &mut Pace, end: &Cancel) -> bool {
        pace.wait(&self.0, end)
    }
}

/// The thread that takes notifications. It ends with this value.
#[derive(Debug)]
struct Notifications {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl Notifications {
    fn start(inbox: &Arc<Inbox>) -> Result<Self, Error> {
        let thread = inbox.start().map_err(Error::ThreadStart)?;
        Ok(Self { inbox: Arc::clone(inbox), thread: Some(thread) })
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.inbox.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed, and has no consequences here.
            let _ = thread.join();
        }
    }
}

/// Finds the directories of a table that were watched, by their file ids, and listed, not earlier than at `clock`.
fn find_places(table: &Table, watches: Vec<(FileId, WatchId)>, clock: SystemTime) -> Places {
    let watches: HashMap<_, _, FixedState> = watches.into_iter().collect();
    let mut places = Places::with_room(table);
    for row in table.iter() {
        if let Some(directory) = table.directory_id(row)
            && let attributes = table.attributes(row)
            && let Some(id) = attributes.file_id()
        {
            places.insert(directory, id, watches.get(&id).copied());
            if table.unread_reason(row).is_none() {
                places.list(directory, attributes.ctime(), clock);
            }
        }
    }
    places
}

#[cfg(test)]
#[cfg(windows)]
mod tests {
    use std::fs;

    use transect_sys::watch::Notification;
    use transect_testkit::TempDir;

    use super::*;

    /// Wine does not report the change itself, because it is in a directory that was there before.
    #[test]
    fn live_tree_path_in_another_case_resolved() {
        let temp = TempDir::new();
        fs::create_dir_all(temp.join("dir/below")).unwrap();
        fs::write(temp.join("dir/below/file"), "1").unwrap();
        let mut tree = LiveTree::open(temp.path(), &Cancel::new()).unwrap();
        fs::write(temp.join("dir/below/file"), "22").unwrap();
        let path: PathBuf = ["DIR", "BELOW", "FILE"].iter().collect();
        tree.mirror.inbox.add(Notification::Path { path: &path, of_name: false });
        tree.update().unwrap();
        let table = tree.table();
        let root = table.roots().next().unwrap();
        let row = ["dir", "below", "file"]
            .iter()
            .try_fold(root, |row, name| table.child(row, name.as_ref()));
        assert_eq!(table.attributes(row.unwrap()).size(), Some(2));
        assert_eq!(table.len(), 4);
    }
}
