//! Running a plan.

use std::time::{Duration, Instant};

use transect_sys::{Reader, ReaderKind, SystemReader};

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
    /// The order used.
    pub order: Order,
    /// The number of roots, each counted once.
    pub roots: usize,
    /// The number of threads that took part.
    pub threads: usize,
    /// Whether [`Cancel`](crate::Cancel) stopped the walk early.
    pub interrupted: bool,
}

impl<S> Outcome<S> {
    /// Returns the same result with another sink.
    pub(crate) fn with_sink<T>(self, sink: T) -> Outcome<T> {
        let Self { elapsed, reader, order, roots, threads, interrupted, .. } = self;
        Outcome { sink, elapsed, reader, order, roots, threads, interrupted }
    }

    /// Separates the sink from the rest of the result.
    pub fn split(self) -> (S, Outcome<()>) {
        let Self { sink, elapsed, reader, order, roots, threads, interrupted } = self;
        (sink, Outcome { sink: (), elapsed, reader, order, roots, threads, interrupted })
    }
}

impl ScanPlan {
    /// Walks. Calls `make` once per thread to make its sink, and once more to get the wanted
    /// attributes.
    ///
    /// # Errors
    /// An error that prevents the walk from starting. The sink receives errors inside a tree.
    pub fn run<S: Sink>(&self, make: impl Fn() -> S + Sync) -> Result<Outcome<S>, Error> {
        self.run_with(make, || self.system_reader())
    }

    /// Returns a reader of this plan's kind, to be wrapped for [`ScanPlan::run_with`].
    pub fn system_reader(&self) -> SystemReader {
        SystemReader::new(self.reader, self.reader_settings)
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
            order: self.order,
            threads,
            interrupted: self.cancel.is_cancelled(),
        })
    }
}
