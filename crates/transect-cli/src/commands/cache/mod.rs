//! `transect cache`: shows or drops the cached pages of files.

mod drop;
mod inspect;
mod status;

use crate::args::CacheCommand;
use transect_program::{CliError, ExitStatus};

pub(crate) fn run(command: &CacheCommand) -> Result<ExitStatus, CliError> {
    match command {
        CacheCommand::Status(args) => status::run(args),
        CacheCommand::Drop(args) => drop::run(args),
    }
}
