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

/// Adds to the count of bytes read, if there is one.
pub(super) fn add_progress(progress: Option<&AtomicU64>, bytes: usize) {
    if let Some(progress) = progress {
        progress.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
