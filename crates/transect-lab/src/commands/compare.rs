//! `transect lab compare`: compares two sessions.

use transect_lab::harness::log::Session;
use transect_lab::ranking::compare::{ComparedRow, compare};
use transect_lab::report::comparison;
use transect_stats::Verdict;

use crate::args::LabCompareArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::output;

pub(crate) fn run(args: &LabCompareArgs) -> Result<ExitStatus, CliError> {
    let comparison = compare(&Session::read(&args.before)?, &Session::read(&args.after)?);
    if !args.force
        && let Some(why) = comparison::refusal(&comparison)
    {
        return Err(why.into());
    }
    if comparison.groups.is_empty() {
        let why = "the sessions have nothing in common: no tree or input has the same name, state \
                   and --sync in both";
        return Err(CliError::failed(why));
    }
    let slower = comparison.groups.iter().flat_map(|group| &group.rows).any(is_slower);
    let mut text = output::buffer();
    if args.json {
        output::write_json(&mut text, &comparison)?;
        output::print(text)?;
    } else {
        comparison::write(&mut text, &comparison, output::terminal_width())?;
        output::print_wrapped(text)?;
    }
    Ok(if args.check && slower { ExitStatus::Partial } else { ExitStatus::Complete })
}

fn is_slower(row: &ComparedRow) -> bool {
    let is_worse = |verdict| matches!(verdict, Verdict::Slower | Verdict::MoreCpu);
    row.judgement.is_some_and(|judgement| is_worse(judgement.verdict))
}
