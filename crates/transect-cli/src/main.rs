//! The program `transect`.
//!
//! Arguments are parsed ([`args`]), a command runs ([`commands`]), its result is written
//! ([`output`]), and one place decides the exit code ([`exit`]).

mod args;
mod commands;
mod exit;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let end = match cli.command.unwrap_or(Command::Scan(cli.scan)) {
        Command::Scan(args) => commands::scan::run(args),
        Command::List(args) => commands::list::run(args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::generate::completions(&args),
        Command::Man => commands::generate::man(),
    };
    exit::code(end)
}
