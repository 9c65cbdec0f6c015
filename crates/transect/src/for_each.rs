//! A closure instead of a sink.

use std::collections::VecDeque;
use std::sync::Arc;

use transect_sys::{EntryRef, FileType, Verdict, Want};

use crate::dir::Dir;
use crate::error::Error;
use crate::plan::ScanPlan;
use crate::run::Outcome;
use crate::sink::{Diagnostics, Entering, Flow, Sink, Visit, VisitEntry};

impl ScanPlan {
    /// Walks, and calls `callback` for every entry with its directory, on the threads of the walk. The
    /// entries have the attributes in `want`: a [`Want`] or a [`FieldMask`](crate::FieldMask).
    ///
    /// [`Flow::Prune`] for a directory leaves out what is in it. [`Flow::Quit`] ends the walk; other
    /// threads may still be in the callback for other entries.
    ///
    /// Returns the errors, the first [`Diagnostics::DEFAULT_KEPT`] of each thread with their paths.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use transect::{FieldMask, Flow, ScanOptions};
    ///
    /// let bytes = AtomicU64::new(0);
    /// let outcome = ScanOptions::new(["."]).plan()?.for_each(FieldMask::SIZE, |_, entry| {
    ///     if entry.name == "target" {
    ///         return Flow::Prune;
    ///     }
    ///     bytes.fetch_add(entry.attributes.size().unwrap_or(0), Ordering::Relaxed);
    ///     Flow::Continue
    /// })?;
    /// println!("{bytes:?} bytes, {} errors", outcome.sink.errors);
    /// # assert!(bytes.into_inner() > 0);
    /// # Ok::<(), transect::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ScanPlan::run`].
    ///
    /// # Panics
    /// If the callback panics.
    pub fn for_each(
        &self,
        want: impl Into<Want>,
        callback: impl Fn(&Arc<Dir<()>>, VisitEntry<'_>) -> Flow + Sync,
    ) -> Result<Outcome<Diagnostics>, Error> {
        let want = want.into();
        let outcome = self.run(|| CallbackSink {
            want,
            callback: &callback,
            directories: 0,
            pruned: VecDeque::new(),
            diagnostics: Diagnostics::new(Diagnostics::DEFAULT_KEPT),
        })?;
        let (sink, outcome) = outcome.split();
        Ok(outcome.with_sink(sink.diagnostics))
    }
}

/// Calls a closure for every entry.
struct CallbackSink<'f, F> {
    want: Want,
    callback: &'f F,
    /// In the current batch, the directories that the walk has asked about, and the numbers of those
    /// to prune.
    directories: usize,
    pruned: VecDeque<usize>,
    diagnostics: Diagnostics,
}

impl<F: Fn(&Arc<Dir<()>>, VisitEntry<'_>) -> Flow + Sync> Sink for CallbackSink<'_, F> {
    type Tag = ();

    fn want(&self) -> Want {
        self.want
    }

    fn enter(&mut self, _: Entering<'_, ()>) {}

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
        self.pruned.clear();
        let mut directories = 0;
        for entry in visit.entries() {
            let will_be_read =
                entry.verdict == Verdict::Keep && entry.file_type() == FileType::Directory;
            match (self.callback)(visit.dir, entry) {
                Flow::Continue => {}
                Flow::Prune if will_be_read => self.pruned.push_back(directories),
                Flow::Prune => {}
                Flow::Quit => return Flow::Quit,
            }
            directories += usize::from(will_be_read);
        }
        self.directories = 0;
        if self.pruned.is_empty() { Flow::Continue } else { Flow::Prune }
    }

    fn prunes(&mut self, _: &Dir<()>, _: EntryRef<'_>) -> bool {
        let is_pruned = self.pruned.front() == Some(&self.directories);
        if is_pruned {
            self.pruned.pop_front();
        }
        self.directories += 1;
        is_pruned
    }

    fn diagnostics(&mut self) -> Option<&mut Diagnostics> {
        Some(&mut self.diagnostics)
    }

    fn merge(&mut self, other: Self) {
        self.diagnostics.merge(other.diagnostics);
    }
}
