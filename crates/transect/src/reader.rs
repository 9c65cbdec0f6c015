//! The reader of a walk: one of directories, as the system has them, or one of whole volumes.
//!
//! The choice between them is made at each call, as between the kinds of [`SystemReader`]. So the walker is compiled
//! once for all of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transect_sys::{
    Attributes, Batch, DiskSpace, Fault, FieldMask, ListStatus, Reader, ReaderKind, ReaderSettings,
    SystemHandle, SystemReader, Volume, Want,
};
#[cfg(feature = "volumes")]
use transect_volumes::{OpenVolumes, VolumeHandle, VolumeReader};

use crate::plan::ScanPlan;

/// A reader of any [`ReaderKind`].
///
/// # Panics
/// Its methods panic if a handle comes from a reader of another type.
#[derive(Debug)]
pub struct AnyReader(Inner);

/// An open directory of an [`AnyReader`].
#[derive(Debug)]
pub struct AnyHandle(InnerHandle);

#[derive(Debug)]
enum Inner {
    Directories(SystemReader),
    #[cfg(feature = "volumes")]
    Volumes(Box<VolumeReader>),
}

#[derive(Debug)]
enum InnerHandle {
    Directories(SystemHandle),
    #[cfg(feature = "volumes")]
    Volumes(VolumeHandle),
}

impl From<SystemHandle> for AnyHandle {
    #[inline]
    fn from(handle: SystemHandle) -> Self {
        Self(InnerHandle::Directories(handle))
    }
}

#[cfg(feature = "volumes")]
impl From<VolumeHandle> for AnyHandle {
    fn from(handle: VolumeHandle) -> Self {
        Self(InnerHandle::Volumes(handle))
    }
}

/// Makes the readers of one walk. They share the volumes that they read.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    kind: ReaderKind,
    settings: ReaderSettings,
    #[cfg(feature = "volumes")]
    pub(crate) volumes: OpenVolumes,
}

impl Readers {
    pub(crate) fn new(plan: &ScanPlan) -> Self {
        Self {
            kind: plan.reader,
            settings: plan.reader_settings,
            #[cfg(feature = "volumes")]
            volumes: OpenVolumes::new(
                Some(plan.threads.busy()),
                plan.auto_reader,
                plan.one_file_system,
            ),
        }
    }

    /// Returns a reader for one thread.
    pub(crate) fn reader(&self) -> AnyReader {
        #[cfg(feature = "volumes")]
        if ReaderKind::VOLUMES.contains(&self.kind) {
            let reader = VolumeReader::new(self.kind, self.volumes.clone(), self.settings);
            return AnyReader(Inner::Volumes(Box::new(reader)));
        }
        AnyReader(Inner::Directories(SystemReader::new(self.kind, self.settings)))
    }
}

/// Queries the file system that the only root of a walk is on. Returns `None` for several roots, for file systems without
/// a size, such as `/proc`, for images of volumes, and if the query fails.
pub fn disk_space_of(roots: &[PathBuf]) -> Option<DiskSpace> {
    let [root] = roots else { return None };
    #[cfg(feature = "volumes")]
    if transect_volumes::reader_of(root).is_some() {
        return None;
    }
    let parent = || root.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = if root.is_dir() { root } else { parent().unwrap_or(Path::new(".")) };
    DiskSpace::of(directory).ok().filter(|disk| disk.size > 0)
}

/// Calls a reader that takes no handle.
macro_rules! with_reader {
    ($self:expr, $reader:ident => $call:expr) => {
        match &mut $self.0 {
            Inner::Directories($reader) => $call,
            #[cfg(feature = "volumes")]
            Inner::Volumes($reader) => $call,
        }
    };
}

/// Calls a reader with one of its handles.
macro_rules! with_handle {
    ($self:expr, $any:expr, ($reader:ident, $handle:ident) => $call:expr) => {
        match (&mut $self.0, $any) {
            (Inner::Directories($reader), InnerHandle::Directories($handle)) => $call,
            #[cfg(feature = "volumes")]
            (Inner::Volumes($reader), InnerHandle::Volumes($handle)) => $call,
            #[cfg(feature = "volumes")]
            _ => panic!("this handle comes from a reader of another type"),
        }
    };
}

/// Calls a function of the reader that a handle comes from.
macro_rules! of_handle {
    ($any:expr, $function:ident) => {
        match &$any.0 {
            InnerHandle::Directories(handle) => SystemReader::$function(handle),
            #[cfg(feature = "volumes")]
            InnerHandle::Volumes(handle) => VolumeReader::$function(handle),
        }
    };
}

impl Reader for AnyReader {
    type Handle = AnyHandle;

    fn prepare(&mut self, want: &Want) {
        with_reader!(self, reader => reader.prepare(want));
    }

    #[inline]
    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        with_reader!(self, reader => reader.stat_root(path, want, follow))
    }

    #[inline]
    fn open_root(&mut self, path: &Path, follow: bool) -> Result<AnyHandle, Fault> {
        with_reader!(self, reader => reader.open_root(path, follow).map(Into::into))
    }

    #[inline]
    fn open(
        &mut self,
        anchor: &AnyHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<AnyHandle, Fault> {
        with_handle!(self, &anchor.0, (reader, anchor) => {
            reader.open(anchor, steps, follow).map(Into::into)
        })
    }

    #[inline]
    fn stat_open(&mut self, handle: &mut AnyHandle, want: FieldMask) -> Result<Attributes, Fault> {
        with_handle!(self, &mut handle.0, (reader, handle) => reader.stat_open(handle, want))
    }

    #[inline]
    fn stat(
        &mut self,
        anchor: &AnyHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        with_handle!(self, &anchor.0, (reader, anchor) => reader.stat(anchor, steps, want, follow))
    }

    #[inline]
    fn list(
        &mut self,
        handle: &AnyHandle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        with_handle!(self, &handle.0, (reader, handle) => reader.list(handle, batch, want))
    }

    #[inline]
    fn fill(&mut self, handle: &AnyHandle, batch: &mut Batch, want: &Want) {
        with_handle!(self, &handle.0, (reader, handle) => reader.fill(handle, batch, want));
    }

    #[inline]
    fn shares_queries(handle: &AnyHandle) -> bool {
        of_handle!(handle, shares_queries)
    }

    #[inline]
    fn volume(handle: &AnyHandle) -> Volume {
        of_handle!(handle, volume)
    }

    #[inline]
    fn may_be_mount_point(handle: &AnyHandle) -> bool {
        of_handle!(handle, may_be_mount_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_space_only_root_directory_or_file() {
        let size = |roots: &[&str]| {
            let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
            disk_space_of(&roots).map(|disk| disk.size)
        };
        assert_eq!(size(&["Cargo.toml"]), size(&["."]));
        assert!(size(&["."]).is_some());
        assert_eq!(size(&[".", "Cargo.toml"]), None);
        assert_eq!(size(&[]), None);
    }
}
