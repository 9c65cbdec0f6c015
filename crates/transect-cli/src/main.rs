//! The program `transect`.
//!
//! Arguments are parsed ([`args`]), a command runs ([`commands`]), its result is written
//! ([`output`]), and one place decides the exit code ([`exit`]).

mod args;
mod commands;
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
mod user_trash;

use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;
use transect_sys::memory::Allocator;

use args::{Cli, Command};
use transect_program::generate;
use transect_program::{ExitStatus, exit};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "transect" };

fn main() -> ExitCode {
    transect_program::start("transect");
    if let Some(part) = parts::from_help(std::env::args_os()) {
        return exit::code(parts::run(&part));
    }
    let cli = match habits::parse() {
        Ok(cli) => cli,
        Err(instead) => {
            return ExitCode::from(output::print_clap_error(&with_grouped_help(instead)));
        }
    };
    let end = match &cli.command {
        None => {
            cli.scan.walk.reject_mistyped_command().and_then(|()| commands::scan::run(&cli.scan))
        }
        Some(Command::Scan(args)) => commands::scan::run(args),
        Some(Command::Usage(args)) => commands::usage::run(args),
        Some(Command::Tui(args)) => commands::tui::run(args),
        Some(Command::Map(args)) => commands::map::run(args),
        Some(Command::List(args)) => commands::list::run(args),
        Some(Command::Snapshot(args)) => match args.memory {
            Some(memory) => commands::snapshot::bounded::run(args, memory as u64),
            None => commands::snapshot::run(args),
        },
        Some(Command::Diff(args)) => commands::diff::run(args),
        Some(Command::Keep(args)) => commands::keep::run(args),
        Some(Command::Changes(args)) => commands::changes::run(args),
        Some(Command::History(args)) => commands::history::run(args),
        Some(Command::Find(args)) => commands::find::run(args),
        Some(Command::Query(args)) => commands::query::run(args),
        Some(Command::Task(args)) => commands::task::run(args),
        Some(Command::Commit(args)) => commands::commit::run(args),
        Some(Command::Duplicates(args)) => commands::duplicates::run(args),
        Some(Command::Reclaim(args)) => commands::reclaim::run(args),
        Some(Command::Transform(args)) => commands::transform::run(args),
        Some(Command::Verify(args)) => commands::verify::run(args),
        Some(Command::Attributes(args)) => commands::attributes::run(args),
        Some(Command::Serve(args)) => commands::serve::run(args),
        Some(Command::Service(command)) => commands::service::run(command),
        Some(Command::Doctor(args)) => commands::doctor::run(args),
        Some(Command::Cache(command)) => commands::cache::run(command),
        Some(Command::Part(part)) => parts::run(part),
        Some(Command::Completions(args)) => commands::generate::completions(args),
        Some(Command::Man(args)) => generate::man(Cli::command(), args),
    };
    if matches!(end, Ok(ExitStatus::RootFailed)) && cli.command.is_none() {
        cli.scan.walk.hint_not_a_command();
    }
    exit::code(end)
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
