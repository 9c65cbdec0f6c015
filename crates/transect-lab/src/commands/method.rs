//! `transect lab method`, `pass` and `attributes-method`, which sessions start: each does the work of one of this
//! program's methods, and prints the result in the contenders' protocol.

use transect::ScanOptions;
use transect_lab::experiments::attributes::{Query, Questions, run_query};
use transect_lab::experiments::transform::{self, Rules};
use transect_lab::experiments::walk::floor::Floor;
use transect_lab::experiments::walk::keep::Keep;
use transect_lab::experiments::walk::run;
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::harness::error::cannot;
use transect_lab::harness::protocol::RunLine;

use crate::args::{LabAttributesMethodArgs, LabMethodArgs, LabPassArgs};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{output, stream};

pub(crate) fn walk(args: &LabMethodArgs) -> Result<ExitStatus, CliError> {
    if let Some(floor) = Floor::find(&args.name) {
        for _ in 0..args.runs {
            let line = floor.walk(&args.root, args.check).map_err(cannot("read", &args.root))?;
            output::write_json(&mut stream::stdout(), &line)?;
        }
        return Ok(ExitStatus::Complete);
    }
    let unknown =
        |error: String| CliError::Failed(format!("no method is called '{}': {error}", args.name));
    let variant: Variant = args.name.parse().map_err(unknown)?;
    let options = variant.options(&args.root);
    transect_sys::host::raise_handle_limit();
    for _ in 0..args.runs {
        let line = walk_once(options.clone(), variant.keep, args)?;
        if line.work.directories == 0 {
            let root = args.root.display();
            return Err(format!("cannot read directory '{root}'").into());
        }
        output::write_json(&mut stream::stdout(), &line)?;
    }
    Ok(ExitStatus::Complete)
}

fn walk_once(
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

pub(crate) fn transform(args: &LabPassArgs) -> Result<ExitStatus, CliError> {
    let rules = Rules { kind: args.kind, sync: args.sync };
    let line = transform::run(&args.name, rules, &args.input, &args.output);
    output::write_json(&mut stream::stdout(), &line?)?;
    Ok(ExitStatus::Complete)
}

pub(crate) fn query(args: &LabAttributesMethodArgs) -> Result<ExitStatus, CliError> {
    let LabAttributesMethodArgs { method, questions, task, threads, socket } = args;
    let query =
        Query { task: *task, method: *method, threads: *threads, socket: socket.as_deref() };
    transect_sys::host::raise_handle_limit();
    let line = run_query(query, &Questions::read(questions)?)?;
    output::write_json(&mut stream::stdout(), &line)?;
    Ok(ExitStatus::Complete)
}
