//! Running a plan.

use std::time::{Duration, Instant};

use transect_sys::{AlternateStreams, Reader, ReaderKind};

use crate::error::Error;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::reader::{AnyReader, Readers};
use crate::sink::Sink;
use crate::walk::{self, Walked, WithSink, merged};

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
    #[doc(hidden)]
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
    /// Separates the sink from the rest of the result.
    pub fn split(self) -> (S, Outcome<()>) {
        self.replace_sink(())
    }

    /// Adds what the readers of volumes found.
    #[cfg(feature = "volumes")]
    fn complete(&mut self, volumes: &transect_volumes::OpenVolumes) {
        self.reader = volumes.reader().unwrap_or(self.reader);
        self.alternate_streams = volumes.alternate_streams();
        if let Some(reason) = volumes.fallback_reason() {
            self.reader = ReaderKind::best();
            self.reader_reason = Some(reason);
        }
    }

    /// Separates the sink from the rest of the result, which gets another one.
    pub(crate) fn replace_sink<T>(self, sink: T) -> (S, Outcome<T>) {
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
    /// Walks. Calls `make` once for each thread to make its sink.
    ///
    /// # Errors
    /// An error that prevents the walk from starting. The sink receives errors inside a tree.
    pub fn run<S: Sink>(&self, make: impl Fn() -> S + Sync) -> Result<Outcome<S>, Error> {
        collect(&make, |first, with_sink| self.run_sinks(first, with_sink))
    }

    /// Walks with the readers of the system: the one place that is compiled for them.
    fn run_sinks(
        &self,
        first: &mut dyn Sink,
        with_sink: &WithSink<'_>,
    ) -> Result<Outcome<()>, Error> {
        let readers = Readers::new(self);
        #[cfg_attr(not(feature = "volumes"), expect(unused_mut, reason = "nothing is added"))]
        let mut outcome = self.walk(first, with_sink, &|| readers.reader())?;
        #[cfg(feature = "volumes")]
        outcome.complete(&readers.volumes);
        Ok(outcome)
    }

    /// Returns a reader of this plan's kind, to be wrapped for [`ScanPlan::run_with`].
    #[doc(hidden)]
    pub fn reader(&self) -> AnyReader {
        Readers::new(self).reader()
    }

    /// Walks with readers made by `reader`, such as the fake reader of tests.
    ///
    /// # Errors
    /// The errors of [`ScanPlan::run`].
    #[doc(hidden)]
    pub fn run_with<S: Sink, R: Reader>(
        &self,
        make: impl Fn() -> S + Sync,
        reader: impl Fn() -> R + Sync,
    ) -> Result<Outcome<S>, Error> {
        collect(&make, |first, with_sink| self.walk(first, with_sink, &reader))
    }

    fn walk<R: Reader>(
        &self,
        first: &mut dyn Sink,
        with_sink: &WithSink<'_>,
        reader: &(dyn Fn() -> R + Sync),
    ) -> Result<Outcome<()>, Error> {
        let Walked { roots, threads } = walk::walk(self, first, with_sink, reader)?;
        Ok(Outcome {
            sink: (),
            roots,
            elapsed: Duration::ZERO,
            reader: self.reader,
            reader_reason: self.reader_reason.clone(),
            order: self.order,
            threads,
            interrupted: self.options.cancel.is_cancelled(),
            alternate_streams: None,
        })
    }
}

/// Runs `walk` with the sinks that `make` returns.
fn collect<S: Sink>(
    make: &(impl Fn() -> S + Sync),
    walk: impl FnOnce(&mut S, &WithSink<'_>) -> Result<Outcome<()>, Error>,
) -> Result<Outcome<S>, Error> {
    let start = Instant::now();
    let (sink, outcome) = merged(make(), make, walk)?;
    Ok(Outcome { elapsed: start.elapsed(), ..outcome.replace_sink(sink).1 })
}
