//! The program `transect`.
//!
//! Arguments are parsed ([`args`]), a command runs ([`commands`]), its result is written
//! ([`output`]), and one place decides the exit code ([`exit`]).

mod args;
mod commands;
mod exit;
mod interrupt;
#[cfg(feature = "map")]
mod opener;
mod output;
#[cfg_attr(not(feature = "lab"), path = "no_profile.rs")]
mod profile;
mod progress;
#[cfg(feature = "snapshot")]
mod series;
#[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "the lab has most of them"))]
mod user_dirs;
#[cfg(any(feature = "map", feature = "tui"))]
mod user_trash;

use std::process::ExitCode;

use clap::Parser;
use transect_sys::memory::Allocator;

#[cfg(feature = "snapshot")]
use args::SnapshotArgs;
use args::{Cli, Command, ScanArgs};
use exit::{CliError, ExitStatus};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "transect" };

fn main() -> ExitCode {
    output::install_panic_hook();
    transect_sys::host::expose_placeholders();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(instead) => return ExitCode::from(output::print_clap_error(&instead)),
    };
    let end = match &cli.command {
        None => cli.scan.walk.reject_mistyped_command().and_then(|()| scan(&cli.scan)),
        Some(Command::Scan(args)) => scan(args),
        Some(Command::Usage(args)) => commands::usage::run(args),
        #[cfg(feature = "tui")]
        Some(Command::Tui(args)) => commands::tui::run(args),
        #[cfg(feature = "map")]
        Some(Command::Map(args)) => commands::map::run(args),
        Some(Command::List(args)) => commands::list::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Snapshot(args)) => snapshot(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Diff(args)) => commands::diff::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Keep(args)) => commands::keep::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Changes(args)) => commands::changes::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::History(args)) => commands::history::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Find(args)) => commands::find::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Query(args)) => commands::query::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Task(args)) => commands::task::run(args),
        #[cfg(feature = "snapshot")]
        Some(Command::Commit(args)) => commands::commit::run(args),
        Some(Command::Duplicates(args)) => commands::duplicates::run(args),
        Some(Command::Transform(args)) => commands::transform::run(args),
        Some(Command::Verify(args)) => commands::verify::run(args),
        Some(Command::Attributes(args)) => commands::attributes::run(args),
        Some(Command::Serve(args)) => commands::serve::run(args),
        Some(Command::Service(command)) => commands::service::run(command),
        Some(Command::Doctor(args)) => commands::doctor::run(args),
        Some(Command::Cache(command)) => commands::cache::run(command),
        #[cfg(feature = "lab")]
        Some(Command::Lab(command)) => commands::lab::run(command),
        Some(Command::Completions(args)) => commands::generate::completions(args),
        Some(Command::Man(args)) => commands::generate::man(args),
    };
    if matches!(end, Ok(ExitStatus::RootFailed)) && cli.command.is_none() {
        cli.scan.walk.hint_not_a_command();
    }
    exit::code(end)
}

fn scan(args: &ScanArgs) -> Result<ExitStatus, CliError> {
    #[cfg(feature = "snapshot")]
    if let Some(stored) = args.snapshot() {
        return snapshot(&stored);
    }
    commands::scan::run(args)
}

#[cfg(feature = "snapshot")]
fn snapshot(args: &SnapshotArgs) -> Result<ExitStatus, CliError> {
    match args.memory {
        Some(memory) => commands::snapshot::bounded::run(args, memory as u64),
        None => commands::snapshot::run(args),
    }
}
