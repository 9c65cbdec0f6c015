//! The program `transect`.
//!
//! Arguments are parsed ([`args`]), a command runs ([`commands`]), its result is written
//! ([`output`]), and one place decides the exit code ([`exit`]).

mod args;
mod commands;
mod followed;
mod habits;
mod kinds;
mod opener;
mod output;
mod parts;
mod profile;
mod progress;
mod question;
mod root_path;
mod series;
mod snapshot_file;
mod time_zone;
mod user_trash;

use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;
use transect_sys::memory::Allocator;

use args::{Cli, Command, Request};
use transect_program::generate;
use transect_program::{CliError, ExitStatus, exit};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "transect" };

fn main() -> ExitCode {
    transect_program::start("transect");
    if let Some(part) = parts::from_help(std::env::args_os()) {
        return exit::code(parts::run(&part));
    }
    let request = match habits::parse() {
        Ok(request) => request,
        Err(instead) => {
            return ExitCode::from(output::print_clap_error(&with_grouped_help(instead)));
        }
    };
    exit::code(match &request {
        Request::Command(command) => run(command),
        Request::Scan(args) => {
            let end = args.walk.reject_mistyped_command().and_then(|()| commands::scan::run(args));
            if matches!(end, Ok(ExitStatus::RootFailed)) {
                args.walk.hint_not_a_command();
            }
            end
        }
    })
}

fn run(command: &Command) -> Result<ExitStatus, CliError> {
    match command {
        Command::Scan(args) => commands::scan::run(args),
        Command::Usage(args) => commands::usage::run(args),
        Command::Tui(args) => commands::tui::run(args),
        Command::Map(args) => commands::map::run(args),
        Command::List(args) => commands::list::run(args),
        Command::Snapshot(args) => match args.memory {
            Some(memory) => commands::snapshot::bounded::run(args, memory as u64),
            None => commands::snapshot::run(args),
        },
        Command::Diff(args) => commands::diff::run(args),
        Command::Keep(args) => commands::keep::run(args),
        Command::Changes(args) => commands::changes::run(args),
        Command::History(args) => commands::history::run(args),
        Command::Find(args) => commands::find::run(args),
        Command::Watch(args) => commands::watch::run(args),
        Command::Query(args) => commands::query::run(args),
        Command::Task(args) => commands::task::run(args),
        Command::Commit(args) => commands::commit::run(args),
        Command::Duplicates(args) => commands::duplicates::run(args),
        Command::Reclaim(args) => commands::reclaim::run(args),
        Command::Transform(args) => commands::transform::run(args),
        Command::Verify(args) => commands::verify::run(args),
        Command::Attributes(args) => commands::attributes::run(args),
        Command::Live(args) => commands::live::run(args),
        Command::Service(command) => commands::service::run(command),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Cache(command) => commands::cache::run(command),
        Command::Part(part) => parts::run(part),
        Command::Completions(args) => commands::generate::completions(args),
        Command::Man(args) => generate::man(Cli::command(), args),
    }
}

/// Parses again if help was asked for: most starts need no texts of groups.
fn with_grouped_help(instead: clap::Error) -> clap::Error {
    match instead.kind() {
        ErrorKind::DisplayHelp => {
            args::with_groups(Cli::command()).try_get_matches().err().unwrap_or(instead)
        }
        _ => instead,
    }
}
