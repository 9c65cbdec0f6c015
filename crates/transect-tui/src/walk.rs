//! A walk on its way, on threads of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use transect::table::{PartialTable, Table, TableBuilder};
use transect::{Cancel, Error, FieldMask, Progress, ScanOptions, ScanPlan};
use transect_remove::Removal;

use crate::app::Answer;

/// What is shown of every entry, beside its name, its type and both sizes.
pub(crate) const SHOWN: FieldMask = FieldMask::MTIME.union(FieldMask::UID);
/// What tells an entry that is to be removed from another one that has taken its place.
pub(crate) const TOLD_APART: FieldMask = Removal::COLUMNS.union(FieldMask::FILE_ID);

/// What a walk came to.
pub(crate) struct Read {
    pub(crate) table: Arc<Table>,
    pub(crate) interrupted: bool,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// A walk, until somebody takes what it came to.
pub(crate) struct Walk {
    cancel: Cancel,
    pub(crate) progress: Arc<Progress>,
    began: Instant,
    thread: JoinHandle<Result<Read, Error>>,
}

impl Walk {
    /// Starts to read what `options` ask for, into a table with these columns. Outlines of it are told
    /// to whoever wants them.
    ///
    /// # Errors
    /// The options make no sense.
    pub(crate) fn start(
        options: &ScanOptions,
        columns: FieldMask,
        outlines: Option<Sender<Answer>>,
    ) -> Result<Self, Error> {
        let (cancel, progress) = (Cancel::new(), Arc::new(Progress::new()));
        let options = options.clone().cancel(cancel.clone()).progress(Arc::clone(&progress));
        let plan = options.plan()?;
        let thread = std::thread::spawn(move || read(&plan, columns, outlines));
        Ok(Self { cancel, progress, began: Instant::now(), thread })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Stops it. What it comes to is still worth [waiting](Self::finish) for.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for what it came to.
    ///
    /// # Errors
    /// What kept the walk from beginning, or from going on.
    ///
    /// # Panics
    /// If the walk did.
    pub(crate) fn finish(self) -> Result<Read, Error> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn read(
    plan: &ScanPlan,
    columns: FieldMask,
    outlines: Option<Sender<Answer>>,
) -> Result<Read, Error> {
    let outline = PartialTable::new();
    let mut builder = TableBuilder::new(columns);
    if outlines.is_some() {
        builder = builder.partial_table(&outline);
    }
    let (end, ended) = channel::<()>();
    let watcher =
        outlines.map(|outlines| std::thread::spawn(move || watch(&outline, &outlines, &ended)));
    let outcome = plan.run(|| builder.sink());
    let read = outcome.and_then(|outcome| {
        let (sink, outcome) = outcome.split();
        let table = Arc::new(sink.into_table()?);
        Ok(Read { table, interrupted: outcome.interrupted, elapsed: outcome.elapsed })
    });
    drop(end);
    if let Some(watcher) = watcher {
        // All outlines have been told before the end is.
        watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    read
}

/// When the first outline is shown.
const SOON: Duration = Duration::from_millis(100);
/// How long an outline is shown: the longer, the more it costs to make one.
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(1);

/// Tells what is known, now and then, until the walk has ended.
fn watch(outline: &PartialTable, outlines: &Sender<Answer>, ended: &Receiver<()>) {
    let mut pause = SOON;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let began = Instant::now();
        // More directories than a table can hold end the walk, which says so.
        let Ok(table) = outline.table() else { return };
        if outlines.send(Answer::Outline(Arc::new(table))).is_err() {
            return;
        }
        pause = (began.elapsed() * 4).clamp(SHORTEST, LONGEST);
    }
}
