//! Sinks receive the entries of a walk: one sink per thread, merged at the end.

mod diagnostics;
mod largest;
mod list;
mod list_totals;
mod skip_reason;
mod skips;
mod sort;
mod totals;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use transect_sys::{Attributes, Batch, EntryRef, FileType, Verdict, Want};

use crate::dir::{Dir, Tag};
use crate::error::ScanError;

pub use diagnostics::Diagnostics;
pub use largest::{LargestEntry, RankBy};
pub use list::{LineFormat, ListEntry, ListOutput, ListSink};
pub use list_totals::ListTotals;
pub use skip_reason::SkipReason;
pub use skips::Skips;
pub use sort::{SortBuffer, SortKey, SortSpec};
pub use totals::Totals;

/// Whether a walk continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Flow {
    /// Continue.
    Continue,
    /// Do not read below the directory: of [`Sink::visit`], below none in the batch. For anything but a
    /// directory, and for an error, it is the same as [`Flow::Continue`].
    Skip,
    /// Stop the whole walk; the counts so far are kept.
    Quit,
}

/// Some or all entries of one directory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Visit<'a> {
    /// The directory that holds them; the top for roots.
    pub dir: &'a Arc<Dir>,
    /// The entries.
    pub batch: &'a Batch,
    /// Whether links are followed, so that a file can be met more often than it has names.
    pub follow: bool,
    /// Whether no more entries of the directory follow. A directory whose listing failed has no last ones.
    pub is_last: bool,
}

impl<'a> Visit<'a> {
    /// Iterates over the entries that are delivered, with their directory.
    pub fn entries(&self) -> impl Iterator<Item = VisitEntry<'a>> + use<'a> {
        let dir = self.dir;
        self.batch.iter().map(move |entry| VisitEntry { dir, entry })
    }
}

/// An entry of a visit, and the directory that holds it. Dereferences to [`EntryRef`]: name, type and
/// attributes.
#[derive(Clone, Copy, Debug)]
pub struct VisitEntry<'a> {
    dir: &'a Arc<Dir>,
    entry: EntryRef<'a>,
}

impl<'a> VisitEntry<'a> {
    pub(crate) fn new(dir: &'a Arc<Dir>, entry: EntryRef<'a>) -> Self {
        Self { dir, entry }
    }

    /// Returns the directory that holds the entry; the top for a root.
    pub fn dir(&self) -> &'a Arc<Dir> {
        self.dir
    }

    /// Returns the path: the root as given, then the names below it. Builds it anew at each call.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(self.entry.name)
    }

    /// Returns the number of steps below the root, which has depth 0.
    pub fn depth(&self) -> u32 {
        self.dir.entry_depth()
    }
}

impl<'a> std::ops::Deref for VisitEntry<'a> {
    type Target = EntryRef<'a>;

    fn deref(&self) -> &Self::Target {
        &self.entry
    }
}

/// A directory that is about to be read, or is counted without being read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entering<'a> {
    /// The directory above; `None` for the top.
    pub parent: Option<&'a Arc<Dir>>,
    /// Its name; of a root, the path as given.
    pub name: &'a OsStr,
    /// The attributes of the directory itself: those in [`Want::opened`], or none if it lies beyond
    /// a boundary.
    pub attributes: &'a Attributes,
    /// Whether it was delivered as an entry, or a filter only descends into it.
    pub listed: bool,
}

/// What is not in the result of a walk, and why.
#[derive(Debug)]
#[non_exhaustive]
pub enum Omission<'a> {
    /// A directory, or an entry of it, could not be read.
    Failed(ScanError),
    /// An entry of this type was deleted between listing and reading.
    Vanished(FileType),
    /// An entry was left out, or a directory not read, on purpose.
    #[non_exhaustive]
    Skipped {
        /// Why.
        reason: SkipReason,
        /// The name of the entry, of a root its path as given; `None` if it is the directory itself that is not read.
        name: Option<&'a OsStr>,
    },
}

impl<'a> Omission<'a> {
    /// Returns the omission of an entry that is left out or not read.
    pub(crate) fn of_entry(name: &'a OsStr, reason: SkipReason) -> Self {
        Self::Skipped { reason, name: Some(name) }
    }
}

impl From<ScanError> for Omission<'_> {
    fn from(error: ScanError) -> Self {
        Self::Failed(error)
    }
}

/// Of the directory itself.
impl From<SkipReason> for Omission<'_> {
    fn from(reason: SkipReason) -> Self {
        Self::Skipped { reason, name: None }
    }
}

/// Receives the entries of a walk, on one thread, without locks.
///
/// A walk makes one sink per thread and merges them at the end. Per directory, the calls are:
/// [`enter`](Sink::enter); [`visit`](Sink::visit) for each batch, on the same thread; and after
/// everything below it is finished, [`leave`](Sink::leave), possibly on another thread. What is
/// missing ([`omit`](Sink::omit)) comes in between.
///
/// A directory that is not read is also entered and left, for its own attributes, but not visited: one that
/// [`visit`](Sink::visit) or a filter pruned, at the maximum depth, on another file system, or that cannot be opened.
/// An empty directory that is read has a visit without entries. A directory that a filter dropped, that vanished, or
/// that was already read through another path is not entered.
///
/// A sink that counts files by extension:
///
/// ```
/// use std::collections::BTreeMap;
/// use std::path::Path;
/// use transect::{Diagnostics, Dir, Entering, FileType, Flow, Omission, ScanOptions, Sink, Visit, Want};
///
/// #[derive(Default)]
/// struct Extensions {
///     counts: BTreeMap<String, u64>,
///     diagnostics: Diagnostics,
/// }
///
/// impl Sink for Extensions {
///     fn want(&self) -> Want {
///         Want::nothing() // names and types
///     }
///
///     fn visit(&mut self, visit: Visit<'_>) -> Flow {
///         for entry in visit.entries().filter(|entry| entry.file_type() == FileType::File) {
///             if let Some(extension) = Path::new(entry.name).extension() {
///                 let extension = extension.to_string_lossy().into_owned();
///                 *self.counts.entry(extension).or_default() += 1;
///             }
///         }
///         Flow::Continue
///     }
///
///     fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
///         self.diagnostics.add(omission);
///         Flow::Continue
///     }
///
///     fn merge(&mut self, other: Self) {
///         for (extension, count) in other.counts {
///             *self.counts.entry(extension).or_default() += count;
///         }
///         self.diagnostics.merge(other.diagnostics);
///     }
/// }
///
/// let found = ScanOptions::new(["src"]).plan()?.run(Extensions::default)?.sink;
/// assert!(found.counts["rs"] > 10 && found.diagnostics.is_complete());
/// # Ok::<(), transect::Error>(())
/// ```
pub trait Sink: Send {
    /// Returns the attributes that the sink needs. Others are not queried.
    fn want(&self) -> Want;

    /// Called when a directory begins. Returns what is attached to it, as [`Dir::tag`].
    fn enter(&mut self, _entering: Entering<'_>) -> Tag {
        Tag::None
    }

    /// Receives entries with the wanted attributes.
    fn visit(&mut self, visit: Visit<'_>) -> Flow;

    /// Called when everything in and below a directory is finished.
    fn leave(&mut self, _dir: &Dir) {}

    /// Called when an entry of `dir`, or what is in `dir`, will be missing. [`Diagnostics::add`] counts it.
    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow;

    /// Merges the sink of another thread. The order of merges does not matter.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;

    /// Returns whether [`judge`](Sink::judge) is implemented.
    #[doc(hidden)]
    fn judges(&self) -> bool {
        false
    }

    /// Decides about an entry by name, before its attributes are queried. Its type may be unknown.
    #[doc(hidden)]
    fn judge(&mut self, _dir: &Dir, _entry: EntryRef<'_>) -> Verdict {
        Verdict::Keep
    }

    /// Returns whether a directory of the batch is not read. Called after [`visit`](Sink::visit)
    /// returned [`Flow::Skip`], for all directories of that batch that would be read, in their
    /// order.
    #[doc(hidden)]
    fn skips(&mut self, _dir: &Dir, _entry: EntryRef<'_>) -> bool {
        true
    }

    /// Returns the number of bytes counted so far, for progress.
    #[doc(hidden)]
    fn bytes(&self) -> u64 {
        0
    }

    /// Returns how long the sink waited since the last call, for a consumer that is slower than the
    /// walk. The walk starts more threads if directories are slow, and does not count this time.
    #[doc(hidden)]
    fn take_wait(&mut self) -> Duration {
        Duration::ZERO
    }
}
