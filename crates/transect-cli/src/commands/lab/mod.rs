//! `transect lab`: every way of walking a tree, measured on this machine.

mod attributes;
mod attributes_method;
mod compare;
mod corpus;
mod enumerate;
mod explain;
mod import;
mod list;
mod method;
mod pass;
mod report;
mod request;
mod run;
mod transform;
mod tune;

use std::path::PathBuf;

use transect_lab::experiments::walk::method::Method;
use transect_lab::rivals::builtin;

use crate::args::{LabCommand, LabMethodsArgs, LabRunCommand};
use crate::exit::{CliError, ExitStatus};
use crate::{output, user_dirs};

pub(crate) fn run(command: &LabCommand) -> Result<ExitStatus, CliError> {
    match command {
        LabCommand::List(args) => list::run(args),
        LabCommand::Run(LabRunCommand::Enumerate(args)) => run::run(args),
        LabCommand::Run(LabRunCommand::Transform(args)) => run::run(args),
        LabCommand::Run(LabRunCommand::Attributes(args)) => run::run(args),
        LabCommand::Report(args) => report::run(args),
        LabCommand::Compare(args) => compare::run(args),
        LabCommand::Explain(args) => explain::run(args),
        LabCommand::Import(args) => import::run(args),
        LabCommand::Tune(args) => tune::run(args),
        LabCommand::Corpus(command) => corpus::run(command),
        LabCommand::Method(args) => method::run(args),
        LabCommand::Pass(args) => pass::run(args),
        LabCommand::AttributesMethod(args) => attributes_method::run(args),
    }
}

/// Returns all methods that walk, and whether all could be read; says what could not.
fn methods(args: &LabMethodsArgs) -> Result<(Vec<Method>, bool), CliError> {
    let (methods, wrong) = Method::all(Some(&contenders(args)?), args.test_doubles);
    wrong.iter().for_each(output::error);
    Ok((methods, wrong.is_empty()))
}

/// Returns the folder of the contenders.
fn contenders(args: &LabMethodsArgs) -> Result<PathBuf, CliError> {
    if let Some(folder) = &args.contenders {
        return Ok(folder.clone());
    }
    let cache = user_dirs::cache("contenders")?;
    builtin::unpack(&cache).map_err(|error| {
        let reason = transect::reason(&error);
        CliError::Lab(format!("cannot write contenders to '{}': {reason}", cache.display()))
    })
}
