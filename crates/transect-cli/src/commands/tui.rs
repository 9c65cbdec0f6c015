//! `transect tui`: browses a tree in the terminal.

use anstream::ColorChoice;
use transect::{FieldMask, SkipReason};
use transect_tui::{ViewOptions, browse};

use crate::args::TuiArgs;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::time::TimeFormatter;
use crate::output::{self, owner};
use crate::profile;
use crate::user_trash::user_trash;

pub(crate) fn run(args: &TuiArgs) -> Result<ExitStatus, CliError> {
    let stop = cancel_on_signal()?;
    let (mut options, _) = profile::scan_options(&args.walk);
    // The view shows the root as its title, where a dot would be useless.
    if args.walk.paths.is_empty()
        && let Ok(here) = std::env::current_dir()
    {
        options.roots = vec![here];
        options.filters.read_roots = true;
    }
    let times = TimeFormatter::for_fields(FieldMask::MTIME);
    let view = ViewOptions {
        colour: output::stream::stdout_colours() != ColorChoice::Never,
        time: Box::new(move |time| times.text(time)),
        owner: owner::user_name_or_id,
        trash: Box::new(user_trash),
        apparent: args.apparent,
        mouse: !args.no_mouse,
        read_only: args.read_only,
    };
    let outcome = browse(&options, &view, &stop)?;
    output::show_errors(outcome.table.diagnostics(), args.errors);
    let skipped = &outcome.table.diagnostics().skipped;
    let by_filters = [SkipReason::Excluded, SkipReason::Gitignore];
    if outcome.table.roots().len() == 0 && by_filters.iter().any(|why| skipped.contains_key(why)) {
        output::hint("the filters exclude every PATH");
    }
    Ok(ExitStatus::from_diagnostics(outcome.table.diagnostics(), outcome.interrupted))
}
