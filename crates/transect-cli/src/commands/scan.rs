//! `transect scan`: counts entries and bytes.

use std::sync::Arc;

use transect::{FieldMask, Outcome, Progress, RankBy, Sink, Totals};

use crate::args::ScanArgs;
use crate::commands::snapshot::Since;
use crate::output::not_found::NotFound;
use crate::output::summary::Shown;
use crate::output::{self, json, summary};
use crate::profile;
use crate::progress::ProgressLine;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

/// What totals need of directories.
const DIRECTORY_FIELDS: FieldMask =
    FieldMask::SIZE.union(FieldMask::ALLOCATED).union(FieldMask::DEVICE);

pub(crate) fn run(args: &ScanArgs) -> Result<ExitStatus, CliError> {
    let progress = Arc::new(Progress::new());
    let make = || {
        let rank_by = if args.apparent { RankBy::Apparent } else { RankBy::DiskUsage };
        let kept =
            if args.json { args.top } else { args.top.saturating_mul(summary::KEPT_PER_LINE) };
        let totals = Totals::ranked(kept, rank_by);
        if args.errors { totals.keep_all_errors() } else { totals }
    };
    let want = make().want();
    let fields = want.entries | want.opportunistic | args.walk.filter.attributes.filter().fields();
    let since = Since::of(&args.since, args.walk.roots(), args.walk.filter.follow, fields)?;
    let (options, profile) = profile::scan_options(&args.walk);
    let options = options.cancel(cancel_on_signal()?).progress(Arc::clone(&progress));
    let plan = options.clone().plan()?;

    let line = ProgressLine::start(args.progress, true, &progress);
    let outcome = match &since {
        Some(since) => since.run(&plan, DIRECTORY_FIELDS, make)?,
        None => plan.run(make)?,
    };
    // The causes may take a second walk: the progress line stays.
    let is_all = args.walk.filter.one_file_system && args.walk.filter.selects_everything();
    let not_found = is_all.then(|| NotFound::of(&options, &outcome)).flatten();
    drop(line);
    let inherited = since.map(|since| since.inherited());
    show(args, outcome, &Shown { profile, not_found, inherited, top: args.top })
}

fn show(
    args: &ScanArgs,
    mut outcome: Outcome<Totals>,
    shown: &Shown,
) -> Result<ExitStatus, CliError> {
    let roots = args.walk.roots();
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
    if args.json {
        output::print_json(&json::scan(&roots, &outcome, shown, args.errors))?;
    } else {
        let mut text = output::buffer();
        summary::write(&mut text, &roots, &outcome, shown)?;
        output::print(text)?;
    }
    args.walk.hint_root_is_no_directory(&outcome);
    Ok(end)
}
