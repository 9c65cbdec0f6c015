//! The volumes of one walk, read once for all of its readers.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use transect_sys::{AlternateStreams, FieldMask, ReaderKind, Want};

use super::open_volume::OpenVolume;
use super::threads::Effort;

/// The most threads that read tables by default: more gain nothing.
const MAX_THREADS: usize = 16;

/// The volumes of one walk. Its readers share them.
#[derive(Clone, Debug, Default)]
pub struct OpenVolumes(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How many threads read tables; by default one per core.
    threads: Option<usize>,
    /// Walk directories whose volume cannot be read.
    falls_back: bool,
    /// The walk stays on the volumes of its roots.
    one_file_system: bool,
    /// The walk requests no times but that of the content.
    no_times: AtomicBool,
    /// By the path of the root.
    open: Mutex<HashMap<PathBuf, Weak<OpenVolume>>>,
    /// The reader for the first volume that was read.
    reader: OnceLock<ReaderKind>,
    /// Those of the volumes that were read.
    alternate_streams: Mutex<Option<AlternateStreams>>,
    /// Why a directory is walked.
    fallback_reason: Mutex<Option<String>>,
}

impl OpenVolumes {
    /// Sets how volumes are read: on how many threads (by default one per core, at most 16), whether a
    /// directory is walked if the volume that it is on cannot be read (otherwise that is an error), and whether the
    /// walk stays on the file systems of its roots.
    pub fn new(threads: Option<usize>, falls_back: bool, one_file_system: bool) -> Self {
        Self(Arc::new(Shared { threads, falls_back, one_file_system, ..Shared::default() }))
    }

    /// Records the fields that the walk requests, before anything is read.
    pub(super) fn prepare(&self, want: &Want) {
        let all = want.entries | want.opportunistic | want.directories | want.opened;
        let times = FieldMask::TIMES - FieldMask::MTIME;
        self.0.no_times.store(!all.intersects(times), Ordering::Relaxed);
    }

    /// Returns the volume of a root. `read` is called unless another reader has it.
    pub(super) fn get(
        &self,
        path: &Path,
        read: impl FnOnce(Effort) -> io::Result<OpenVolume>,
    ) -> io::Result<Arc<OpenVolume>> {
        // Others wait meanwhile.
        let mut open = lock(&self.0.open);
        if let Some(volume) = open.get(path).and_then(Weak::upgrade) {
            return Ok(volume);
        }
        let volume = Arc::new(read(self.effort())?);
        if let Some(streams) = volume.index.alternate_streams {
            *lock(&self.0.alternate_streams).get_or_insert_default() += streams;
        }
        open.insert(path.to_owned(), Arc::downgrade(&volume));
        Ok(volume)
    }

    /// Returns what reading one volume may take.
    pub(super) fn effort(&self) -> Effort {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.0.threads.unwrap_or_else(cores).clamp(1, MAX_THREADS);
        Effort { threads, all_times: !self.0.no_times.load(Ordering::Relaxed) }
    }

    /// Returns whether the walk stays on the volumes of its roots.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only mounted volumes have others below them")
    )]
    pub(super) fn one_file_system(&self) -> bool {
        self.0.one_file_system
    }

    /// Records which reader the volume of a root needs.
    #[cfg(target_os = "linux")]
    pub(super) fn note_reader(&self, reader: ReaderKind) {
        let _ = self.0.reader.set(reader);
    }

    /// Returns the reader for the first volume that was read.
    pub fn reader(&self) -> Option<ReaderKind> {
        self.0.reader.get().copied()
    }

    /// Returns the alternate streams of all volumes that were read, if one can have some.
    pub fn alternate_streams(&self) -> Option<AlternateStreams> {
        *lock(&self.0.alternate_streams)
    }

    /// Records that the directory of a root is walked for this reason. Returns false if it must not be.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only mounted volumes can be walked instead")
    )]
    pub(super) fn fall_back(&self, reason: &io::Error) -> bool {
        if self.0.falls_back {
            lock(&self.0.fallback_reason).get_or_insert_with(|| reason.to_string());
        }
        self.0.falls_back
    }

    /// Returns why directories were walked although their volumes were to be read.
    pub fn fallback_reason(&self) -> Option<String> {
        lock(&self.0.fallback_reason).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
