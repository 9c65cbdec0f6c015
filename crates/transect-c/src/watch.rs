//! Trees that are followed: what changes in them, as it happens.

use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transect::Cancel;
use transect_live::{ChangeKind, LiveTree, Waker};

use crate::boundary::{Out, Text, functions, guard_or, objects, required};
use crate::failure::Failure;
use crate::path;
use crate::snapshot::{ChangeParts, OnChange, report};

/// `transect_watch`.
#[derive(Debug)]
pub struct Watch {
    /// In use while a thread waits.
    tree: Mutex<LiveTree>,
    end: Cancel,
    waker: Waker,
    gaps: AtomicU64,
}

impl Watch {
    fn tree(&self) -> MutexGuard<'_, LiveTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, on_change: OnChange, context: *mut c_void) -> Result<(), Failure<'static>> {
        let update = self.tree().next(&self.end)?;
        if self.end.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let update = update.ok_or(Failure::End)?;
        self.gaps.fetch_add(update.was_gap.into(), Ordering::Relaxed);
        for changed in update.changes {
            let bytes = |path: &Path| path::to_bytes(path.as_os_str()).to_vec();
            let parts = ChangeParts {
                kind: number(changed.kind),
                is_consequence: false,
                path: bytes(&changed.path),
                from: changed.from.as_deref().map(bytes),
            };
            report(parts, on_change, context);
        }
        Ok(())
    }
}

/// Returns the number that the header has for a kind, those of changes since a snapshot.
fn number(kind: ChangeKind) -> u32 {
    let kind = match kind {
        ChangeKind::Added => transect_snapshot::ChangeKind::Added,
        ChangeKind::Removed => transect_snapshot::ChangeKind::Removed,
        ChangeKind::Renamed => transect_snapshot::ChangeKind::Renamed,
        // Modified; of a later kind, this much is true.
        _ => transect_snapshot::ChangeKind::Modified,
    };
    kind as u32
}

/// `transect_watch_counts`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct WatchCounts {
    pub entries: u64,
    pub unwatched: u64,
    pub errors: u64,
    pub gaps: u64,
    pub reserved: [u64; 4],
}

functions! {
    transect_watch_open(path: Text<'_>, watch: Out<'_, Box<Watch>>) {
        let (root, out) = (path.path("path")?, required(watch, "watch")?);
        // If the path has no absolute form, the walk reports the error.
        let root = std::path::absolute(&root).unwrap_or(root.into_owned());
        let end = Cancel::new();
        let tree = LiveTree::open(root, &end)?;
        let waker = tree.waker();
        out.write(Box::new(Watch { tree: Mutex::new(tree), end, waker, gaps: AtomicU64::new(0) }));
    }
}

functions! {
    watch: &Watch;
    transect_watch_next(on_change: Option<OnChange>, context: *mut c_void) {
        watch.next(required(on_change, "on_change")?, context)?;
    }
    transect_watch_read_counts(counts: Out<'_, WatchCounts>) {
        let (tree, out) = (watch.tree(), required(counts, "counts")?);
        out.write(WatchCounts {
            entries: tree.table().len(),
            unwatched: tree.unwatched(),
            errors: tree.table().diagnostics().errors,
            gaps: watch.gaps.load(Ordering::Relaxed),
            reserved: [0; 4],
        });
    }
}

/// Ends a wait, also from another thread.
#[unsafe(no_mangle)]
pub extern "C" fn transect_watch_end(watch: Option<&Watch>) {
    guard_or((), || {
        if let Some(watch) = watch {
            watch.end.cancel();
            watch.waker.wake();
        }
    });
}

objects! {
    Watch: transect_watch_free;
}
