//! The map of a tree from the beginning of its reading: an outline first, all of it at the end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use transect::table::{PartialTable, Table};
use transect::{Cancel, Progress};

use super::{Drawing, Settings, State};
use crate::page::Nonce;
use crate::serve::Show;

/// What browsers are shown while a tree is being read, and afterwards.
#[derive(Debug)]
pub struct Live {
    settings: Settings,
    progress: Arc<Progress>,
    cancel: Cancel,
    now: Mutex<Now>,
}

#[derive(Debug)]
enum Now {
    Reading(PartialTable),
    Finished(Drawing),
    GivenUp,
}

impl Live {
    /// Shows an outline, as far as `progress` says, until all is there or `cancel` is asked for.
    pub fn new(
        outline: PartialTable,
        settings: Settings,
        progress: Arc<Progress>,
        cancel: Cancel,
    ) -> Self {
        Self { settings, progress, cancel, now: Mutex::new(Now::Reading(outline)) }
    }

    /// Shows the finished table from here on.
    ///
    /// # Errors
    /// Memory for packing the columns ran out.
    pub fn finish(&self, table: &Table, interrupted: bool) -> io::Result<()> {
        // Newer than all that was shown.
        let version = self.progress.counts().entries + 1;
        let drawing = self.draw(table, State { version, reading: false }, interrupted)?;
        *self.now() = Now::Finished(drawing);
        Ok(())
    }

    /// There will be no finished table, whatever the reason: nobody is to wait for it.
    pub fn give_up(&self) {
        let mut now = self.now();
        if matches!(*now, Now::Reading(_)) {
            *now = Now::GivenUp;
        }
    }

    fn draw(&self, table: &Table, state: State, interrupted: bool) -> io::Result<Drawing> {
        Drawing::of(table, &Settings { served: Some(state), interrupted, ..self.settings })
    }

    /// Draws what is known of a tree that is being read, unless that is `known` still.
    fn outlined(&self, outline: &PartialTable, known: Option<u64>) -> io::Result<Option<Drawing>> {
        // Asked first: what is drawn is not older.
        let version = self.progress.counts().entries;
        if known == Some(version) {
            return Ok(None);
        }
        let table = outline.table().map_err(io::Error::other)?;
        self.draw(&table, State { version, reading: true }, false).map(Some)
    }

    /// Returns what `show` makes of what is there now, if that is newer than `known`.
    fn newer<T>(&self, known: Option<u64>, show: impl Fn(&Drawing) -> T) -> io::Result<Option<T>> {
        let outline = match &*self.now() {
            Now::Reading(outline) => outline.clone(),
            Now::Finished(drawing) => {
                let version = drawing.served.map(|state| state.version);
                return Ok((known.is_none() || known != version).then(|| show(drawing)));
            }
            Now::GivenUp => return Ok(None),
        };
        // Without holding up who finishes.
        Ok(self.outlined(&outline, known)?.as_ref().map(show))
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Show for Live {
    fn page(&self) -> io::Result<Option<String>> {
        // Every response has a nonce of its own.
        let nonce = Nonce::random()?;
        self.newer(None, |drawing| drawing.html(&nonce))
    }

    fn columns(&self, known: u64) -> io::Result<Option<Vec<u8>>> {
        self.newer(Some(known), Drawing::columns)
    }

    fn entries(&self) -> u64 {
        self.progress.counts().entries
    }

    fn is_reading(&self) -> bool {
        matches!(*self.now(), Now::Reading(_))
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled() || matches!(*self.now(), Now::GivenUp)
    }
}
