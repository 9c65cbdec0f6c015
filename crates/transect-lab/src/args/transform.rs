//! Arguments of `lab run transform`, and of the hidden command that its sessions start.

use std::path::PathBuf;

use clap::Args;
use transect_lab::experiments::transform;
use transect_lab::harness::cache_state::State;
use transect_lab::rivals::external::External;
use transect_text::size;

use super::common::LabSessionArgs;
use super::values::{STATES, SYNCS, block_size, kind_parser, one_of, value_of};

#[derive(Debug, Args)]
pub(crate) struct LabTransformArgs {
    /// Use these rules; `article-s3` are those of the article
    #[arg(long, value_name = "PRESET", default_value = transform::PRESETS[0].name.as_str(),
          value_parser = one_of(&transform::PRESETS, |it| &it.name, |it| &it.about))]
    pub(crate) preset: &'static transform::Preset,
    /// Use inputs of this SIZE, such as 64M; several with commas [default: from the preset]
    #[arg(long, conflicts_with = "resume", value_name = "SIZE", value_delimiter = ',', value_parser = size::parse)]
    pub(crate) sizes: Vec<usize>,
    /// Read and write SIZE at once, such as 16K; several with commas [default: from the preset]
    #[arg(long, conflicts_with = "resume", value_name = "SIZE", value_delimiter = ',', value_parser = block_size)]
    pub(crate) blocks: Vec<usize>,
    /// Measure a program as well, such as 'cp=cp {in} {out}', without a shell; may be repeated
    #[arg(long = "command", conflicts_with = "resume", value_name = "NAME=COMMAND",
          value_parser = |text: &str| External::parse(text, &["{in}", "{out}"]))]
    pub(crate) commands: Vec<External>,
    /// Prepare the cache of the input before every run [default: from the preset]
    #[arg(long, alias = "states", value_delimiter = ',', value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// Choose what is done with the bytes
    #[arg(long, conflicts_with = "resume", default_value = "copy", value_parser = kind_parser())]
    pub(crate) kind: transform::Kind,
    /// Wait for the device before the clock stops
    #[arg(long, conflicts_with = "resume", default_value = "none", value_parser = value_of(SYNCS))]
    pub(crate) sync: transform::SyncRule,
    /// Add cells that advise the system of sequential reads
    #[arg(long, conflicts_with = "resume")]
    pub(crate) seq: bool,
    /// Create a temporary directory for all inputs and outputs in DIR [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
}

pub(super) const RUN_TRANSFORM_NOTES: &str = "\
Examples:
  Measure all methods of copying a file, in about a minute:
    transect lab run transform
  Show what would be measured, and how much space it needs:
    transect lab run transform --dry-run
  Measure large blocks on 1 GiB, with cold caches:
    transect lab run transform --sizes 1G --blocks 256K,1M --state cold
  Compare with cp:
    transect lab run transform --command 'cp=cp {in} {out}'
  Continue an interrupted session:
    transect lab run transform --resume session.jsonl";

#[derive(Debug, Args)]
pub(crate) struct LabPassArgs {
    /// Use this method and settings: METHOD[,block=SIZE]
    pub(crate) name: transform::Variant,
    /// Read this file
    pub(crate) input: PathBuf,
    /// Write this file
    pub(crate) output: PathBuf,
    /// Choose what is done with the bytes
    #[arg(long, default_value = "copy", value_parser = kind_parser())]
    pub(crate) kind: transform::Kind,
    /// Wait for the device before the clock stops
    #[arg(long, default_value = "none", value_parser = value_of(SYNCS))]
    pub(crate) sync: transform::SyncRule,
}
