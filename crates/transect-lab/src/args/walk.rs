//! Arguments of `lab run enumerate`, and of the hidden command that its sessions start.

use std::path::PathBuf;

use clap::Args;
use transect_lab::experiments::walk::preset::{PRESETS, Preset};
use transect_lab::harness::cache_state::State;
use transect_lab::rivals::external::External;
use transect_lab::rivals::peer::ROOT;

use super::common::LabSessionArgs;
use super::values::{STATES, corpus_parser, one_of, value_of};

#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Walk this tree; may be repeated
    #[arg(long, conflicts_with = "resume", value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,
    /// Walk this corpus, and create it if it is missing; may be repeated
    #[arg(long, conflicts_with = "resume", value_name = "NAME", value_parser = corpus_parser())]
    pub(crate) corpus: Vec<String>,
    /// Keep corpora in DIR [default: a directory in the user's cache]
    #[arg(long, conflicts_with = "resume", value_name = "DIR")]
    pub(crate) corpora: Option<PathBuf>,
    /// Use these rules; `article-` presets are those of the articles
    #[arg(long, value_name = "PRESET", default_value = PRESETS[0].name.as_str(),
          value_parser = one_of(&PRESETS, |it| &it.name, |it| &it.about))]
    pub(crate) preset: &'static Preset,
    /// Measure a program as well, such as 'old=OLD scan --json {root}', without a shell; may be repeated.
    /// What it prints has to prove its work
    #[arg(long = "command", conflicts_with = "resume", value_name = "NAME=COMMAND",
          value_parser = |text: &str| External::parse(text, &[ROOT]))]
    pub(crate) commands: Vec<External>,
    /// Prepare the caches before every run; several with commas [default: from the preset]
    #[arg(long, value_delimiter = ',', value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
}

pub(super) const RUN_WALK_NOTES: &str = "\
A method may have settings: READER/ORDER,threads=4,buffer=256K,stat-order=inode.

Examples:
  Measure walks of a tree, in a few minutes:
    transect lab run enumerate --path src
  Show what would be measured, and how long it takes:
    transect lab run enumerate --path src --dry-run
  Measure with cold caches, as root:
    transect lab run enumerate --path src --state cold
  Compare two readers on a corpus:
    transect lab run enumerate --corpus data --methods 'getdents-*'
  Compare two methods with each other, in one line:
    transect lab run enumerate --path src --pairs find:du
  Compare whole programs, another build of du among them:
    transect lab run enumerate --preset programs --command 'old=./du -sb {root}'
  Compare what programs cost before they do anything:
    transect lab run enumerate --preset start --command 'old=./du -sb {root}'
  Continue an interrupted session:
    transect lab run enumerate --resume session.jsonl";

#[derive(Debug, Args)]
pub(crate) struct LabMethodArgs {
    /// Use this reader, order and settings: READER/ORDER[,threads=N][,buffer=SIZE][,stat-order=ORDER]
    pub(crate) name: String,
    /// Walk this tree
    pub(crate) root: PathBuf,
    /// Walk it this many times
    pub(crate) runs: usize,
    /// Report the time in the calls of the reader as well, which makes walks slower
    #[arg(long)]
    pub(crate) per_call: bool,
    /// Report a digest of all entries and the first error as well, which makes walks slower
    #[arg(long, conflicts_with = "per_call")]
    pub(crate) check: bool,
    /// Take this share of its CPU time longer, for the self-test
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["per_call", "check"])]
    pub(crate) delay: Option<f64>,
}
