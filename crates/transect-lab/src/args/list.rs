//! Arguments of `lab list`.

use clap::Args;

use super::common::LabMethodsArgs;

#[derive(Debug, Args)]
pub(crate) struct LabListArgs {
    #[command(flatten)]
    pub(crate) methods: LabMethodsArgs,
    /// Show the row of each method in the seed articles, and rows that are not methods: practices,
    /// measures, protocols, trees
    #[arg(long)]
    pub(crate) contract: bool,
    /// Print one JSON object per method
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const LIST_NOTES: &str = "\
Examples:
  List all methods:
    transect lab list
  List the methods with their rows in the seed articles:
    transect lab list --contract
  Print one JSON object per method:
    transect lab list --json
  List the contenders in a directory of your own:
    transect lab list --contenders contenders
  Find the methods of one language:
    transect lab list | grep Python";
