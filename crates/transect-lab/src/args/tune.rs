//! Arguments of `lab tune`.

use std::path::PathBuf;

use clap::Args;
use transect_lab::harness::cache_state::State;

use super::values::{STATES, value_of};

#[derive(Debug, Args)]
pub(crate) struct LabTuneArgs {
    /// Tune for the file system of PATH; reads the tree below it, or a part
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// Prepare the caches before every walk; with `warm,cold`, settings must win in one and not lose in
    /// the other, and orders are tried as well
    #[arg(long, value_delimiter = ',', default_value = "warm", value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// Measure for about this many seconds; the sample tree is chosen to fit
    #[arg(long, value_name = "SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the stored settings of this file system, and measure nothing
    #[arg(long, conflicts_with_all = ["state", "seconds", "dry_run"])]
    pub(crate) forget: bool,
    /// Print the profile as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const TUNE_NOTES: &str = "\
Examples:
  Tune for the file system of the current directory:
    transect lab tune
  Measure longer, with warm and cold caches, as root:
    transect lab tune --seconds 120 --state warm,cold /srv
  Show the fastest settings without storing them:
    transect lab tune --dry-run src
  Print the profile as JSON, for a script:
    transect lab tune --json
  Remove the stored settings:
    transect lab tune --forget";
