//! Carrying out a plan: from the options' last check to the merged sink.

use std::time::{Duration, Instant};

use transect_sys::{Reader, ReaderName, ReaderUser};

use crate::error::Error;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::sink::Sink;
use crate::walk::{self, WalkResult};

/// What a walk came to.
#[derive(Debug)]
pub struct Outcome<S> {
    /// What the sinks received, merged.
    pub sink: S,
    /// How long it took.
    pub elapsed: Duration,
    /// The reader used.
    pub reader: ReaderName,
    /// The order used.
    pub order: Order,
    /// The roots looked at: those given, each once.
    pub roots: usize,
    /// The threads that took part.
    pub threads: usize,
    /// The walk was stopped by [`Cancel`](crate::Cancel) before its end.
    pub interrupted: bool,
}

impl<S> Outcome<S> {
    /// Separates what the sinks received from how it came about.
    pub fn split(self) -> (S, Outcome<()>) {
        let Self { sink, elapsed, reader, order, roots, threads, interrupted } = self;
        (sink, Outcome { sink: (), elapsed, reader, order, roots, threads, interrupted })
    }
}

impl ScanPlan {
    /// Walks. `make` is called once for every thread that takes part.
    ///
    /// # Errors
    /// Only what keeps a walk from beginning. What goes wrong inside a tree is in the sink.
    pub fn run<S: Sink>(&self, make: impl Fn() -> S + Sync) -> Result<Outcome<S>, Error> {
        self.dispatch_reader(RunVisitor { plan: self, make })
    }

    /// Lets `user` use readers as this plan makes them, such as inside readers of its own for
    /// [`ScanPlan::run_with`].
    pub fn dispatch_reader<U: ReaderUser>(&self, user: U) -> U::Value {
        self.reader.give(self.reader_settings, user)
    }

    /// Walks with readers of the caller's own, such as the fake one of tests.
    ///
    /// # Errors
    /// As [`ScanPlan::run`].
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

/// A plan together with its sinks, for readers of whatever type.
struct RunVisitor<'p, M> {
    plan: &'p ScanPlan,
    make: M,
}

impl<S: Sink, M: Fn() -> S + Sync> ReaderUser for RunVisitor<'_, M> {
    type Value = Result<Outcome<S>, Error>;

    fn use_readers<R: Reader>(self, reader: impl Fn() -> R + Sync) -> Self::Value {
        self.plan.run_with(self.make, reader)
    }
}
