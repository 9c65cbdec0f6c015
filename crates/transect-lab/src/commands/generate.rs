//! `transect lab completions` and `transect lab man`.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use transect_lab::experiments::attributes;
use transect_lab::experiments::transform::{self, Kind};
use transect_lab::experiments::walk::method as walk;
use transect_lab::rivals::contender::Contender;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::generate::{self, CompletionsArgs, ManArgs};
use transect_program::stream;

use crate::args::Cli;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let name = "transect-lab";
    // Shells complete the program, not the command that starts it.
    let mut command = with_methods(Cli::command());
    let script = generate::completion_script(args.shell, &mut command, name);
    stream::stdout().write_all(script.as_bytes())?;
    Ok(ExitStatus::Complete)
}

/// Adds the names of methods to the options that take them: only the scripts know these values, because globs
/// remain possible.
fn with_methods(mut command: Command) -> Command {
    command.build();
    let contenders = Contender::descriptions();
    let walks = walk::Method::all(&contenders).0.into_iter().map(|method| method.name).collect();
    let passes = transform::Method::all(Kind::Copy, &contenders);
    let passes = passes.into_iter().map(|method| method.name).collect();
    let asking = attributes::Method::all(&contenders);
    let asking = asking.into_iter().map(|method| method.name).collect();
    let of_sessions: [(&str, Vec<String>); 3] =
        [("enumerate", walks), ("transform", passes), ("attributes", asking)];
    command.mut_subcommand("run", |run| {
        of_sessions.into_iter().fold(run, |run, (session, names)| {
            // The program ends when the script is written.
            let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
            run.mut_subcommand(session, |command| {
                ["methods", "base"].into_iter().fold(command, |command, option| {
                    let values = PossibleValuesParser::new(names.clone());
                    command.mut_arg(option, |arg| arg.value_parser(values))
                })
            })
        })
    })
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, CliError> {
    generate::man(Cli::as_typed(), args)
}
