//! Commands that are programs of their own, which this one starts as `git` starts its parts.

use std::ffi::OsString;

use clap::Subcommand;
use transect_program::sibling;

use transect_program::exit::{CliError, ExitStatus};

#[derive(Debug, Subcommand)]
pub(crate) enum PartCommand {
    /// Measure which ways of reading trees and files are fastest on this machine
    #[command(disable_help_flag = true)]
    Lab {
        /// Pass these arguments to `transect-lab`; `transect lab --help` shows its help
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

pub(crate) fn run(part: &PartCommand) -> Result<ExitStatus, CliError> {
    let PartCommand::Lab { args } = part;
    let name = "transect-lab";
    let program = sibling::find(name).ok_or_else(|| {
        CliError::Usage(format!(
            "'{name}' is neither beside this program nor on PATH; `cargo install {name}` installs it"
        ))
    })?;
    sibling::run(&program, args).map_err(|error| {
        let (program, reason) = (program.display(), transect::reason(&error));
        CliError::File(format!("cannot start '{program}': {reason}"))
    })
}
