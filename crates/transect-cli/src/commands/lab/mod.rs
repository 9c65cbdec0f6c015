//! `transect lab`: every way of walking a tree, measured on this machine.

mod corpus;
mod list;
mod method;
mod report;
mod run;

use crate::args::LabCommand;
use crate::exit::{End, Fatal};

pub(crate) fn run(command: &LabCommand) -> Result<End, Fatal> {
    match command {
        LabCommand::List(args) => list::run(args),
        LabCommand::Run(args) => run::run(args),
        LabCommand::Report(args) => report::run(args),
        LabCommand::Corpus(command) => corpus::run(command),
        LabCommand::Method(args) => method::run(args),
    }
}
