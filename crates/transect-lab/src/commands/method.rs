//! `transect lab method`: walks a tree by one of this program's methods, and prints the result in the
//! contenders' protocol.

use transect::ScanOptions;
use transect_lab::experiments::walk::floor::Floor;
use transect_lab::experiments::walk::keep::Keep;
use transect_lab::experiments::walk::run;
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::harness::protocol::RunLine;

use super::error::cannot;
use crate::args::LabMethodArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{output, stream};

pub(crate) fn run(args: &LabMethodArgs) -> Result<ExitStatus, CliError> {
    if let Some(floor) = Floor::find(&args.name) {
        return run_floor(floor, args);
    }
    let unknown =
        |error: String| CliError::Failed(format!("no method is called '{}': {error}", args.name));
    let variant: Variant = args.name.parse().map_err(unknown)?;
    let options = variant.options(&args.root);
    transect_sys::host::raise_handle_limit();
    for _ in 0..args.runs {
        let line = walk(options.clone(), variant.keep, args)?;
        if line.work.directories == 0 {
            let root = args.root.display();
            return Err(CliError::Failed(format!("cannot read directory '{root}'")));
        }
        output::write_json(&mut stream::stdout(), &line)?;
    }
    Ok(ExitStatus::Complete)
}

fn run_floor(floor: Floor, args: &LabMethodArgs) -> Result<ExitStatus, CliError> {
    for _ in 0..args.runs {
        let line = floor.walk(&args.root, args.check).map_err(cannot("read", &args.root))?;
        output::write_json(&mut stream::stdout(), &line)?;
    }
    Ok(ExitStatus::Complete)
}

fn walk(
    options: ScanOptions,
    keep: Option<Keep>,
    args: &LabMethodArgs,
) -> Result<RunLine, transect::Error> {
    if args.check {
        return run::walk_checked(options);
    }
    let mut line = run::walk(options, keep, args.per_call)?;
    if let Some(share) = args.delay.filter(|share| (0.0..=1.0).contains(share)) {
        run::delay(&mut line, share);
    }
    Ok(line)
}
