//! Something is removed, on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use transect::Cancel;
use transect::table::{Row, Table};
use transect_remove::{Counts, Removal, Report, Trash};

use crate::app::Answer;
use transect_text::quote;

/// How often it is told how far it is.
const PERIOD: Duration = Duration::from_millis(50);

/// Where what is removed goes: nowhere, or to the trash.
pub(crate) type To = Option<Trash>;

/// A removal on its way.
pub(crate) struct Remover {
    cancel: Cancel,
    thread: JoinHandle<()>,
}

impl Remover {
    /// Starts to remove rows of a table.
    pub(crate) fn start(
        table: Arc<Table>,
        rows: Vec<Row>,
        to: To,
        answers: Sender<Answer>,
    ) -> Self {
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let thread = std::thread::spawn(move || {
            let answer = match remove(&table, rows, to, &stop, &answers) {
                Ok(report) => Answer::Removed { table, report },
                Err(why) => Answer::NotRemoved(why),
            };
            // Whoever has left is not told.
            let _ = answers.send(answer);
        });
        Self { cancel, thread }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Stops it with the next entry.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it did.
    pub(crate) fn finish(self) {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

fn remove(
    table: &Table,
    rows: Vec<Row>,
    to: To,
    stop: &Cancel,
    answers: &Sender<Answer>,
) -> Result<Report, String> {
    let removal = Removal::new(table, rows).map_err(|refused| refused.to_string())?;
    let mut told = Instant::now();
    let mut progress = |counts: &Counts, row| {
        if told.elapsed() >= PERIOD {
            told = Instant::now();
            let last = quote::for_terminal(table.path(row).as_os_str());
            let _ = answers.send(Answer::Removing { counts: *counts, last });
        }
    };
    Ok(match to {
        Some(trash) => removal.trash(&trash, stop, &mut progress),
        None => removal.delete(stop, &mut progress),
    })
}
