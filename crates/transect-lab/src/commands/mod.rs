//! `transect lab`: measures methods of reading and transforming files on this machine.

mod attributes;
mod compare;
mod corpus;
mod enumerate;
mod explain;
mod generate;
mod host;
mod list;
mod method;
mod report;
mod request;
mod run;
mod transform;
mod tune;

use crate::args::{LabCommand, LabRunCommand};
use transect_program::exit::{CliError, ExitStatus};

pub(crate) fn run(command: &LabCommand) -> Result<ExitStatus, CliError> {
    match command {
        LabCommand::List(args) => list::run(args),
        LabCommand::Run(LabRunCommand::Enumerate(args)) => run::run(args),
        LabCommand::Run(LabRunCommand::Transform(args)) => run::run(args),
        LabCommand::Run(LabRunCommand::Attributes(args)) => run::run(args),
        LabCommand::Report(args) => report::run(args),
        LabCommand::Compare(args) => compare::run(args),
        LabCommand::Explain(args) => explain::run(args),
        LabCommand::Tune(args) => tune::run(args),
        LabCommand::Corpus(command) => corpus::run(command),
        LabCommand::Completions(args) => generate::completions(args),
        LabCommand::Man(args) => generate::man(args),
        LabCommand::Method(args) => method::walk(args),
        LabCommand::Pass(args) => method::transform(args),
        LabCommand::AttributesMethod(args) => method::query(args),
    }
}
