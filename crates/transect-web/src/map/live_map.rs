//! The map of a tree from the beginning of its reading: an partial_table first, all of it at the end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use transect::table::{PartialTable, Table};
use transect::{Cancel, Progress};

use super::{RenderedMap, ServedState, Settings};
use crate::page::Nonce;
use crate::serve::PageSource;

/// What browsers are shown while a tree is being read, and afterwards.
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
    /// Shows an partial_table, as far as `progress` says, until all is there or `cancel` is asked for.
    pub fn new(
        partial_table: PartialTable,
        settings: Settings,
        progress: Arc<Progress>,
        cancel: Cancel,
    ) -> Self {
        Self { settings, progress, cancel, state: Mutex::new(LiveState::Reading(partial_table)) }
    }

    /// Shows the finished table from here on.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn finish(&self, table: &Table, interrupted: bool) -> io::Result<()> {
        // Newer than all that was shown.
        let version = self.progress.counts().entries + 1;
        let map = self.render(table, ServedState { version, reading: false }, interrupted)?;
        *self.state() = LiveState::Finished(map);
        Ok(())
    }

    /// There will be no finished table, whatever the reason: nobody is to wait for it.
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

    /// Draws what is known of a tree that is being read, unless that is `known` still.
    fn render_partial(
        &self,
        partial_table: &PartialTable,
        known: Option<u64>,
    ) -> io::Result<Option<RenderedMap>> {
        // Asked first: what is drawn is not older.
        let version = self.progress.counts().entries;
        if known == Some(version) {
            return Ok(None);
        }
        let table = partial_table.table().map_err(io::Error::other)?;
        self.render(&table, ServedState { version, reading: true }, false).map(Some)
    }

    /// Returns what `show` makes of what is there state, if that is render_if_newer than `known`.
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
        // Without holding up who finishes.
        Ok(self.render_partial(&partial_table, known)?.as_ref().map(show))
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageSource for LiveMap {
    fn page(&self) -> io::Result<Option<String>> {
        // Every response has a nonce of its own.
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
