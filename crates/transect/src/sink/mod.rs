//! Where entries go: one sink per thread, merged at the end.

mod diagnostics;
mod largest;
mod list;
mod sort;
mod totals;

use std::ffi::OsStr;
use std::sync::Arc;

use transect_sys::{Attributes, Batch, EntryRef, FileId, FileType, Verdict, Want};

use crate::dir::Dir;
use crate::error::ScanError;

pub use diagnostics::Diagnostics;
pub use largest::{LargestEntry, RankBy};
pub use list::{LineFormat, ListEntry, ListOutput, ListSink};
pub use sort::SortKey;
pub use totals::Totals;

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Go on.
    Continue,
    /// End the whole walk; what was counted is kept.
    Quit,
}

/// Why something was left out on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// A glob left it out.
    Excluded,
    /// A gitignore rule left it out.
    Gitignore,
    /// A directory at the maximum depth: counted, but not read.
    MaxDepth,
    /// Another file system, and the walk was to stay on the root's: not read.
    MountBoundary,
    /// A file system that occupies no storage (`/proc`, `/sys`) below one that does: not read.
    PseudoFileSystem,
    /// A directory that would have to be fetched from where its content is kept (a cloud service,
    /// Windows): not read.
    Placeholder,
    /// Also named as a root of its own, and counted there.
    OverlappingRoot,
    /// A link to, or a mount of, a directory above itself.
    Loop,
    /// A link that leads to a directory counted at another place.
    VisitedElsewhere,
}

impl SkipReason {
    /// Tells, when links are followed, why a directory met below `parent` is not read again.
    pub(crate) fn for_revisit<T>(parent: &Dir<T>, target: Option<FileId>) -> Self {
        let leads_up = parent.ancestors().any(|dir| dir.id.is_some() && dir.id == target);
        if leads_up { Self::Loop } else { Self::VisitedElsewhere }
    }

    /// Returns the word for the reason, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Excluded => "excluded",
            Self::Gitignore => "gitignore",
            Self::MaxDepth => "max_depth",
            Self::MountBoundary => "mount_boundary",
            Self::PseudoFileSystem => "pseudo_file_system",
            Self::Placeholder => "placeholder",
            Self::OverlappingRoot => "overlapping_root",
            Self::Loop => "loop",
            Self::VisitedElsewhere => "visited_elsewhere",
        }
    }
}

/// Some or all entries of one directory.
#[derive(Debug)]
pub struct Visit<'a, T> {
    /// The directory that holds them; for the roots, the top.
    pub dir: &'a Arc<Dir<T>>,
    /// The entries.
    pub batch: &'a Batch,
    /// Links are followed: a file can be met more often than it has names.
    pub follow: bool,
}

/// A directory that is about to be read, or that is counted without being read.
#[derive(Debug)]
pub struct Entering<'a, T> {
    /// The directory above; `None` for the top.
    pub parent: Option<&'a Arc<Dir<T>>>,
    /// Its name; for a root, the path the user gave.
    pub name: &'a OsStr,
    /// What is known of the directory itself: what [`Want::opened`] asks for, nothing if it lies
    /// beyond a boundary.
    pub attributes: &'a Attributes,
    /// It was delivered as an entry, and not only passed through by a filter.
    pub listed: bool,
}

/// Receives what a walk finds, on one thread, without locks.
///
/// A walk makes one sink per thread and merges them at the end. For every directory the calls come
/// in this order: [`enter`](Sink::enter); [`visit`](Sink::visit) for each batch, on the same
/// thread; then, when everything below it is finished, [`leave`](Sink::leave), perhaps on another
/// thread. Errors and skips come in between.
pub trait Sink: Send + Sized {
    /// What the sink attaches to every directory: a row number, a running sum, or nothing.
    type Tag: Send + Sync + 'static;

    /// Whether [`judge`](Sink::judge) has anything to say.
    const JUDGES: bool = false;

    /// Returns the attributes that the sink needs. What nobody needs is not asked for.
    fn want(&self) -> Want;

    /// A directory begins. Returns what to attach to it.
    fn enter(&mut self, entering: Entering<'_, Self::Tag>) -> Self::Tag;

    /// Decides about an entry by name and type, before anything is asked about it.
    fn judge(&mut self, _dir: &Dir<Self::Tag>, _entry: EntryRef<'_>) -> Verdict {
        Verdict::Keep
    }

    /// Receives entries, with the wanted attributes.
    fn visit(&mut self, visit: Visit<'_, Self::Tag>) -> Flow;

    /// Everything in and below a directory is finished.
    fn leave(&mut self, _dir: &Dir<Self::Tag>) {}

    /// Something could not be read: the directory itself, or an entry of it.
    fn error(&mut self, dir: &Dir<Self::Tag>, error: ScanError) -> Flow;

    /// An entry of `dir` went away between listing and reading.
    fn vanished(&mut self, _dir: &Dir<Self::Tag>, _file_type: FileType) {}

    /// An entry of `dir` was left out, or not read, on purpose.
    fn skipped(&mut self, _dir: &Dir<Self::Tag>, _reason: SkipReason) {}

    /// Returns how many bytes were counted so far, for progress.
    fn bytes(&self) -> u64 {
        0
    }

    /// Takes over what another thread's sink received. The order does not matter.
    fn merge(&mut self, other: Self);
}
