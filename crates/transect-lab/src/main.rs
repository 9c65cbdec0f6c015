//! The program `transect-lab`, which `transect lab` starts.
//!
//! Arguments are parsed ([`args`]), and a command runs ([`commands`]) with what the library of this crate
//! offers.

mod args;
mod commands;

use std::process::ExitCode;

use transect_program::{exit, output};
use transect_sys::memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "transect-lab" };

fn main() -> ExitCode {
    transect_program::start("transect-lab");
    match args::Cli::parse() {
        Ok(cli) => exit::code(commands::run(&cli.command)),
        Err(instead) => ExitCode::from(output::print_clap_error(&instead)),
    }
}
