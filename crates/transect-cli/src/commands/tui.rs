//! `transect tui`: looking around in the terminal.

use std::io;

use anstream::{AutoStream, ColorChoice};
use transect::FieldMask;
use transect_tui::{Look, browse};

use crate::args::TuiArgs;
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output::clock::Clock;
use crate::output::{self, owner};
use crate::profile;

pub(crate) fn run(args: &TuiArgs) -> Result<End, Fatal> {
    let stop = cancel_on_signal()?;
    let (options, _) = profile::options(&args.walk);
    let clock = Clock::showing(FieldMask::MTIME);
    let look = Look {
        colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        time: Box::new(move |time| clock.text(time)),
        owner: owner::name,
        apparent: args.apparent,
        read_only: args.read_only,
    };
    let ended = browse(&options, &look, &stop)?;
    output::show_errors(ended.table.tally(), args.errors);
    Ok(End::of(ended.table.tally(), ended.interrupted))
}
