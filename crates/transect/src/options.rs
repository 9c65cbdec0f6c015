//! The options of a walk.
//!
//! `options.rs` and `plan.rs` are a builder pair: [`ScanOptions::plan`] creates the [`ScanPlan`],
//! and the plan contains the options. They refer to each other on purpose.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use transect_sys::{ReaderKind, StatOrder, Verdict, Want};

use crate::cancel::Cancel;
use crate::entry_filter::{Candidate, EntryFilter};
use crate::error::Error;
use crate::filter::Filters;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::profile::WalkSettings;
use crate::progress::Progress;

/// The options of a walk.
///
/// A `for` loop walks with them: see [`walk`](crate::walk). Otherwise [`ScanOptions::plan`] validates them for
/// a walk on several threads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScanOptions {
    /// The paths to walk. A root that lies inside another one is counted once.
    pub roots: Vec<PathBuf>,
    /// The settings that affect only the speed.
    pub settings: WalkSettings,
    /// Without a reader: choose between walking and reading the tables of the volume. See
    /// [`ScanOptions::auto_reader`].
    pub auto_reader: bool,
    /// The maximum number of threads. Overrides those of the settings.
    pub threads: Option<usize>,
    /// Stay on the file system of each root.
    pub same_file_system: bool,
    /// Read pseudo file systems (`/proc`, `/sys`) below a root that is not one itself.
    pub pseudo_file_systems: bool,
    /// Follow symbolic links. Each directory is read once, however many links lead to it. On
    /// Windows, also read directories whose content a cloud service must download first.
    pub follow_links: bool,
    /// Deliver only entries at least this many steps below their root.
    pub min_depth: u32,
    /// Do not read directories at this depth or deeper. A root has depth 0.
    pub max_depth: Option<u32>,
    /// How much one walk reads; by default everything.
    pub work_limit: Option<WorkLimit>,
    /// Which entries to deliver.
    pub filters: Filters,
    /// The attributes that loops and closures need; a sink names its own.
    pub want: Want,
    pub(crate) entry_filter: Option<EntryFilter>,
    pub(crate) sort_by_name: bool,
    /// The maximum number of open descriptors; by default as many as the process limit leaves.
    pub max_open: Option<usize>,
    /// A request to stop, shared with other threads.
    pub cancel: Cancel,
    /// Counters to update during the walk.
    pub progress: Option<Arc<Progress>>,
}

/// How much one walk reads. Once that is reached, the directories that were begun are read to their end, and
/// no other: they are delivered with their attributes, and skipped as [left over](crate::SkipReason::LeftOver),
/// for another walk. At least one directory is begun, and those whose paths are too long for another walk.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLimit {
    /// The number of entries. The last directories may exceed it.
    pub entries: u64,
    /// The time after which no directory is begun.
    pub until: Option<Instant>,
    /// The maximum number of entries of one directory. Their names are listed before any is queried; a directory with more
    /// is skipped as [too large](crate::SkipReason::LargeDirectory). Entries that filters or the sink drop by name do not
    /// count. Without effect on readers whose listings have the attributes.
    pub entries_of_directory: Option<u64>,
}

impl WorkLimit {
    /// Returns a limit of the number of entries alone.
    pub fn entries(entries: u64) -> Self {
        Self { entries, until: None, entries_of_directory: None }
    }

    /// Sets the time after which no directory is begun.
    pub fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// Sets the maximum number of entries of one directory.
    pub fn entries_of_directory(mut self, entries: u64) -> Self {
        self.entries_of_directory = Some(entries);
        self
    }
}

impl ScanOptions {
    /// Returns the default options for these roots.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { roots: roots.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the reader.
    pub fn reader(mut self, reader: ReaderKind) -> Self {
        self.settings.reader = Some(reader);
        self
    }

    /// Sets whether to read the tables of a volume instead of walking where that is faster: if the only
    /// root is all of a volume with ext4, ext3, ext2 or NTFS, and this process may read its device. In case of
    /// doubt the root is walked; [`Outcome::reader_reason`](crate::Outcome::reader_reason) tells why.
    pub fn auto_reader(mut self, auto: bool) -> Self {
        self.auto_reader = auto;
        self
    }

    /// Sets the number of bytes per listing call.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.settings.buffer_size = Some(bytes);
        self
    }

    /// Sets the order of the attribute calls within a directory.
    pub fn stat_order(mut self, order: StatOrder) -> Self {
        self.settings.stat_order = Some(order);
        self
    }

    /// Sets the order in which directories are read.
    pub fn order(mut self, order: Order) -> Self {
        self.settings.order = Some(order);
        self
    }

    /// Limits the number of threads. Single-threaded orders always use one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Limits the number of threads while directories come from memory.
    pub fn busy_threads(mut self, threads: usize) -> Self {
        self.settings.busy_threads = Some(threads);
        self
    }

    /// Limits the number of threads while directories wait for a device.
    pub fn waiting_threads(mut self, threads: usize) -> Self {
        self.settings.waiting_threads = Some(threads);
        self
    }

    /// Sets whether to stay on the file system of each root.
    pub fn same_file_system(mut self, stay: bool) -> Self {
        self.same_file_system = stay;
        self
    }

    /// Sets whether to read pseudo file systems below other file systems.
    pub fn pseudo_file_systems(mut self, read: bool) -> Self {
        self.pseudo_file_systems = read;
        self
    }

    /// Sets whether to follow symbolic links.
    pub fn follow_links(mut self, follow: bool) -> Self {
        self.follow_links = follow;
        self
    }

    /// Sets the depth from which entries are delivered.
    pub fn min_depth(mut self, depth: u32) -> Self {
        self.min_depth = depth;
        self
    }

    /// Sets the depth from which directories are not read.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Sets which entries to deliver.
    pub fn filters(mut self, filters: Filters) -> Self {
        self.filters = filters;
        self
    }

    /// Sets the attributes that entries of a loop or closure must have, such as `FieldMask::SIZE | FieldMask::MTIME`.
    /// By default, entries have names and types, and what the listing contains. Sinks have their own.
    pub fn want(mut self, fields: impl Into<Want>) -> Self {
        self.want = fields.into();
        self
    }

    /// Sets a closure that decides about every entry but the roots. It is called on the threads of the walk, before
    /// the attributes of entries are queried; only where a listing does not contain their types, or links are
    /// followed, after that. `false` leaves out an entry, of a directory with everything in it. A
    /// closure may also return a [`Verdict`]: [`Verdict::Prune`] leaves out only what is in a directory.
    ///
    /// Other filters come first: the closure sees what they leave, and directories that are only read for
    /// what is in them.
    ///
    /// ```
    /// let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    /// for entry in transect::walk(".").filter_entry(move |entry| !hidden(entry.file_name())) {
    ///     println!("{}", entry?.path().display());
    /// }
    /// # Ok::<(), transect::Error>(())
    /// ```
    pub fn filter_entry<V: Into<Verdict>>(
        mut self,
        closure: impl Fn(&Candidate<'_>) -> V + Send + Sync + 'static,
    ) -> Self {
        self.entry_filter = Some(EntryFilter::new(closure));
        self
    }

    /// Sets whether a loop gets the entries of each directory sorted by name, and each directory followed by
    /// everything in it. The loop then reads on its own thread, one directory at a time. Directories that
    /// links lead to are read last.
    pub fn sort_by_name(mut self, sort: bool) -> Self {
        self.sort_by_name = sort;
        self
    }

    /// Limits how much one walk reads.
    pub fn work_limit(mut self, limit: WorkLimit) -> Self {
        self.work_limit = Some(limit);
        self
    }

    /// Limits the number of open descriptors.
    pub fn max_open(mut self, descriptors: usize) -> Self {
        self.max_open = Some(descriptors);
        self
    }

    /// Sets the request to stop.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the counters to update during the walk.
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Validates the options.
    ///
    /// # Errors
    /// No root; a reader that is not available; a buffer size or stat order that the reader does
    /// not support; an invalid pattern; a minimum depth above the maximum.
    pub fn plan(self) -> Result<ScanPlan, Error> {
        ScanPlan::new(self)
    }
}
