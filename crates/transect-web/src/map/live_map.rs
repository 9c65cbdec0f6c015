//! The map while a tree is being read: first a partial table, then the complete one.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use transect::table::{PartialTable, Table};
use transect::{Cancel, Progress};

use super::{RenderedMap, ServedState, Settings};
use crate::page::Nonce;
use crate::serve::PageSource;

/// The map of a tree while it is being read, and afterwards.
#[derive(Debug)]
pub struct LiveMap {
    settings: Settings,
    progress: Arc<Progress>,
    cancel: Cancel,
    state: Mutex<LiveState>,
    rescan: Mutex<Rescan>,
    rescan_changed: Condvar,
}

/// The state of reading the tree again.
#[derive(Debug, Default)]
struct Rescan {
    is_requested: bool,
    is_running: bool,
    /// The number of entries read before.
    entries_before: u64,
}

/// The interval between checks whether the server has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
enum LiveState {
    Reading(PartialTable),
    Finished(RenderedMap),
    Abandoned,
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
            rescan: Mutex::default(),
            rescan_changed: Condvar::new(),
        }
    }

    /// Shows a complete table from now on: the first one, or that of another walk. `settings` are those
    /// of that walk.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn finish(&self, table: &Table, settings: &Settings) -> io::Result<()> {
        // Newer than all partial versions.
        let version = self.progress.counts().entries + 1;
        let known = match &*self.state() {
            LiveState::Finished(map) => map.served.map_or(0, |state| state.version),
            LiveState::Reading(_) | LiveState::Abandoned => 0,
        };
        let version = version.max(known + 1);
        let served = Some(ServedState { version, reading: false });
        let map = RenderedMap::of(table, &Settings { served, ..*settings })?;
        *self.state() = LiveState::Finished(map);
        Ok(())
    }

    /// Waits until the page requests another walk. Returns false if the server has ended.
    pub fn wait_for_rescan(&self) -> bool {
        let mut rescan = self.lock_rescan();
        rescan.is_running = false;
        while !rescan.is_requested {
            if self.cancel.is_cancelled() {
                return false;
            }
            let waited = self.rescan_changed.wait_timeout(rescan, POLL_INTERVAL);
            rescan = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        rescan.is_requested = false;
        !self.cancel.is_cancelled()
    }

    /// Ends the server if there will be no complete table.
    pub fn abandon(&self) {
        let mut state = self.state();
        if matches!(*state, LiveState::Reading(_)) {
            *state = LiveState::Abandoned;
        }
    }

    /// Renders the partial table, unless its version is `known`.
    fn render_partial(
        &self,
        partial_table: &PartialTable,
        known: Option<u64>,
    ) -> io::Result<Option<RenderedMap>> {
        // Read before the table, so that the table is not older than the version.
        let version = self.progress.counts().entries;
        if known == Some(version) {
            return Ok(None);
        }
        let table = partial_table.table().map_err(io::Error::other)?;
        let served = Some(ServedState { version, reading: true });
        RenderedMap::of(&table, &Settings { served, ..self.settings }).map(Some)
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
                let version = map.served.map(|state| state.version);
                return Ok((known.is_none() || known != version).then(|| show(map)));
            }
            LiveState::Abandoned => return Ok(None),
        };
        // Rendered without the lock, so that `finish` does not wait.
        Ok(self.render_partial(&partial_table, known)?.as_ref().map(show))
    }

    fn lock_rescan(&self) -> MutexGuard<'_, Rescan> {
        self.rescan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
        self.progress.counts().entries - self.lock_rescan().entries_before
    }

    fn is_reading(&self) -> bool {
        self.lock_rescan().is_running || matches!(*self.state(), LiveState::Reading(_))
    }

    fn rescan(&self) {
        if self.is_reading() {
            return;
        }
        let entries_before = self.progress.counts().entries;
        *self.lock_rescan() = Rescan { is_requested: true, is_running: true, entries_before };
        self.rescan_changed.notify_one();
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled() || matches!(*self.state(), LiveState::Abandoned)
    }
}
