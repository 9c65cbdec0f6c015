//! The map while a tree is being read: first a partial table, then the complete one. Afterwards, the
//! tasks that its pages request.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use transect::table::{PartialTable, Row, RowSet, Table};
use transect::{Cancel, Progress};
use transect_duplicates::{FindOptions, find};
use transect_remove::RemovalKind;

use super::duplicates;
use super::removal::{self, PreparedRemoval, RemovalProgress};
use super::selection::Item;
use super::tasks::{Task, TaskProgress, Tasks};
use super::{RenderedMap, ServedState, Settings};
use crate::page::Nonce;
use crate::serve::{Action, EntryId, PageSource, Refusal};

/// The map of a tree while it is being read, and afterwards.
#[derive(Debug)]
pub struct LiveMap {
    settings: Settings,
    progress: Arc<Progress>,
    cancel: Cancel,
    /// Held while a complete map is made.
    rendering: Mutex<()>,
    state: Mutex<LiveState>,
    tasks: Mutex<Tasks>,
    task_requested: Condvar,
}

/// The interval between checks whether the server has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
enum LiveState {
    Reading(PartialTable),
    Finished(Arc<FinishedMap>),
    Abandoned,
}

/// A complete map, with the table that it shows.
#[derive(Debug)]
struct FinishedMap {
    table: Arc<Table>,
    settings: Settings,
    version: u64,
    map: RenderedMap,
}

impl LiveMap {
    /// Shows the partial table until [`finish`](Self::finish) is called. `cancel` ends the server.
    pub fn new(
        partial_table: PartialTable,
        settings: Settings,
        progress: Arc<Progress>,
        cancel: Cancel,
    ) -> Self {
        Self {
            settings,
            progress,
            cancel,
            state: Mutex::new(LiveState::Reading(partial_table)),
            rendering: Mutex::default(),
            tasks: Mutex::default(),
            task_requested: Condvar::new(),
        }
    }

    /// Shows a complete table from now on: the first one, or another one of the same tree. `settings`
    /// are those of its walk.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn finish(&self, table: Table, settings: &Settings) -> io::Result<()> {
        self.show(Arc::new(table), settings)
    }

    /// Shows that the tree is not followed any more.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn end_following(&self) -> io::Result<()> {
        let Some(map) = self.finished_map() else { return Ok(()) };
        self.show(Arc::clone(&map.table), &Settings { followed: false, ..map.settings })
    }

    fn show(&self, table: Arc<Table>, settings: &Settings) -> io::Result<()> {
        // Two tables never have the same version.
        let _one = self.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.finished_map().map_or(0, |map| map.version);
        // Newer than all partial versions.
        let version = (self.progress.counts().entries + 1).max(known + 1);
        let served = Some(ServedState { version, reading: false });
        let settings = Settings { served, ..*settings };
        let map = RenderedMap::of(&table, None, &settings)?;
        let map = FinishedMap { table, settings, version, map };
        *self.state() = LiveState::Finished(Arc::new(map));
        Ok(())
    }

    /// Runs the tasks that pages request, until one requests another walk or the server has ended.
    /// Returns whether there is to be another walk.
    ///
    /// # Errors
    /// Memory for a map ran out.
    pub fn run_tasks_until_rescan(&self) -> io::Result<bool> {
        let mut tasks = self.tasks();
        tasks.finish_rescan();
        loop {
            if self.cancel.is_cancelled() {
                return Ok(false);
            }
            let Some(task) = tasks.requested.take() else {
                let waited = self.task_requested.wait_timeout(tasks, POLL_INTERVAL);
                tasks = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            };
            drop(tasks);
            match task {
                Task::Rescan => return Ok(true),
                Task::Remove(prepared) => self.remove(&prepared)?,
                Task::FindDuplicates(below) => self.find_duplicates(below),
            }
            tasks = self.tasks();
        }
    }

    /// Ends the server if there will be no complete table.
    pub fn abandon(&self) {
        let mut state = self.state();
        if matches!(*state, LiveState::Reading(_)) {
            *state = LiveState::Abandoned;
        }
    }

    /// Removes an entry, and shows the table without it.
    fn remove(&self, prepared: &PreparedRemoval) -> io::Result<()> {
        let (Some(map), Some(trash)) = (self.finished_map(), self.settings.removal) else {
            self.tasks().finish(None);
            return Ok(());
        };
        let cancel = self.tasks().cancel.clone();
        let report = prepared.run(&map.table, trash, &cancel, &mut |progress| {
            if self.cancel.is_cancelled() {
                cancel.cancel();
            }
            self.tasks().set_progress(TaskProgress::Removal(progress));
        });
        // A newer table comes from the service that follows the tree.
        let is_current = self.finished_map().is_some_and(|now| now.version == map.version);
        if let Ok(report) = &report
            && !report.gone.is_empty()
            && is_current
        {
            let gone: RowSet = report.gone.iter().copied().collect();
            let table = map.table.without(&gone, prepared.kind.into()).map_err(io::Error::other)?;
            let roots: Vec<PathBuf> = map.table.roots().map(|root| map.table.path(root)).collect();
            let disk = map.settings.disk.and_then(|_| transect::internal::disk_space_of(&roots));
            self.finish(table, &Settings { disk, ..map.settings })?;
        }
        // If something was kept, the tree is not as it was scanned.
        let is_stale = report.as_ref().is_ok_and(|report| !report.kept.is_empty());
        let mut tasks = self.tasks();
        tasks.finish(Some(removal::outcome(prepared.kind, &report)));
        if is_stale {
            self.start_rescan(&mut tasks);
        }
        Ok(())
    }

    fn find_duplicates(&self, below: Row) {
        let Some(map) = self.finished_map() else { return self.tasks().finish(None) };
        let mut options = FindOptions::default();
        options.below = Some(below);
        let cancel = self.tasks().cancel.clone();
        options.cancel = cancel.clone();
        self.tasks().set_progress(TaskProgress::Search(Arc::clone(&options.progress)));
        let found = std::thread::scope(|scope| {
            let search = scope.spawn(|| find(&map.table, &options));
            while !search.is_finished() {
                if self.cancel.is_cancelled() {
                    cancel.cancel();
                }
                std::thread::park_timeout(POLL_INTERVAL);
            }
            search.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let outcome = duplicates::outcome(&map.table, &map.map.items, &found);
        self.tasks().finish(Some(outcome));
    }

    /// Has the tree read again, unless something else is running.
    fn start_rescan(&self, tasks: &mut Tasks) {
        tasks.entries_before = self.progress.counts().entries;
        if tasks.start_rescan() {
            self.task_requested.notify_one();
        }
    }

    fn prepare_removal(&self, kind: RemovalKind, entry: EntryId) -> Result<Value, Refusal> {
        self.check_removal_allowed()?;
        let (map, row) = self.entry(entry)?;
        self.tasks().check_idle()?;
        let (prepared, shown) = PreparedRemoval::of(&map.table, map.version, kind, row)?;
        self.tasks().prepared = Some(prepared);
        Ok(shown)
    }

    fn confirm(&self, number: u128) -> Result<Value, Refusal> {
        self.check_removal_allowed()?;
        let version = self.finished_map().map(|map| map.version);
        let mut tasks = self.tasks();
        tasks.check_idle()?;
        let Some(prepared) = tasks.prepared.take_if(|prepared| prepared.number == number) else {
            return Err(Refusal::conflict(
                "this confirmation was used, or replaced by another one",
            ));
        };
        if version != Some(prepared.version) {
            return Err(Refusal::conflict(OUTDATED));
        }
        let progress = TaskProgress::Removal(RemovalProgress::new(prepared.total));
        let number = tasks.start(Task::Remove(prepared), progress)?;
        self.task_requested.notify_one();
        Ok(json!({ "number": number }))
    }

    fn start_search(&self, entry: EntryId) -> Result<Value, Refusal> {
        let (_, row) = self.entry(entry)?;
        let progress = TaskProgress::Search(Arc::default());
        let number = self.tasks().start(Task::FindDuplicates(row), progress)?;
        self.task_requested.notify_one();
        Ok(json!({ "number": number }))
    }

    fn check_removal_allowed(&self) -> Result<(), Refusal> {
        let why = "removing is off; start `transect map` with --allow-removal";
        self.settings.removal.map(drop).ok_or_else(|| Refusal::forbidden(why))
    }

    /// Returns the row of an entry of the current map.
    fn entry(&self, entry: EntryId) -> Result<(Arc<FinishedMap>, Row), Refusal> {
        let Some(map) = self.finished_map() else {
            return Err(Refusal::conflict("the tree is still being read"));
        };
        if map.version != entry.version {
            return Err(Refusal::conflict(OUTDATED));
        }
        match map.map.items.get(entry.index as usize) {
            Some(&Item::Entry(row)) => Ok((map, row)),
            _ => Err(Refusal::conflict("not a single entry")),
        }
    }

    fn finished_map(&self) -> Option<Arc<FinishedMap>> {
        match &*self.state() {
            LiveState::Finished(map) => Some(Arc::clone(map)),
            LiveState::Reading(_) | LiveState::Abandoned => None,
        }
    }

    /// Returns `show` of the current map, if it is newer than `known`.
    fn render_if_newer<T>(
        &self,
        known: Option<u64>,
        show: impl Fn(&RenderedMap) -> T,
    ) -> io::Result<Option<T>> {
        let partial_table = match &*self.state() {
            LiveState::Reading(partial_table) => partial_table.clone(),
            LiveState::Finished(map) => {
                return Ok((known != Some(map.version)).then(|| show(&map.map)));
            }
            LiveState::Abandoned => return Ok(None),
        };
        // Read before the table, so that the table is not older than the version.
        let version = self.progress.counts().entries;
        if known == Some(version) {
            return Ok(None);
        }
        // Rendered without the lock, so that `finish` does not wait.
        let table = partial_table.table().map_err(io::Error::other)?;
        let served = Some(ServedState { version, reading: true });
        let map = RenderedMap::of(&table, None, &Settings { served, ..self.settings })?;
        Ok(Some(show(&map)))
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a request about an older version is refused.
const OUTDATED: &str = "the map has changed since; look again";

impl PageSource for LiveMap {
    fn page(&self) -> io::Result<Option<String>> {
        // Every response has a new nonce.
        let nonce = Nonce::random()?;
        self.render_if_newer(None, |map| map.html(&nonce))
    }

    fn columns(&self, known: u64) -> io::Result<Option<Vec<u8>>> {
        self.render_if_newer(Some(known), RenderedMap::columns)
    }

    fn entries(&self) -> u64 {
        self.progress.counts().entries - self.tasks().entries_before
    }

    fn is_reading(&self) -> bool {
        self.tasks().is_rescanning() || matches!(*self.state(), LiveState::Reading(_))
    }

    fn act(&self, action: Action) -> Result<Option<Value>, Refusal> {
        match action {
            Action::Rescan if self.is_reading() => Ok(None),
            Action::Rescan => {
                let mut tasks = self.tasks();
                tasks.check_idle()?;
                self.start_rescan(&mut tasks);
                Ok(None)
            }
            Action::PrepareRemoval { kind, entry } => self.prepare_removal(kind, entry).map(Some),
            Action::Confirm(number) => self.confirm(number).map(Some),
            Action::FindDuplicates(entry) => self.start_search(entry).map(Some),
            Action::Stop => {
                self.tasks().cancel.cancel();
                Ok(None)
            }
        }
    }

    fn task(&self) -> Value {
        self.tasks().json()
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled() || matches!(*self.state(), LiveState::Abandoned)
    }
}
