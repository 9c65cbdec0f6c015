//! The options of a walk.
//!
//! `options.rs` and `plan.rs` are a builder pair: [`ScanOptions::plan`] creates the [`ScanPlan`],
//! and the plan contains the options. They refer to each other on purpose.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use transect_sys::{ReaderKind, StatOrder, Verdict, Want, options};

use crate::cancel::Cancel;
use crate::entry_filter::{Candidate, EntryFilter};
use crate::error::Error;
use crate::filter::Filters;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::profile::WalkSettings;
use crate::progress::Progress;
use crate::sibling_order::SiblingOrder;

options! {
    /// The options of a walk.
    ///
    /// A `for` loop walks with them: see [`walk`](crate::walk). [`ScanOptions::visit_parallel`] calls closures on several
    /// threads, and [`ScanOptions::plan`] validates the options for a walk with a [`Sink`](crate::Sink).
    #[derive(Clone, Debug, Default)]
    pub struct ScanOptions {
        /// Sets whether to read the tables of a volume instead of walking where that is faster: if the only
        /// root is all of a volume with ext4, ext3, ext2 or NTFS, and this process may read its device. In case of
        /// doubt the root is walked; [`Outcome::reader_reason`](crate::Outcome::reader_reason) tells why.
        auto_reader: bool = bool,
        /// Limits the number of threads. Single-threaded orders always use one.
        threads: Option<usize> = usize,
        /// Sets whether to stay on the file system of each root.
        same_file_system: bool = bool,
        /// Sets whether to read pseudo file systems (`/proc`, `/sys`) below a root that is not one itself.
        pseudo_file_systems: bool = bool,
        /// Sets whether to follow symbolic links. Each directory is read once, however many links lead to it. On
        /// Windows, also reads directories whose content a cloud service must download first.
        follow_links: bool = bool,
        /// Sets whether a walk that follows links reads a directory through each link that leads to it, as `find -L` does,
        /// and not only once. A link to a directory above it is a loop, and skipped.
        every_link: bool = bool,
        /// Sets whether to read each root for itself, and not once what lies in several: a root inside another one, or
        /// given twice. A walk that follows links then also needs [`every_link`](Self::every_link).
        every_root: bool = bool,
        /// Sets the depth from which entries are delivered: the number of steps below their root.
        min_depth: u32 = u32,
        /// Sets the depth from which directories are not read. A root has depth 0.
        max_depth: Option<u32> = u32,
        /// Limits how much one walk reads; by default nothing does.
        #[doc(hidden)]
        work_limit: Option<WorkLimit> = WorkLimit,
        /// Sets which entries to deliver.
        filters: Filters = Filters,
        /// Sets the attributes that entries of a loop or closure must have, such as
        /// `FieldMask::SIZE | FieldMask::MTIME`. By default, entries have names and types, and what the listing contains.
        /// Sinks have their own.
        want: Want = impl Into<Want>,
        /// Sets whether a loop gets the entries of each directory sorted by name, and each directory followed by
        /// everything in it. The loop then reads on its own thread, one directory at a time. Directories that
        /// links lead to are read last.
        sort_by_name: bool = bool,
        /// Limits the number of open descriptors; by default they are as many as the process limit leaves.
        max_open: Option<usize> = usize,
        /// Sets the request to stop, shared with other threads.
        cancel: Cancel = Cancel,
        /// Sets the counters to update during the walk.
        progress: Option<Arc<Progress>> = Arc<Progress>,
        ;
        /// The paths to walk. A root that lies inside another one is counted once, unless [`every_root`](Self::every_root)
        /// is set. A root that is a link is that link, unless the walk follows links; with a separator at the end of its
        /// path, it is what the link leads to.
        pub roots: Vec<PathBuf>,
        /// The settings that affect only the speed.
        #[doc(hidden)]
        pub settings: WalkSettings,
        pub(crate) entry_filter: Option<EntryFilter>,
        /// Sorts as `sort_by_name`, in another order.
        pub(crate) sibling_order: Option<SiblingOrder>,
    }
}

options! {
    /// How much one walk reads. Once that is reached, the directories that were begun are read to their end, and
    /// no other: they are delivered with their attributes, and skipped as [left over](crate::SkipReason::LeftOver),
    /// for another walk. At least one directory is begun, and those whose paths are too long for another walk.
    #[derive(Clone, Copy, Debug)]
    pub struct WorkLimit {
        /// Sets the time after which no directory is begun.
        until: Option<Instant> = Option<Instant>,
        /// Sets the maximum number of entries of one directory. Their names are listed before any is queried; a
        /// directory with more is skipped as [too large](crate::SkipReason::LargeDirectory). Entries that filters or
        /// the sink drop by name do not count. Without effect on readers whose listings have the attributes.
        entries_of_directory: Option<u64> = u64,
        ;
        /// The number of entries. The last directories may exceed it.
        pub entries: u64,
    }
}

impl WorkLimit {
    /// Returns a limit of the number of entries alone.
    pub fn entries(entries: u64) -> Self {
        Self { entries, until: None, entries_of_directory: None }
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

    /// Returns whether a filter or a limit of depth can leave out entries.
    #[doc(hidden)]
    pub fn is_filtered(&self) -> bool {
        let by_depth = self.min_depth > 0 || self.max_depth.is_some();
        by_depth || self.entry_filter.is_some() || self.filters != Filters::new()
    }

    /// Returns the order of the entries of one directory; `None` if they are not sorted.
    pub(crate) fn sorts_by(&self) -> Option<SiblingOrder> {
        self.sibling_order.clone().or(self.sort_by_name.then(SiblingOrder::default))
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

/// Defines methods that set the settings, which affect only the speed.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        #[doc(hidden)]
        impl ScanOptions {
            $($(#[$doc])* pub fn $name(mut self, $name: $type) -> Self {
                self.settings.$name = Some($name);
                self
            })*
        }
    };
}

settings! {
    /// Sets the number of bytes per listing call.
    buffer_size: usize,
    /// Sets the order of the attribute calls within a directory.
    stat_order: StatOrder,
    /// Sets the order in which directories are read.
    order: Order,
    /// Limits the number of threads while directories come from memory.
    busy_threads: usize,
    /// Limits the number of threads while directories wait for a device.
    waiting_threads: usize,
}
