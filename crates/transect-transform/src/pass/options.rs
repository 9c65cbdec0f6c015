//! The options of passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use transect::Cancel;

use super::holes::Holes;
use super::idle::IdleThreads;
use super::method::IoMethod;
use super::preference::Preference;

/// How to read and write files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PassOptions {
    /// The method; if `None`, chosen for each file.
    pub method: Option<IoMethod>,
    /// Methods that were measured to be fastest here. If no method is set, the first that matches a
    /// file and can process it is used.
    pub preferred: Arc<[Preference]>,
    /// Keep reads and writes from evicting other data from the page cache. If no method is set,
    /// large files bypass the cache where that is possible; single pages at the ends of files still
    /// go through it. The buffered method reads and writes through the cache and leaves nothing
    /// there, where the system supports that (Linux since 6.14, on some file systems).
    pub spare_cache: bool,
    /// Bytes to read at once; if `None`, chosen for each file.
    pub block: Option<usize>,
    /// Reject binary files ([`is_binary`](crate::text::is_binary)) with
    /// [`Rejection::Binary`](crate::Rejection::Binary), before anything is written.
    pub text_only: bool,
    /// Before publishing a result, read it back from the device, as far as the system drops its
    /// cached pages, and compare it with what was written: for devices and cables that are not
    /// trusted. Implies a sync.
    pub read_back: bool,
    /// What to do with runs of zeros.
    pub holes: Holes,
    /// Advise the system that files are read from beginning to end.
    pub sequential: bool,
    /// A request to stop, checked between blocks.
    pub cancel: Cancel,
    /// Counts the bytes read, for progress displays.
    pub progress: Option<Arc<AtomicU64>>,
    /// Threads that may help with a large file, unless a method or a block size is set.
    pub idle: Option<Arc<IdleThreads>>,
}

/// Each method sets the field of the same name.
impl PassOptions {
    /// Sets the method; `None` chooses one for each file.
    pub fn method(mut self, method: impl Into<Option<IoMethod>>) -> Self {
        self.method = method.into();
        self
    }

    /// Sets the methods that were measured to be fastest here.
    pub fn preferred(mut self, preferred: Arc<[Preference]>) -> Self {
        self.preferred = preferred;
        self
    }

    /// Sets whether other data stays in the page cache.
    pub fn spare_cache(mut self, spare_cache: bool) -> Self {
        self.spare_cache = spare_cache;
        self
    }

    /// Sets the bytes to read at once; `None` chooses them for each file.
    pub fn block(mut self, block: impl Into<Option<usize>>) -> Self {
        self.block = block.into();
        self
    }

    /// Sets whether binary files are rejected.
    pub fn text_only(mut self, text_only: bool) -> Self {
        self.text_only = text_only;
        self
    }

    /// Sets whether results are read back from the device and compared.
    pub fn read_back(mut self, read_back: bool) -> Self {
        self.read_back = read_back;
        self
    }

    /// Sets what to do with runs of zeros.
    pub fn holes(mut self, holes: Holes) -> Self {
        self.holes = holes;
        self
    }

    /// Sets whether the system is advised that files are read from beginning to end.
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Sets the request to stop.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the counter of the bytes read.
    pub fn progress(mut self, progress: impl Into<Option<Arc<AtomicU64>>>) -> Self {
        self.progress = progress.into();
        self
    }

    /// Sets the threads that may help with a large file.
    pub fn idle(mut self, idle: impl Into<Option<Arc<IdleThreads>>>) -> Self {
        self.idle = idle.into();
        self
    }
}

/// Adds to the count of bytes read, if there is one.
pub(super) fn add_progress(progress: Option<&AtomicU64>, bytes: usize) {
    if let Some(progress) = progress {
        progress.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
