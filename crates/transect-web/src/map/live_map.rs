//! The map while a tree is being read: first a partial table, then the complete one.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
}

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
        Self { settings, progress, cancel, state: Mutex::new(LiveState::Reading(partial_table)) }
    }

    /// Shows the complete table from now on.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn finish(&self, table: &Table, interrupted: bool) -> io::Result<()> {
        // Newer than all partial versions.
        let version = self.progress.counts().entries + 1;
        let map = self.render(table, ServedState { version, reading: false }, interrupted)?;
        *self.state() = LiveState::Finished(map);
        Ok(())
    }

    /// Ends the server if there will be no complete table.
    pub fn abandon(&self) {
        let mut state = self.state();
        if matches!(*state, LiveState::Reading(_)) {
            *state = LiveState::Abandoned;
        }
    }

    fn render(
        &self,
        table: &Table,
        state: ServedState,
        interrupted: bool,
    ) -> io::Result<RenderedMap> {
        RenderedMap::of(table, &Settings { served: Some(state), interrupted, ..self.settings })
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
        self.render(&table, ServedState { version, reading: true }, false).map(Some)
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
        self.progress.counts().entries
    }

    fn is_reading(&self) -> bool {
        matches!(*self.state(), LiveState::Reading(_))
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled() || matches!(*self.state(), LiveState::Abandoned)
    }
}
