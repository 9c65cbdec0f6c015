//! The state that all workers of a walk share.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use transect_sys::{FieldMask, FileId, Reader, Want};

use crate::lock::lock;
use crate::options::WorkLimit;
use crate::plan::ScanPlan;
use crate::sink::Flow;
use crate::walk::budget::HandleBudget;
use crate::walk::mounts::MountNames;
use crate::walk::roots::RootEntries;
use crate::walk::task::Task;

/// The state that all workers of a walk share.
pub(super) struct WalkShared<R: Reader> {
    pub(super) plan: ScanPlan,
    pub(super) want: Want,
    mounts: MountNames,
    pub(super) roots: RootEntries,
    pub(super) budget: HandleBudget,
    /// Set when a sink returns `Flow::Quit`.
    quit: AtomicBool,
    /// Set when a directory is read. Maintained only with a limit of work, as is the number of entries.
    has_read: AtomicBool,
    entries: AtomicU64,
    /// The directories read so far; only maintained when links are followed.
    seen: Mutex<HashSet<FileId>>,
    /// Links to directories, for the next round.
    links: Mutex<Vec<DeferredLink<R::Handle>>>,
}

/// A link to a directory.
pub(super) struct DeferredLink<H> {
    pub(super) task: Task<H>,
    pub(super) target: Option<FileId>,
}

impl<R: Reader> WalkShared<R> {
    pub(super) fn new(plan: &ScanPlan, mut want: Want, reader: &mut R) -> Self {
        want.follow = plan.options.follow_links;
        if let Some(filter) = &plan.filter {
            filter.add_wanted(&mut want);
        }
        if plan.options.follow_links {
            want.opened |= FieldMask::FILE_ID;
        }
        if plan.options.same_file_system {
            // The mount table lists neither btrfs subvolumes nor file systems that are mounted
            // later.
            want.opened |= FieldMask::DEVICE;
        }
        reader.prepare(&want);
        Self {
            plan: plan.clone(),
            want,
            mounts: MountNames::default(),
            roots: RootEntries::new(&plan.options.roots, plan.options.every_root, |path| {
                reader.stat_root(path, FieldMask::FILE_ID, true).ok()?.file_id()
            }),
            budget: HandleBudget::new(plan.keep_open),
            quit: AtomicBool::new(false),
            has_read: AtomicBool::new(false),
            entries: AtomicU64::new(0),
            seen: Mutex::default(),
            links: Mutex::new(Vec::new()),
        }
    }

    /// Returns whether a directory below a root must be queried, because it may be a mount point. The mount
    /// table is not needed if every one is queried for its device.
    #[inline]
    pub(super) fn may_be_mount_point(&self, name: &OsStr) -> bool {
        self.want.opened.contains(FieldMask::DEVICE) || self.mounts.may_be_mount_point(name)
    }

    /// Returns whether the walk must not read any further.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.quit.load(Ordering::Relaxed) || self.plan.options.cancel.is_cancelled()
    }

    /// Returns whether a directory that is about to be read is left over.
    #[inline]
    pub(super) fn is_left_over(&self) -> bool {
        self.plan.options.work_limit.is_some_and(|limit| self.has_reached(limit))
    }

    #[cold]
    fn has_reached(&self, limit: WorkLimit) -> bool {
        let is_reached = self.entries.load(Ordering::Relaxed) >= limit.entries
            || limit.until.is_some_and(|until| Instant::now() >= until);
        // The first one is read in any case.
        self.has_read.swap(true, Ordering::Relaxed) && is_reached
    }

    /// Counts entries for the limit of work.
    #[inline]
    pub(super) fn count(&self, entries: usize) {
        if self.plan.options.work_limit.is_some() {
            self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        }
    }

    /// Stops the walk if a sink wants that.
    pub(super) fn obey(&self, flow: Flow) {
        if flow == Flow::Quit {
            self.quit();
        }
    }

    pub(super) fn quit(&self) {
        self.quit.store(true, Ordering::Relaxed);
    }

    /// Records that a directory is read; returns false if it was read before.
    pub(super) fn mark_seen(&self, id: Option<FileId>) -> bool {
        id.is_none_or(|id| lock(&self.seen).insert(id))
    }

    pub(super) fn was_seen(&self, id: Option<FileId>) -> bool {
        id.is_some_and(|id| lock(&self.seen).contains(&id))
    }

    /// Keeps a link to a directory for the next round.
    pub(super) fn defer(&self, link: DeferredLink<R::Handle>) {
        lock(&self.links).push(link);
    }

    /// Removes and returns the links of the last round.
    pub(super) fn take_links(&self) -> Vec<DeferredLink<R::Handle>> {
        std::mem::take(&mut *lock(&self.links))
    }
}
