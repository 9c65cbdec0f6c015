//! A directory that waits to be read.

use std::ffi::OsStr;
use std::sync::Arc;

use transect_sys::Reader;

use crate::dir::Dir;
use crate::sink::Sink;
use crate::walk::budget::HandlePermit;

/// Many tasks.
pub(super) type Tasks<R, S> = Vec<Task<<R as Reader>::Handle, <S as Sink>::Tag>>;

/// A directory that waits to be read: where it is, and from which handle it can be opened.
pub(super) struct Task<H, T> {
    pub(super) parent: Arc<Dir<T>>,
    /// An open directory at or above the parent. The last task that needs it closes it. `None`
    /// for roots, and for what lies below a root whose handle was not kept.
    pub(super) anchor: Option<Arc<Anchor<H>>>,
    pub(super) name: Box<OsStr>,
    pub(super) flags: TaskFlags,
}

/// What is to be done with a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskFlags {
    /// Read it; otherwise only its own attributes count.
    pub(super) read: bool,
    /// It was delivered as an entry.
    pub(super) listed: bool,
    /// It is what a symbolic link leads to.
    pub(super) followed: bool,
}

/// A directory handle that is kept open for the directories below it.
pub(super) struct Anchor<H> {
    pub(super) handle: H,
    /// Depth of the entries in it.
    pub(super) entry_depth: u32,
    pub(super) _permit: HandlePermit,
}
