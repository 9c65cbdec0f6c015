//! `transect lab method`: walks a tree by one of this program's methods, and prints the result in the
//! contenders' protocol.

use transect::ScanOptions;
use transect_lab::experiments::walk::run;
use transect_lab::experiments::walk::variant::{Variant, VariantError};
use transect_lab::harness::protocol::RunLine;

use crate::args::LabMethodArgs;
use crate::exit::{CliError, ExitStatus};
use crate::output;

pub(crate) fn run(args: &LabMethodArgs) -> Result<ExitStatus, CliError> {
    let unknown = |error: VariantError| {
        CliError::Lab(format!("no method is called '{}': {error}", args.name))
    };
    let variant: Variant = args.name.parse().map_err(unknown)?;
    let options = variant.options(&args.root);
    transect_sys::host::raise_handle_limit();
    for _ in 0..args.runs {
        let line = walk(options.clone(), args)?;
        if line.work.directories == 0 {
            let root = args.root.display();
            return Err(CliError::Lab(format!("cannot read directory '{root}'")));
        }
        output::write_json(&mut output::stream::stdout(), &line)?;
    }
    Ok(ExitStatus::Complete)
}

fn walk(options: ScanOptions, args: &LabMethodArgs) -> Result<RunLine, transect::Error> {
    if args.check {
        return run::walk_checked(options);
    }
    if args.per_call {
        let (work, calls, elapsed_ns) = run::walk_timed(options)?;
        return Ok(RunLine { calls: Some(calls), ..RunLine::new(work, elapsed_ns) });
    }
    let (work, time) = run::walk(options)?;
    Ok(RunLine::measured(work, time))
}
