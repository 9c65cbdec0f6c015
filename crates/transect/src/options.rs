//! What is asked for.

use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{ReaderKind, StatOrder};

use crate::cancel::Cancel;
use crate::error::Error;
use crate::filter::Filters;
use crate::order::Order;
use crate::plan::ScanPlan;
use crate::progress::Progress;

/// What is asked for: plain fields, each with the documented default. [`ScanOptions::plan`] checks
/// them.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Where walks begin. Roots that lie in each other are counted once.
    pub roots: Vec<PathBuf>,
    /// How directories are read; by default the best reader that can be used here.
    pub reader: Option<ReaderKind>,
    /// Bytes that one listing call may fill, 4 KiB to 4 MiB; by default 64 KiB. Only for readers
    /// that take one ([`ReaderKind::takes_buffer_size`]).
    pub buffer_size: Option<usize>,
    /// In which order attributes are asked for, by default as listed. Only for readers that take
    /// one ([`ReaderKind::takes_stat_order`]).
    pub stat_order: Option<StatOrder>,
    /// In which order, and on which threads, directories are read.
    pub order: Order,
    /// The most threads, whatever they wait for.
    pub threads: Option<usize>,
    /// The most threads while the answers come at once; by default as many as there are cores.
    pub busy_threads: Option<usize>,
    /// The most threads while directories wait for a device, or for another machine; by default 32.
    pub waiting_threads: Option<usize>,
    /// Stay on the file system of each root.
    pub one_file_system: bool,
    /// Read pseudo file systems (`/proc`, `/sys`) below a root that is not one itself.
    pub pseudo_file_systems: bool,
    /// Follow symbolic links. Every directory is read once, whatever leads to it. On Windows also
    /// read directories that are fetched from a cloud service when they are read.
    pub follow: bool,
    /// Read no directories that are this many steps below their root, or deeper.
    pub max_depth: Option<u32>,
    /// What is left out.
    pub filters: Filters,
    /// The most file descriptors to use; by default what the process's limit leaves.
    pub max_open: Option<usize>,
    /// A request to stop.
    pub cancel: Cancel,
    /// Where to count while the walk goes on.
    pub progress: Option<Arc<Progress>>,
}

impl ScanOptions {
    /// Returns the default options for some roots.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { roots: roots.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Chooses the reader.
    pub fn reader(mut self, reader: ReaderKind) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Chooses how many bytes one listing call may fill.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer_size = Some(bytes);
        self
    }

    /// Chooses in which order attributes are asked for.
    pub fn stat_order(mut self, order: StatOrder) -> Self {
        self.stat_order = Some(order);
        self
    }

    /// Chooses the order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Limits the threads. Orders that walk on one thread use one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Limits the threads while the answers come at once.
    pub fn busy_threads(mut self, threads: usize) -> Self {
        self.busy_threads = Some(threads);
        self
    }

    /// Limits the threads while directories wait for a device.
    pub fn waiting_threads(mut self, threads: usize) -> Self {
        self.waiting_threads = Some(threads);
        self
    }

    /// Stays on the file system of each root.
    pub fn one_file_system(mut self, stay: bool) -> Self {
        self.one_file_system = stay;
        self
    }

    /// Reads pseudo file systems below other ones, too.
    pub fn pseudo_file_systems(mut self, read: bool) -> Self {
        self.pseudo_file_systems = read;
        self
    }

    /// Follows symbolic links.
    pub fn follow(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Reads no directories this deep or deeper.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Leaves out what the filters do not let pass.
    pub fn filters(mut self, filters: Filters) -> Self {
        self.filters = filters;
        self
    }

    /// Limits the file descriptors.
    pub fn max_open(mut self, descriptors: usize) -> Self {
        self.max_open = Some(descriptors);
        self
    }

    /// Stops when `cancel` says so.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Counts into `progress`.
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Checks the options.
    ///
    /// # Errors
    /// No root, a reader that cannot be used here, a buffer size or a stat order that it does not
    /// take, a pattern that does not parse, depths that leave nothing.
    pub fn plan(self) -> Result<ScanPlan, Error> {
        ScanPlan::new(self)
    }
}
