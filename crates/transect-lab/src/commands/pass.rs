//! `transect lab pass`: transforms a file by one of this program's methods, and prints the result in the
//! contenders' protocol.

use transect_lab::experiments::transform::{self, Rules};

use crate::args::LabPassArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{output, stream};

pub(crate) fn run(args: &LabPassArgs) -> Result<ExitStatus, CliError> {
    let rules = Rules { kind: args.kind, sync: args.sync };
    let line = transform::run(&args.name, rules, &args.input, &args.output);
    let line = line.map_err(CliError::Failed)?;
    output::write_json(&mut stream::stdout(), &line)?;
    Ok(ExitStatus::Complete)
}
