//! A directory that waits to be read.

use std::ffi::OsStr;
use std::sync::Arc;

use transect_sys::Reader;

use crate::dir::Dir;
use crate::walk::budget::HandlePermit;

pub(super) type TaskOf<R> = Task<<R as Reader>::Handle>;

pub(super) type Tasks<R> = Vec<TaskOf<R>>;

/// A directory that waits to be read: its position, and the handle to open it from.
pub(super) struct Task<H> {
    pub(super) parent: Arc<Dir>,
    /// An open directory, the parent or one above it. The last task that refers to it closes it.
    /// `None` for roots, and below a root that was closed.
    pub(super) anchor: Option<Arc<Anchor<H>>>,
    pub(super) name: Box<OsStr>,
    pub(super) flags: TaskFlags,
}

/// How to treat a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskFlags {
    /// Read it; otherwise only its own attributes count.
    pub(super) read: bool,
    /// It was delivered as an entry.
    pub(super) listed: bool,
    /// A symbolic link leads to it.
    pub(super) followed: bool,
}

/// A directory that stays open for those below it.
pub(super) struct Anchor<H> {
    pub(super) handle: H,
    /// Depth of its entries.
    pub(super) entry_depth: u32,
    pub(super) _permit: HandlePermit,
}
