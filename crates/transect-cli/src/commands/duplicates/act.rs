//! Removes, links or clones the copies, after asking.

use std::io;
use std::path::PathBuf;

use transect::{Cancel, FileType};
use transect_duplicates::{Action, ActionReport, apply};
use transect_transform::publish::{is_temporary, remove_abandoned};

use super::found::Found;
use crate::args::DuplicatesArgs;
use crate::output;
use crate::output::units::{bytes, count, counted};
use crate::progress::StatusLine;
use crate::question;
use transect_program::{CliError, ExitStatus};

/// Kept files that are reported without `--errors`.
const KEPT_SHOWN: usize = 10;

pub(super) struct Acted {
    pub(super) action: Action,
    /// `None` after a dry run.
    pub(super) done: Option<ActionReport>,
}

impl Acted {
    pub(super) fn past_tense(&self) -> &'static str {
        match self.action {
            Action::Remove => "removed",
            Action::Link { .. } => "linked",
            Action::Clone => "cloned",
        }
    }

    /// Returns the status of the command: that of the search, unless the action was less complete.
    pub(super) fn status(&self, found: ExitStatus) -> ExitStatus {
        let Some(ActionReport { report, lost_metadata, .. }) = &self.done else { return found };
        if report.cancelled {
            return ExitStatus::Interrupted;
        }
        let is_complete = report.is_complete() && report.counts.vanished == 0;
        found.max(ExitStatus::complete_if(is_complete && lost_metadata.is_empty()))
    }
}

/// Checks that a question can be asked if it must be, before anything is read.
pub(super) fn check_can_ask(args: &DuplicatesArgs) -> Result<(), CliError> {
    if args.yes || args.dry_run {
        return Ok(());
    }
    question::check_can_ask("use --yes, or --dry-run to look first")
}

/// Acts on the groups that are shown. Returns `None` if there is nothing to do, or the user declined.
pub(super) fn run(
    args: &DuplicatesArgs,
    found: &Found,
    action: Action,
    cancel: &Cancel,
) -> Result<Option<Acted>, CliError> {
    if args.dry_run {
        return Ok(Some(Acted { action, done: None }));
    }
    let groups = found.groups();
    let copies = groups.iter().flat_map(|group| group.copies.iter().skip(1));
    let names: u64 =
        copies.filter(|file| action.applies_to(file)).map(|file| file.names.len() as u64).sum();
    if names > 0 && !args.yes && !confirm(action, names, found)? {
        output::note("nothing was changed");
        return Ok(None);
    }
    let mut status = StatusLine::on_terminal();
    let done = apply(&found.table, groups, action, cancel, &mut |counts, _| {
        if !args.progress.no_progress {
            status.redraw(|| format!("{} of {} names", count(counts.done()), count(names)));
        }
    });
    drop(status);
    let done = done.map_err(CliError::failed)?;
    report_kept(args, &done);
    remove_leftovers(found);
    Ok(Some(Acted { action, done: Some(done) }))
}

/// Removes the names that killed runs left behind: links, and clones that were not finished.
fn remove_leftovers(found: &Found) {
    let table = &found.table;
    let rows = table.roots().flat_map(|root| table.subtree(root));
    let leftovers: Vec<PathBuf> = rows
        .filter(|&row| table.file_type(row) == FileType::File && is_temporary(table.name(row)))
        .map(|row| table.path(row))
        .collect();
    let cleanup = remove_abandoned(&leftovers);
    cleanup.errors.iter().for_each(output::error);
    if cleanup.removed > 0 {
        let files = counted(cleanup.removed as u64, "temporary file", "temporary files");
        output::note(&format!("removed {files} of killed runs"));
    }
}

fn report_kept(args: &DuplicatesArgs, done: &ActionReport) {
    let report = &done.report;
    let shown = if args.errors { usize::MAX } else { KEPT_SHOWN };
    report.kept.iter().take(shown).for_each(output::error);
    let more = report.counts.kept - shown.min(report.kept.len()) as u64;
    if more > 0 {
        output::hint(&format!("{} more names kept", count(more)));
    }
    for (path, lost) in &done.lost_metadata {
        output::report_lost_metadata(path, lost);
    }
}

fn confirm(action: Action, names: u64, found: &Found) -> io::Result<bool> {
    let names = counted(names, "name", "names");
    let freed = found.groups().iter().fold(0_u64, |sum, group| sum.saturating_add(group.freed));
    let what = match action {
        Action::Remove => format!("Remove {names}"),
        Action::Link { .. } => format!("Replace {names} by hard links"),
        Action::Clone => format!("Replace {names} by clones"),
    };
    question::confirm(&format!("{what}, freeing up to {}", bytes(freed)))
}
