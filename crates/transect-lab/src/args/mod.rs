//! The command line of the lab: one definition for parsing, help, completions and man pages.

mod attributes;
mod common;
mod corpus;
mod list;
mod report;
mod transform;
mod tune;
mod values;
mod walk;

use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use transect_program::generate::{CompletionsArgs, ManArgs};

use attributes::RUN_ATTRIBUTES_NOTES;
pub(crate) use attributes::{LabAttributesArgs, LabAttributesMethodArgs};
pub(crate) use common::{LabMethodsArgs, LabSessionArgs};
pub(crate) use corpus::CorpusCommand;
use list::LIST_NOTES;
pub(crate) use list::LabListArgs;
use report::{COMPARE_NOTES, EXPLAIN_NOTES, REPORT_NOTES};
pub(crate) use report::{LabCompareArgs, LabExplainArgs, LabFormArgs, LabReportArgs};
use transform::RUN_TRANSFORM_NOTES;
pub(crate) use transform::{LabPassArgs, LabTransformArgs};
pub(crate) use tune::LabTuneArgs;
use tune::TUNE_NOTES;
use walk::RUN_WALK_NOTES;
pub(crate) use walk::{LabMethodArgs, LabRunArgs};

/// Measure which ways of reading trees and files are fastest on this machine
#[derive(Debug, Parser)]
#[command(name = "transect-lab", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

impl Cli {
    pub(crate) fn parse() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::as_typed().try_get_matches()?)
    }

    /// Returns the definition with the name that users type.
    pub(crate) fn as_typed() -> Command {
        Self::command().bin_name("transect lab")
    }
}

const COMPLETIONS_NOTES: &str = "\
Examples:
  Install completions for bash:
    transect lab completions bash > transect-lab.bash
  Install completions for zsh:
    transect lab completions zsh > _transect-lab
  Install completions for fish:
    transect lab completions fish > transect-lab.fish
  Write completions for PowerShell:
    transect lab completions powershell > transect-lab.ps1
  Write completions for Elvish:
    transect lab completions elvish > transect-lab.elv";

const MAN_NOTES: &str = "\
Examples:
  Read the main page of the lab:
    transect lab man
  Read the page of a command:
    transect lab man report
  Read the page of an experiment:
    transect lab man run enumerate
  Write the pages of all commands to a directory:
    transect lab man --output man1
  Write one page to a file:
    transect lab man tune > transect-lab-tune.1";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
#[allow(
    clippy::large_enum_variant,
    reason = "one value is parsed for each process; on Linux it is not large"
)]
pub(crate) enum LabCommand {
    /// List all methods: those of transect, contenders in other languages, and unavailable ones
    #[command(after_long_help = LIST_NOTES)]
    List(LabListArgs),
    /// Run a session: in each round, every method does the same work once
    #[command(subcommand)]
    Run(LabRunCommand),
    /// Report the results of a session
    #[command(after_long_help = REPORT_NOTES)]
    Report(LabReportArgs),
    /// Compare two sessions: which cells became faster or slower
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(LabCompareArgs),
    /// Explain why walks differ, or what limits the fastest transform, and store that as a setting
    #[command(after_long_help = EXPLAIN_NOTES)]
    Explain(LabExplainArgs),
    /// Find the fastest settings for a file system, and store them for `transect scan` and `list`
    #[command(after_long_help = TUNE_NOTES)]
    Tune(LabTuneArgs),
    /// Create trees with fixed content, to measure on
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Print a completion script for a shell, for the program transect-lab
    #[command(after_long_help = COMPLETIONS_NOTES)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command of the lab, or write those of all commands
    #[command(after_long_help = MAN_NOTES)]
    Man(ManArgs),
    /// Walk a tree with one method, for a session
    #[command(hide = true)]
    Method(LabMethodArgs),
    /// Transform a file with one method, for a session
    #[command(hide = true)]
    Pass(LabPassArgs),
    /// Query attributes with one method, for a session
    #[command(hide = true)]
    AttributesMethod(LabAttributesMethodArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabRunCommand {
    /// Measure which way of walking trees is fastest
    #[command(after_long_help = RUN_WALK_NOTES)]
    Enumerate(LabRunArgs),
    /// Measure which way of reading and writing files is fastest
    #[command(after_long_help = RUN_TRANSFORM_NOTES)]
    Transform(LabTransformArgs),
    /// Measure which way of querying attributes is fastest, and what a cache saves
    #[command(after_long_help = RUN_ATTRIBUTES_NOTES)]
    Attributes(LabAttributesArgs),
}

#[cfg(test)]
mod tests {
    use transect_testkit::assert_examples_parse;

    use super::*;

    #[test]
    fn examples_of_every_command_parse() {
        let mut root = Cli::as_typed().disable_help_subcommand(true);
        root.build();
        // Users type `transect lab`: the parser gets the words after the program's name.
        assert_examples_parse(&root, &|words| match words.get(1).map(String::as_str) {
            Some("lab") => Cli::try_parse_from(&words[1..]).map(drop),
            _ => Ok(()),
        });
    }
}
