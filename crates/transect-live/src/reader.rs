//! The reader of the first walk: watches every directory before it is listed.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use transect::{Attributes, Batch, FieldMask, FileId, Want};
use transect_sys::watch::WatchId;
use transect_sys::{Fault, ListStatus, Reader, SystemHandle, SystemReader, Volume};

use crate::inbox::Inbox;

/// What the threads of the walk watched.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<WatchedDirectories>);

/// The watched directories by their file ids, and why the first one could not be watched.
#[derive(Debug, Default)]
pub(crate) struct WatchedDirectories {
    pub(crate) watches: Vec<(FileId, WatchId)>,
    pub(crate) failure: Option<io::Error>,
}

impl Watched {
    pub(crate) fn take(&self) -> WatchedDirectories {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, WatchedDirectories> {
        self.0.lock().expect("BUG: a thread panicked while it watched")
    }
}

/// A reader of the system that watches.
#[derive(Debug)]
pub(crate) struct WatchingReader {
    inner: SystemReader,
    inbox: Arc<Inbox>,
    /// What this thread watched; others get it when it ends.
    own: Vec<(FileId, WatchId)>,
    all: Arc<Watched>,
}

/// An open directory, watched if that was possible.
pub(crate) struct WatchedHandle {
    real: SystemHandle,
    watch: Option<WatchId>,
}

impl fmt::Debug for WatchedHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WatchedHandle({:?})", self.watch)
    }
}

impl WatchingReader {
    pub(crate) fn new(inner: SystemReader, inbox: Arc<Inbox>, all: Arc<Watched>) -> Self {
        Self { inner, inbox, own: Vec::new(), all }
    }

    /// A directory that cannot be watched has no watch afterwards, which the live tree reports.
    fn watched(&self, real: SystemHandle) -> WatchedHandle {
        let watch = SystemReader::watch(&real, self.inbox.watcher());
        let watch = watch.map_err(|error| self.all.lock().failure.get_or_insert(error).kind()).ok();
        WatchedHandle { real, watch }
    }
}

impl Drop for WatchingReader {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.0.lock() {
            all.watches.append(&mut self.own);
        }
    }
}

impl Reader for WatchingReader {
    type Handle = WatchedHandle;

    fn prepare(&mut self, want: &Want) {
        self.inner.prepare(want);
    }

    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        self.inner.stat_root(path, want, follow)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<WatchedHandle, Fault> {
        let real = self.inner.open_root(path, follow)?;
        Ok(self.watched(real))
    }

    fn open(
        &mut self,
        anchor: &WatchedHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<WatchedHandle, Fault> {
        let real = self.inner.open(&anchor.real, steps, follow)?;
        Ok(self.watched(real))
    }

    /// The walk calls this for every directory that it opened, so each gets its file id here.
    fn stat_open(
        &mut self,
        handle: &mut WatchedHandle,
        want: FieldMask,
    ) -> Result<Attributes, Fault> {
        let attributes = self.inner.stat_open(&mut handle.real, want | FieldMask::FILE_ID)?;
        if let (Some(watch), Some(id)) = (handle.watch, attributes.file_id()) {
            self.own.push((id, watch));
        }
        Ok(attributes)
    }

    fn stat(
        &mut self,
        anchor: &WatchedHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        self.inner.stat(&anchor.real, steps, want, follow)
    }

    fn list(
        &mut self,
        handle: &WatchedHandle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        self.inner.list(&handle.real, batch, want)
    }

    fn fill(&mut self, handle: &WatchedHandle, batch: &mut Batch, want: &Want) {
        self.inner.fill(&handle.real, batch, want);
    }

    fn shares_queries(handle: &WatchedHandle) -> bool {
        SystemReader::shares_queries(&handle.real)
    }

    fn volume(handle: &WatchedHandle) -> Volume {
        SystemReader::volume(&handle.real)
    }

    fn may_be_mount_point(handle: &WatchedHandle) -> bool {
        SystemReader::may_be_mount_point(&handle.real)
    }
}
