//! Running a plan.

use std::time::{Duration, Instant};

use transect_sys::{AlternateStreams, Reader, ReaderKind, SystemReader, SystemReaders};

use crate::error::Error;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::sink::Sink;
use crate::walk::{self, WalkResult};

/// The result of a walk.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<S> {
    /// The merged sink.
    pub sink: S,
    /// How long the walk took.
    pub elapsed: Duration,
    /// The reader used.
    pub reader: ReaderKind,
    /// Why this reader was chosen: set with [`ScanOptions::auto_reader`](crate::ScanOptions::auto_reader).
    pub reader_reason: Option<String>,
    /// The order used.
    pub order: Order,
    /// The number of roots, each counted once.
    pub roots: usize,
    /// The number of threads that took part.
    pub threads: usize,
    /// Whether [`Cancel`](crate::Cancel) stopped the walk early.
    pub interrupted: bool,
    /// The alternate streams of whole volumes whose tables were read (NTFS), filters or not. No other size has theirs.
    pub alternate_streams: Option<AlternateStreams>,
}

impl<S> Outcome<S> {
    /// Returns the same result with another sink.
    pub(crate) fn with_sink<T>(self, sink: T) -> Outcome<T> {
        self.replace_sink(sink).1
    }

    /// Separates the sink from the rest of the result.
    pub fn split(self) -> (S, Outcome<()>) {
        self.replace_sink(())
    }

    fn replace_sink<T>(self, sink: T) -> (S, Outcome<T>) {
        let outcome = Outcome {
            sink,
            elapsed: self.elapsed,
            reader: self.reader,
            reader_reason: self.reader_reason,
            order: self.order,
            roots: self.roots,
            threads: self.threads,
            interrupted: self.interrupted,
            alternate_streams: self.alternate_streams,
        };
        (self.sink, outcome)
    }
}

impl ScanPlan {
    /// Walks. Calls `make` once per thread to make its sink, and once more to get the wanted
    /// attributes.
    ///
    /// # Errors
    /// An error that prevents the walk from starting. The sink receives errors inside a tree.
    pub fn run<S: Sink>(&self, make: impl Fn() -> S + Sync) -> Result<Outcome<S>, Error> {
        let readers = self.system_readers();
        let mut outcome = self.run_with(make, || readers.reader())?;
        outcome.reader = readers.volume_kind().unwrap_or(outcome.reader);
        outcome.alternate_streams = readers.alternate_streams();
        if let Some(reason) = readers.fallback_reason() {
            outcome.reader = ReaderKind::best();
            outcome.reader_reason = Some(reason);
        }
        Ok(outcome)
    }

    /// Returns a reader of this plan's kind, to be wrapped for [`ScanPlan::run_with`].
    pub fn system_reader(&self) -> SystemReader {
        self.system_readers().reader()
    }

    /// Returns what makes the readers of one run: they share the volumes that they read.
    pub(crate) fn system_readers(&self) -> SystemReaders {
        let readers = SystemReaders::new(self.reader, self.reader_settings);
        match ReaderKind::VOLUMES.contains(&self.reader) {
            true => {
                readers.volumes(Some(self.threads.busy()), self.auto_reader, self.one_file_system)
            }
            false => readers,
        }
    }

    /// Walks with readers made by `reader`, such as the fake reader of tests.
    ///
    /// # Errors
    /// The errors of [`ScanPlan::run`].
    pub fn run_with<S: Sink, R: Reader>(
        &self,
        make: impl Fn() -> S + Sync,
        reader: impl Fn() -> R + Sync,
    ) -> Result<Outcome<S>, Error> {
        let start = Instant::now();
        let WalkResult { sink, roots, threads } = walk::walk(self, &make, &reader)?;
        Ok(Outcome {
            sink,
            roots,
            elapsed: start.elapsed(),
            reader: self.reader,
            reader_reason: self.reader_reason.clone(),
            order: self.order,
            threads,
            interrupted: self.cancel.is_cancelled(),
            alternate_streams: None,
        })
    }
}
