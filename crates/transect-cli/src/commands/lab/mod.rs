//! `transect lab`: every way of walking a tree, measured on this machine.

mod begin;
mod compare;
mod corpus;
mod import;
mod list;
mod method;
mod report;
mod run;
mod tune;

pub(crate) use tune::write_evidence;

use transect_lab::builtin;
use transect_lab::method::Method;

use crate::args::{LabCommand, LabMethodsArgs};
use crate::exit::{End, Fatal};
use crate::{folders, output};

pub(crate) fn run(command: &LabCommand) -> Result<End, Fatal> {
    match command {
        LabCommand::List(args) => list::run(args),
        LabCommand::Run(args) => run::run(args),
        LabCommand::Report(args) => report::run(args),
        LabCommand::Compare(args) => compare::run(args),
        LabCommand::Import(args) => import::run(args),
        LabCommand::Tune(args) => tune::run(args),
        LabCommand::Corpus(command) => corpus::run(command),
        LabCommand::Method(args) => method::run(args),
    }
}

/// Returns all methods, and whether all could be read; says what could not.
fn methods(args: &LabMethodsArgs) -> Result<(Vec<Method>, bool), Fatal> {
    let folder = match &args.contenders {
        Some(folder) => folder.clone(),
        None => {
            let cache = folders::cache().join("contenders");
            builtin::unpack(&cache).map_err(|error| {
                let reason = transect::reason(&error);
                Fatal::Lab(format!("cannot write contenders to '{}': {reason}", cache.display()))
            })?
        }
    };
    let (methods, wrong) = Method::all(Some(&folder), args.test_doubles);
    wrong.iter().for_each(output::complain);
    Ok((methods, wrong.is_empty()))
}
