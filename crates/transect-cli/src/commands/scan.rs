//! `transect scan`: counts entries and bytes.

use std::path::PathBuf;
use std::sync::Arc;

use transect::{Outcome, Progress, RankBy, Totals, WalkProfile};

use crate::args::ScanArgs;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::{self, json, summary};
use crate::profile;
use crate::progress::ProgressLine;

pub(crate) fn run(args: &ScanArgs) -> Result<ExitStatus, CliError> {
    let progress = Arc::new(Progress::new());
    let (options, profile) = profile::scan_options(&args.walk);
    let plan = options.cancel(cancel_on_signal()?).progress(Arc::clone(&progress)).plan()?;

    let line = ProgressLine::start(args.progress, true, &progress);
    let outcome = plan.run(|| {
        let rank_by = if args.apparent { RankBy::Apparent } else { RankBy::DiskUsage };
        let totals = Totals::ranked(args.top, rank_by);
        if args.errors { totals.keep_all_errors() } else { totals }
    });
    drop(line);
    show(args, outcome?, profile.as_ref())
}

fn show(
    args: &ScanArgs,
    mut outcome: Outcome<Totals>,
    profile: Option<&WalkProfile>,
) -> Result<ExitStatus, CliError> {
    let roots: Vec<PathBuf> = args.walk.roots();
    let diagnostics = &mut outcome.sink.diagnostics;
    diagnostics.sort();
    let end = ExitStatus::from_diagnostics(diagnostics, outcome.interrupted);
    let nothing_to_show = diagnostics.failed_roots == outcome.roots as u64;
    // The JSON object lists the errors itself.
    if nothing_to_show || !(args.json && args.errors) {
        output::show_errors(diagnostics, args.errors);
    }
    if nothing_to_show {
        return Ok(end);
    }
    let mut text = output::buffer();
    if args.json {
        let object = json::Scan::new(&roots, &outcome, profile, args.errors);
        output::write_json(&mut text, &object)?;
    } else {
        summary::write(&mut text, &roots, &outcome, profile)?;
    }
    output::print(text)?;
    args.walk.hint_root_is_link(&outcome);
    Ok(end)
}
