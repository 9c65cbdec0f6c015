//! The object of `--json`.

use std::time::Duration;

use serde::Serialize;

use super::proposal::{Proposal, Tree};
use super::removed::Removed;
use crate::args::ReclaimArgs;
use crate::output;
use crate::output::json::{self, OwnedPath, object};
use transect_program::json::PathKey;

pub(super) fn print(
    args: &ReclaimArgs,
    proposal: &Proposal<'_>,
    removed: Option<&Removed>,
    interrupted: bool,
    elapsed: Duration,
) -> std::io::Result<()> {
    let diagnostics = proposal.table.diagnostics();
    let roots = args.roots();
    output::print_json(&object! {
        schema: "transect.reclaim/1",
        roots: roots.iter().map(|root| PathKey::from(root.as_path())).collect::<Vec<_>>(),
        complete: diagnostics.is_complete() && !interrupted,
        interrupted: interrupted,
        disk: proposal.disk.map(json::disk),
        keep: args.keep,
        enough: proposal.is_enough,
        freed_least: proposal.freed.start,
        freed_most: proposal.freed.end,
        places: proposal.trees.iter().map(|tree| place(proposal, tree)).collect::<Vec<_>>(),
        left_out: proposal.left,
        removed: removed.map(removal),
        errors: diagnostics.errors,
        errors_by: json::errors_by([diagnostics]),
        skipped: json::skipped(diagnostics),
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        error_list?: args.errors.then(|| json::error_list(&diagnostics.kept_errors)),
    })
}

fn place(proposal: &Proposal<'_>, tree: &Tree<'_>) -> impl Serialize {
    object! {
        ..path: OwnedPath(proposal.table.path(tree.row)),
        kind: tree.kind,
        newest_mtime: tree.newest,
        entries: proposal.table.totals(tree.row).entries(),
        freed: tree.freed,
    }
}

fn removal(removed: &Removed) -> impl Serialize {
    let Removed { report, measured } = removed;
    object! {
        interrupted: report.cancelled,
        entries: report.counts.removed,
        kept: report.counts.kept,
        vanished: report.counts.vanished,
        freed: report.counts.freed,
        measured: measured,
        kept_list: json::kept_list(&report.kept),
    }
}
