//! A reader of directories of any kind that this system has.
//!
//! A call reads a directory, opens one or queries the entries of a whole batch. Beside that, the choice
//! between the kinds at each call costs nothing, and the walker is compiled once for all of them.

use std::ffi::OsStr;
use std::path::Path;

use crate::attributes::{Attributes, FieldMask};
use crate::batch::Batch;
use crate::fault::Fault;
#[cfg(target_os = "linux")]
use crate::linux::{GetdentsReader, ListingHandle, StatCall};
use crate::portable::{PathHandle, PortableReader};
use crate::reader::{ListStatus, Reader, Want};
use crate::registry::ReaderKind;
use crate::settings::ReaderSettings;
use crate::volume::{Reliability, Volume};
#[cfg(windows)]
use crate::windows::{
    DirectoryCall, FindCall, FindHandle, FindReader, HandleReader, ListingHandle,
};

/// A reader of directories, of a [`ReaderKind`].
///
/// # Panics
/// Its methods panic if a handle comes from a reader of another type.
#[derive(Debug)]
pub struct SystemReader(AnyReader);

/// An open directory of a [`SystemReader`].
#[derive(Debug)]
pub struct SystemHandle(AnyHandle);

#[derive(Debug)]
enum AnyReader {
    #[cfg(target_os = "linux")]
    Getdents(GetdentsReader),
    #[cfg(windows)]
    Handle(HandleReader),
    #[cfg(windows)]
    Find(FindReader),
    Portable(PortableReader),
}

#[derive(Debug)]
enum AnyHandle {
    #[cfg(target_os = "linux")]
    Getdents(ListingHandle),
    #[cfg(windows)]
    Handle(ListingHandle),
    #[cfg(windows)]
    Find(FindHandle),
    // The others are smaller.
    Portable(Box<PathHandle>),
}

#[cfg(target_os = "linux")]
impl From<ListingHandle> for SystemHandle {
    fn from(handle: ListingHandle) -> Self {
        Self(AnyHandle::Getdents(handle))
    }
}

#[cfg(windows)]
impl From<ListingHandle> for SystemHandle {
    fn from(handle: ListingHandle) -> Self {
        Self(AnyHandle::Handle(handle))
    }
}

#[cfg(windows)]
impl From<FindHandle> for SystemHandle {
    fn from(handle: FindHandle) -> Self {
        Self(AnyHandle::Find(handle))
    }
}

impl From<PathHandle> for SystemHandle {
    fn from(handle: PathHandle) -> Self {
        Self(AnyHandle::Portable(Box::new(handle)))
    }
}

impl SystemReader {
    /// Returns a reader of a kind, or a portable reader if this system does not have the kind, or it reads volumes.
    pub fn new(kind: ReaderKind, settings: ReaderSettings) -> Self {
        Self(match kind {
            #[cfg(target_os = "linux")]
            ReaderKind::GetdentsStatx => {
                AnyReader::Getdents(GetdentsReader::new(StatCall::Statx, settings))
            }
            #[cfg(target_os = "linux")]
            ReaderKind::GetdentsFstatat => {
                AnyReader::Getdents(GetdentsReader::new(StatCall::Fstatat, settings))
            }
            #[cfg(windows)]
            ReaderKind::NtQuery => {
                AnyReader::Handle(HandleReader::new(DirectoryCall::NtQuery, settings.buffer_size))
            }
            #[cfg(windows)]
            ReaderKind::ByHandle => {
                AnyReader::Handle(HandleReader::new(DirectoryCall::ByHandle, settings.buffer_size))
            }
            #[cfg(windows)]
            ReaderKind::FindFirstFile => AnyReader::Find(FindReader::new(FindCall::Plain)),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExBasic => find(true, false),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExStandard => find(false, false),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExBasicLarge => find(true, true),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExStandardLarge => find(false, true),
            #[cfg(windows)]
            ReaderKind::FileAttributesEx => {
                AnyReader::Find(FindReader::new(FindCall::AttributesEx))
            }
            _ => {
                let _ = settings;
                AnyReader::Portable(PortableReader::new())
            }
        })
    }

    /// Returns which conclusions from a listing of an open directory remain valid afterwards. `path`
    /// leads to it: not all handles can be asked. [`Reader::stat_open`] must have been called.
    pub fn reliability(handle: &SystemHandle, path: &Path) -> Reliability {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            AnyHandle::Getdents(handle) => handle.reliability(),
            _ => crate::host::reliability(path),
        }
    }
}

#[cfg(windows)]
fn find(basic: bool, large: bool) -> AnyReader {
    AnyReader::Find(FindReader::new(FindCall::Ex { basic, large }))
}

/// Calls a reader that takes no handle.
macro_rules! with_reader {
    ($self:expr, $reader:ident => $call:expr) => {
        match &mut $self.0 {
            #[cfg(target_os = "linux")]
            AnyReader::Getdents($reader) => $call,
            #[cfg(windows)]
            AnyReader::Handle($reader) => $call,
            #[cfg(windows)]
            AnyReader::Find($reader) => $call,
            AnyReader::Portable($reader) => $call,
        }
    };
}

/// Calls a reader with one of its handles.
macro_rules! with_handle {
    ($self:expr, $any:expr, ($reader:ident, $handle:ident) => $call:expr) => {
        match (&mut $self.0, $any) {
            #[cfg(target_os = "linux")]
            (AnyReader::Getdents($reader), AnyHandle::Getdents($handle)) => $call,
            #[cfg(windows)]
            (AnyReader::Handle($reader), AnyHandle::Handle($handle)) => $call,
            #[cfg(windows)]
            (AnyReader::Find($reader), AnyHandle::Find($handle)) => $call,
            (AnyReader::Portable($reader), AnyHandle::Portable($handle)) => $call,
            _ => panic!("this handle comes from a reader of another type"),
        }
    };
}

impl Reader for SystemReader {
    type Handle = SystemHandle;

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
    fn open_root(&mut self, path: &Path, follow: bool) -> Result<SystemHandle, Fault> {
        with_reader!(self, reader => reader.open_root(path, follow).map(Into::into))
    }

    #[inline]
    fn open(
        &mut self,
        anchor: &SystemHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<SystemHandle, Fault> {
        with_handle!(self, &anchor.0, (reader, anchor) => {
            reader.open(anchor, steps, follow).map(Into::into)
        })
    }

    #[inline]
    fn stat_open(
        &mut self,
        handle: &mut SystemHandle,
        want: FieldMask,
    ) -> Result<Attributes, Fault> {
        with_handle!(self, &mut handle.0, (reader, handle) => reader.stat_open(handle, want))
    }

    #[inline]
    fn stat(
        &mut self,
        anchor: &SystemHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        with_handle!(self, &anchor.0, (reader, anchor) => reader.stat(anchor, steps, want, follow))
    }

    #[inline]
    fn list(
        &mut self,
        handle: &SystemHandle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        with_handle!(self, &handle.0, (reader, handle) => reader.list(handle, batch, want))
    }

    #[inline]
    fn fill(&mut self, handle: &SystemHandle, batch: &mut Batch, want: &Want) {
        with_handle!(self, &handle.0, (reader, handle) => reader.fill(handle, batch, want));
    }

    #[inline]
    fn shares_queries(handle: &SystemHandle) -> bool {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            AnyHandle::Getdents(handle) => GetdentsReader::shares_queries(handle),
            #[cfg(windows)]
            AnyHandle::Handle(handle) => HandleReader::shares_queries(handle),
            #[cfg(windows)]
            AnyHandle::Find(handle) => FindReader::shares_queries(handle),
            AnyHandle::Portable(handle) => PortableReader::shares_queries(handle),
        }
    }

    #[inline]
    fn volume(handle: &SystemHandle) -> Volume {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            AnyHandle::Getdents(handle) => GetdentsReader::volume(handle),
            #[cfg(windows)]
            AnyHandle::Handle(handle) => HandleReader::volume(handle),
            #[cfg(windows)]
            AnyHandle::Find(handle) => FindReader::volume(handle),
            AnyHandle::Portable(handle) => PortableReader::volume(handle),
        }
    }

    #[inline]
    fn may_be_mount_point(handle: &SystemHandle) -> bool {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            AnyHandle::Getdents(handle) => GetdentsReader::may_be_mount_point(handle),
            #[cfg(windows)]
            AnyHandle::Handle(handle) => HandleReader::may_be_mount_point(handle),
            #[cfg(windows)]
            AnyHandle::Find(handle) => FindReader::may_be_mount_point(handle),
            AnyHandle::Portable(handle) => PortableReader::may_be_mount_point(handle),
        }
    }
}
