//! The interface between the walker and an operating system.

use std::ffi::OsStr;
use std::path::Path;

use crate::attributes::{Attributes, FieldMask};
use crate::batch::Batch;
use crate::fault::Fault;
use crate::options;
use crate::volume::Volume;

options! {
    /// The attributes that the caller needs. Readers do not query anything else.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Want {
        /// Sets the fields of entries that are not directories, needed when they are listed.
        entries: FieldMask = FieldMask,
        /// Sets the fields of the same entries that are stored if the listing contains them, but are not worth a
        /// query. (Windows directory records have no link count; querying it for every file would cost
        /// more than the rest of the scan.)
        opportunistic: FieldMask = FieldMask,
        /// Sets the fields of directories, needed when they are listed in their parent.
        directories: FieldMask = FieldMask,
        /// Sets the fields of directories, needed when they are opened. This is cheaper than when they are
        /// listed because no name is looked up (`statx` on the open handle: 0.21 µs instead of 0.38 µs,
        /// warm ext4).
        opened: FieldMask = FieldMask,
        /// Sets whether to follow symbolic links: to report the attributes of their targets.
        follow: bool = bool,
        ;
    }
}

impl Want {
    /// Returns a request for nothing but names and types.
    pub fn nothing() -> Self {
        Self::default()
    }
}

impl From<FieldMask> for Want {
    /// The fields of every entry, when it is listed.
    fn from(fields: FieldMask) -> Self {
        Self { entries: fields, directories: fields, ..Self::default() }
    }
}

/// Whether a directory has more to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStatus {
    /// There may be more: call [`Reader::list`] again.
    More,
    /// The directory is complete. The last batch may hold entries or be empty.
    End,
}

/// Reads one directory at a time.
///
/// A reader belongs to one thread. Between [`Reader::open`] (or [`Reader::open_root`]) and the
/// [`ListStatus::End`] of that directory, the same reader lists no other directory. Handles of
/// earlier directories remain usable for opening entries below them, from any thread.
pub trait Reader: Send + 'static {
    /// An open directory. Dropping it closes it.
    type Handle: Send + Sync + 'static;

    /// Records the fields that the walk requests, before the first call: a reader that reads ahead need not
    /// keep others. Without this call, all fields may be requested.
    fn prepare(&mut self, want: &Want) {
        let _ = want;
    }

    /// Returns the attributes of a root, given by path.
    ///
    /// # Errors
    /// Any error that the system reports. A missing root is an error, not [`Fault::Vanished`].
    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault>;

    /// Opens a root that is a directory.
    ///
    /// # Errors
    /// Any error that the system reports. A missing root is an error, not [`Fault::Vanished`].
    fn open_root(&mut self, path: &Path, follow: bool) -> Result<Self::Handle, Fault>;

    /// Opens a directory `steps` below `anchor`. One step takes one system call at any depth. The
    /// whole path may be longer than the system's limit for a path.
    ///
    /// Symbolic links in the middle of the path are never followed; `follow` applies to the last
    /// step.
    ///
    /// # Errors
    /// [`Fault::Vanished`] if the directory is gone or is not a directory any more.
    fn open(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<Self::Handle, Fault>;

    /// Returns the attributes of an open directory and records the volume it is on.
    fn stat_open(
        &mut self,
        handle: &mut Self::Handle,
        want: FieldMask,
    ) -> Result<Attributes, Fault>;

    /// Returns the attributes of an entry `steps` below `anchor` without opening it.
    ///
    /// # Errors
    /// [`Fault::Vanished`] if the entry is gone.
    fn stat(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault>;

    /// Replaces the content of `batch` by the next entries of the directory, with the attributes in
    /// the listing. Where a system has several kinds of listing, `want` selects one.
    ///
    /// # Errors
    /// Entries listed before the error remain valid; the rest of the directory is lost.
    fn list(
        &mut self,
        handle: &Self::Handle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault>;

    /// Queries the wanted fields that the listing did not contain. Failures are stored in the
    /// batch: see
    /// [`Batch::drain_faults`].
    ///
    /// The batch may come from another reader of the walk if [`Reader::shares_queries`] allows it.
    fn fill(&mut self, handle: &Self::Handle, batch: &mut Batch, want: &Want);

    /// Returns whether [`Reader::fill`] takes entries of this directory on any thread, also those that
    /// another reader of the walk listed, while that reader continues the listing. Then idle threads
    /// help with a large directory.
    fn shares_queries(handle: &Self::Handle) -> bool {
        let _ = handle;
        false
    }

    /// Returns the volume of an open directory, as [`Reader::stat_open`] found it. Before that call
    /// it is the volume of the parent, and unknown for a root.
    fn volume(handle: &Self::Handle) -> Volume;

    /// Returns whether something may be mounted on an open directory. False only if
    /// [`Reader::stat_open`] ruled it out, or on a system where mount points are links.
    fn may_be_mount_point(handle: &Self::Handle) -> bool {
        let _ = handle;
        !cfg!(windows)
    }
}
