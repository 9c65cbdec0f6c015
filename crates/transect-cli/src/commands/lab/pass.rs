//! `transect lab pass`: one of this program's own methods of passing over a file, speaking the
//! contenders' protocol.

use transect_lab::transform::{self, Rules};

use crate::args::LabPassArgs;
use crate::exit::{End, Fatal};
use crate::output;

pub(crate) fn run(args: &LabPassArgs) -> Result<End, Fatal> {
    let rules = Rules { kind: args.kind.into(), sync: args.sync.into() };
    let line = transform::run(&args.name, rules, &args.input, &args.output).map_err(Fatal::Lab)?;
    output::write_json(&mut std::io::stdout().lock(), &line)?;
    Ok(End::Complete)
}
