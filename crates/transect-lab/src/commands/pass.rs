//! `transect lab pass`: transforms a file by one of this program's methods, and prints the result in the
//! contenders' protocol.

use transect_lab::experiments::transform::{self, Rules, WriteMethod};

use crate::args::LabPassArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{output, stream};

pub(crate) fn run(args: &LabPassArgs) -> Result<ExitStatus, CliError> {
    let rules = Rules { kind: args.kind, sync: args.sync };
    let (input, output) = (&args.input, &args.output);
    let line = match (args.phase, args.files) {
        (Some(phase), Some(files)) => {
            let name = &args.name.method;
            let method = WriteMethod::find(name)
                .ok_or_else(|| CliError::Failed(format!("no method is called '{name}'")))?;
            transform::run_many(method, phase, rules.sync, files, input, output)
        }
        _ => transform::run(&args.name, rules, input, output),
    };
    let line = line.map_err(CliError::Failed)?;
    output::write_json(&mut stream::stdout(), &line)?;
    Ok(ExitStatus::Complete)
}
