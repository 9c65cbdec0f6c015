//! What all workers of one walk share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transect_sys::{FieldMask, FileId, Reader, Want};

use crate::plan::ScanPlan;
use crate::sink::Sink;
use crate::walk::budget::HandleBudget;
use crate::walk::mounts::MountNames;
use crate::walk::roots::RootEntries;
use crate::walk::task::Task;

/// What all workers of one walk share.
pub(super) struct WalkShared<'p, R: Reader, S: Sink> {
    pub(super) plan: &'p ScanPlan,
    pub(super) want: Want,
    pub(super) mounts: MountNames,
    pub(super) roots: RootEntries,
    pub(super) budget: HandleBudget,
    /// A sink wants no more.
    quit: AtomicBool,
    /// Directories read so far; only kept when links are followed.
    seen: Mutex<HashSet<FileId>>,
    /// Links that lead to directories, for the next round.
    links: Mutex<Vec<DeferredLink<R::Handle, S::Tag>>>,
}

/// A link that leads to a directory.
pub(super) struct DeferredLink<H, T> {
    pub(super) task: Task<H, T>,
    pub(super) target: Option<FileId>,
}

impl<'p, R: Reader, S: Sink> WalkShared<'p, R, S> {
    pub(super) fn new(plan: &'p ScanPlan, mut want: Want, reader: &mut R) -> Self {
        want.follow = plan.follow;
        if let Some(filter) = &plan.filter {
            filter.add_wanted(&mut want);
        }
        if plan.follow {
            want.opened |= FieldMask::FILE_ID;
        }
        if plan.one_file_system {
            // The mount table does not list the subvolumes of btrfs, nor what is mounted later.
            want.opened |= FieldMask::DEVICE;
        }
        Self {
            plan,
            want,
            // Where every directory is asked for its device, no mount table is needed.
            mounts: match want.opened.contains(FieldMask::DEVICE) {
                true => MountNames::unknown(),
                false => MountNames::read(),
            },
            roots: RootEntries::new(&plan.roots, |path| {
                reader.stat_root(path, FieldMask::FILE_ID, true).ok()?.file_id()
            }),
            budget: HandleBudget::new(plan.keep_open),
            quit: AtomicBool::new(false),
            seen: Mutex::default(),
            links: Mutex::new(Vec::new()),
        }
    }

    /// Returns whether nothing further is to be read.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.quit.load(Ordering::Relaxed) || self.plan.cancel.is_cancelled()
    }

    /// Ends the walk on all threads.
    pub(super) fn quit(&self) {
        self.quit.store(true, Ordering::Relaxed);
    }

    /// Notes that a directory is read; returns false if it was read before.
    pub(super) fn mark_seen(&self, id: Option<FileId>) -> bool {
        id.is_none_or(|id| lock(&self.seen).insert(id))
    }

    /// Returns whether a directory was read before.
    pub(super) fn was_seen(&self, id: Option<FileId>) -> bool {
        id.is_some_and(|id| lock(&self.seen).contains(&id))
    }

    /// Keeps a link that leads to a directory for the next round.
    pub(super) fn defer(&self, link: DeferredLink<R::Handle, S::Tag>) {
        lock(&self.links).push(link);
    }

    /// Returns the links of the last round, and forgets them.
    pub(super) fn take_links(&self) -> Vec<DeferredLink<R::Handle, S::Tag>> {
        std::mem::take(&mut *lock(&self.links))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
