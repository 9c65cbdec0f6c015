//! `transect lab completions` and `transect lab man`.

use std::io::Write;

use clap::CommandFactory;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::generate::{self, CompletionsArgs, ManArgs};
use transect_program::stream;

use crate::args::Cli;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let name = "transect-lab";
    // Shells complete the program, not the command that starts it.
    let mut command = Cli::command();
    let script = generate::completion_script(args.shell, &mut command, name);
    stream::stdout().write_all(script.as_bytes())?;
    Ok(ExitStatus::Complete)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, CliError> {
    generate::man(Cli::as_typed(), args)
}
