//! Looking at a running walk, and ending it.

use std::sync::Arc;

use transect::{Cancel, Progress};

use crate::boundary::{Out, functions, guard_or, objects, required};

/// `transect_control`. Options keep both parts alive.
#[derive(Debug, Default)]
pub struct Control {
    pub(crate) progress: Arc<Progress>,
    pub(crate) cancel: Cancel,
}

/// `transect_progress`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct ProgressCounts {
    pub entries: u64,
    pub directories: u64,
    pub bytes: u64,
    pub errors: u64,
    pub reserved: [u64; 4],
}

objects! {
    Control: transect_control_free, transect_control_new;
}

/// Ends all walks of a control.
#[unsafe(no_mangle)]
pub extern "C" fn transect_control_cancel(control: Option<&Control>) {
    guard_or((), || control.into_iter().for_each(|control| control.cancel.cancel()));
}

functions! {
    control: &Control;
    transect_control_progress(progress: Out<'_, ProgressCounts>) {
        let counts = control.progress.counts();
        required(progress, "progress")?.write(ProgressCounts {
            entries: counts.entries,
            directories: counts.directories,
            bytes: counts.bytes,
            errors: counts.errors,
            reserved: [0; 4],
        });
    }
}
