//! Removes what is proposed, and measures the space that becomes available.

use std::time::{Duration, Instant};

use transect::Cancel;
use transect_remove::Report;
use transect_sys::DiskSpace;

use super::proposal::Proposal;
use crate::args::ReclaimArgs;
use crate::output;
use crate::output::units::{bytes, count, counted};
use crate::progress::StatusLine;
use crate::question;
use transect_program::CliError;

/// How long the file system may take to report the space of removed files: XFS frees it in the background.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);

/// What was removed, and the space that became available.
pub(super) struct Removed {
    pub(super) report: Report,
    /// Unknown for roots on several file systems.
    pub(super) measured: Option<u64>,
}

/// Removes what is proposed. Returns `None` if there is nothing to do, or the user declined.
pub(super) fn remove(
    args: &ReclaimArgs,
    proposal: &Proposal<'_>,
    cancel: &Cancel,
) -> Result<Option<Removed>, CliError> {
    let summary = proposal.removal.summary();
    if proposal.trees.is_empty() {
        return Ok(None);
    }
    let entries = summary.entries();
    let names = counted(entries, "entry", "entries");
    let question = format!("Remove {names}, freeing up to {}", bytes(proposal.freed.end));
    if !args.yes && !question::confirm(&question)? {
        output::note("nothing was changed");
        return Ok(None);
    }
    let mut status = StatusLine::on_terminal();
    let report = proposal.removal.delete(cancel, &mut |counts, _| {
        if !args.progress.no_progress {
            status.redraw(|| format!("{} of {} entries", count(counts.done()), count(entries)));
        }
    });
    drop(status);
    report.kept.iter().take(if args.errors { usize::MAX } else { 10 }).for_each(output::error);
    let measured = proposal.disk.map(|before| measured(args, before, report.counts.freed));
    Ok(Some(Removed { report, measured }))
}

/// Returns the space that became available, as soon as it is `expected`, at the latest after [`SETTLES_WITHIN`].
fn measured(args: &ReclaimArgs, before: DiskSpace, expected: u64) -> u64 {
    for root in args.roots() {
        // If it fails, the space may be reported later.
        let _ = DiskSpace::settle(&root);
    }
    let began = Instant::now();
    loop {
        let now = transect::internal::disk_space_of(&args.roots()).unwrap_or(before);
        let gained = now.available.saturating_sub(before.available);
        if gained >= expected || began.elapsed() > SETTLES_WITHIN {
            return gained;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
