//! `transect reclaim`: proposes what can be made again, and removes it.

mod json;
mod proposal;
mod removed;
mod text;

use std::time::Instant;

use transect::{FieldMask, ScanOptions};
use transect_remove::Removal;

use crate::args::ReclaimArgs;
use crate::commands::snapshot;
use crate::kinds::Kinds;
use crate::output;
use crate::question;
use proposal::Proposal;
use removed::{Removed, remove};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &ReclaimArgs) -> Result<ExitStatus, CliError> {
    if args.keep.is_some() && args.paths.len() > 1 {
        return Err(CliError::failed(
            "--keep takes one PATH: others may be on another file system",
        ));
    }
    if args.remove && !args.yes {
        question::check_can_ask("use --yes, or leave out --remove to look first")?;
    }
    let kinds = Kinds::load()?;
    proposal::check_kinds(&kinds, &args.kind)?;
    let cancel = cancel_on_signal()?;
    let began = Instant::now();
    let columns = Removal::COLUMNS | FieldMask::FILE_ID | FieldMask::NLINK;
    let options = ScanOptions::new(args.roots()).same_file_system(args.one_file_system);
    let (table, outcome) =
        snapshot::walk_shown(options, columns, args.errors, None, &cancel, args.progress)?;
    let diagnostics = table.diagnostics();
    output::show_errors(diagnostics, args.errors);
    let found = ExitStatus::from_diagnostics(diagnostics, outcome.interrupted);
    if diagnostics.failed_roots == outcome.roots as u64 {
        return Ok(found);
    }
    let proposal = Proposal::of(args, &table, &kinds, &cancel)?;
    let elapsed = began.elapsed();
    if !args.json {
        text::write(args, &proposal)?;
    }
    let removed = match args.remove && found != ExitStatus::Interrupted {
        true => remove(args, &proposal, &cancel)?,
        false => None,
    };
    if args.json {
        json::print(args, &proposal, removed.as_ref(), outcome.interrupted, elapsed)?;
    } else if let Some(removed) = &removed {
        text::write_removed(&proposal, removed)?;
    }
    let end = match &removed {
        Some(Removed { report, .. }) if report.cancelled => ExitStatus::Interrupted,
        Some(Removed { report, .. }) => ExitStatus::complete_if(report.is_complete()),
        None => ExitStatus::Complete,
    };
    Ok(found.max(end).max(ExitStatus::complete_if(proposal.is_enough)))
}
