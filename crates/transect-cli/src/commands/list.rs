//! `transect list`: every path, as soon as it is found.

use std::io::IsTerminal;
use std::sync::Arc;

use transect::{PathOutput, Paths, Progress, Tally};

use crate::args::ListArgs;
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::progress::ProgressLine;
use crate::{output, profile};

pub(crate) fn run(args: &ListArgs) -> Result<End, Fatal> {
    let progress = Arc::new(Progress::new());
    let (mut options, _) = profile::options(&args.walk);
    options.filters.min_depth = args.min_depth;
    let plan = options.cancel(cancel_on_signal()?).progress(Arc::clone(&progress)).plan()?;

    let to_terminal = std::io::stdout().is_terminal();
    let terminator = if args.null { b'\0' } else { b'\n' };
    let mut output = PathOutput::new(output::Unbuffered::stdout(), terminator);
    // Who asks for NUL wants the bytes; but a Windows console takes no name that is not Unicode.
    if to_terminal && (!args.null || cfg!(windows)) {
        output = output.shown_by(output::quote::for_terminal);
    }
    let output = Arc::new(output);

    // Paths on the terminal are progress enough.
    let line = (!to_terminal).then(|| ProgressLine::start(&progress));
    let errors = if args.errors { usize::MAX } else { Tally::KEPT };
    let outcome = plan.run(|| Paths::new(Arc::clone(&output), errors))?;
    drop(line);

    let interrupted = outcome.interrupted;
    let mut tally = outcome.sink.into_tally();
    output.finish()?;
    tally.sort();
    output::show_errors(&tally, args.errors);
    Ok(End::of(&tally, interrupted))
}
