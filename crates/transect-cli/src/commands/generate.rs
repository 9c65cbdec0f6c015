//! Completions and the man page, from the one definition of the command line.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{CliError, ExitStatus};
use crate::output::stream;

/// Writes a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "transect", &mut script);
    stream::stdout().write_all(&script)?;
    Ok(ExitStatus::Complete)
}

/// Writes the man page: the program, then every command.
pub(crate) fn man() -> Result<ExitStatus, CliError> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = sub.get_name();
        writeln!(page, ".SH \"COMMAND: {}\"", name.to_uppercase())?;
        let man = clap_mangen::Man::new(sub.clone());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    stream::stdout().write_all(&page)?;
    Ok(ExitStatus::Complete)
}
