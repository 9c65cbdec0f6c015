//! The options of passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use transect::Cancel;

use super::idle::IdleThreads;
use super::method::IoMethod;
use super::preference::Preference;

transect_sys::options! {
    /// How to read and write files.
    #[derive(Clone, Debug, Default)]
    pub struct PassOptions {
        /// Sets the method; `None` chooses one for each file.
        method: Option<IoMethod> = impl Into<Option<IoMethod>>,
        /// Sets the methods that were measured to be fastest here. If no method is set, the first that matches a
        /// file and can process it is used.
        preferred: Arc<[Preference]> = Arc<[Preference]>,
        /// Sets whether to keep reads and writes from evicting other data from the page cache. If no method is set,
        /// large files bypass the cache where that is possible; single pages at the ends of files still
        /// go through it. The buffered method reads and writes through the cache and leaves nothing
        /// there, where the system supports that (Linux since 6.14, on some file systems).
        spare_cache: bool = bool,
        /// Sets the bytes to read at once; `None` chooses them for each file.
        block: Option<usize> = impl Into<Option<usize>>,
        /// Sets whether to reject binary files ([`is_binary`](crate::text::is_binary)) with
        /// [`Reason::Binary`](crate::Reason::Binary), before anything is written.
        text_only: bool = bool,
        /// Sets whether to read a result back from the device before publishing it, as far as the system drops its
        /// cached pages, and to compare it with what was written: for devices and cables that are not
        /// trusted. Implies a sync.
        read_back: bool = bool,
        /// Sets whether to advise the system that files are read from beginning to end.
        sequential: bool = bool,
        /// Sets a request to stop, checked between blocks.
        cancel: Cancel = Cancel,
        /// Sets a counter of the bytes read, for progress displays.
        progress: Option<Arc<AtomicU64>> = impl Into<Option<Arc<AtomicU64>>>,
        /// Sets threads that may help with a large file. If a method or a block size is set, they do not
        /// help with digests.
        idle: Option<Arc<IdleThreads>> = impl Into<Option<Arc<IdleThreads>>>,
        ;
    }
}

/// Adds to the count of bytes read, if there is one.
pub(super) fn add_progress(progress: Option<&AtomicU64>, bytes: usize) {
    if let Some(progress) = progress {
        progress.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
