//! A closure for each thread instead of a sink.

use transect_sys::{EntryRef, Want};

use crate::dir::Dir;
use crate::error::Error;
use crate::options::ScanOptions;
use crate::run::Outcome;
use crate::sink::{Diagnostics, Flow, Omission, Sink, Skips, Visit, VisitEntry};

impl ScanOptions {
    /// Walks on several threads. `make` is called once for each thread and returns the closure that receives the
    /// entries and errors of this thread, as the items of a loop; [`ScanOptions::want`] names their attributes.
    ///
    /// [`Flow::Skip`] for a directory leaves out what is in it. [`Flow::Quit`] ends the walk; other
    /// threads may still be in their closures for other entries.
    ///
    /// Returns how many errors, vanished and skipped entries there were.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use transect::{FieldMask, Flow, walk};
    ///
    /// let (sender, sizes) = channel();
    /// let outcome = walk(".").want(FieldMask::SIZE).visit_parallel(|| {
    ///     let sender = sender.clone();
    ///     move |entry| match entry {
    ///         Ok(entry) if entry.name == "target" => Flow::Skip,
    ///         Ok(entry) => sender.send(entry.attributes.size()).map_or(Flow::Quit, |()| Flow::Continue),
    ///         Err(_) => Flow::Continue,
    ///     }
    /// })?;
    /// drop(sender);
    /// let bytes: u64 = sizes.iter().flatten().sum();
    /// println!("{bytes} bytes, {} errors", outcome.sink.errors);
    /// # assert!(bytes > 0);
    /// # Ok::<(), transect::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error that prevents the walk from starting, such as a wrong option.
    ///
    /// # Panics
    /// If a closure panics.
    pub fn visit_parallel<V>(
        self,
        make: impl Fn() -> V + Sync,
    ) -> Result<Outcome<Diagnostics>, Error>
    where
        V: FnMut(Result<VisitEntry<'_>, Error>) -> Flow + Send,
    {
        let plan = self.plan()?;
        let outcome = plan.run(|| VisitorSink {
            want: plan.options.want,
            visitor: make(),
            skips: Skips::default(),
            diagnostics: Diagnostics::new(0),
        })?;
        let (sink, outcome) = outcome.split();
        Ok(outcome.replace_sink(sink.diagnostics).1)
    }
}

/// Calls the closure of one thread.
struct VisitorSink<V> {
    want: Want,
    visitor: V,
    skips: Skips,
    diagnostics: Diagnostics,
}

impl<V: FnMut(Result<VisitEntry<'_>, Error>) -> Flow + Send> Sink for VisitorSink<V> {
    fn want(&self) -> Want {
        self.want
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.skips.visit(&visit, |entry| (self.visitor)(Ok(entry)))
    }

    fn skips(&mut self, _: &Dir, _: EntryRef<'_>) -> bool {
        self.skips.take_next()
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.diagnostics.count(&omission);
        match omission {
            Omission::Failed(error) => (self.visitor)(Err(error.into())),
            _ => Flow::Continue,
        }
    }

    fn merge(&mut self, other: Self) {
        self.diagnostics.merge(other.diagnostics);
    }
}
