//! Arguments of `lab run attributes`, and of the hidden command that its sessions start.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use transect_lab::experiments::attributes;
use transect_lab::harness::cache_state::State;

use super::common::LabSessionArgs;
use super::values::{STATES, one_of, task_parser, value_of};

#[derive(Debug, Args)]
pub(crate) struct LabAttributesArgs {
    /// Use this number of paths and rounds
    #[arg(long, value_name = "PRESET", default_value = attributes::PRESETS[0].name.as_str(),
          value_parser = one_of(&attributes::PRESETS, |it| &it.name, |it| &it.about))]
    pub(crate) preset: &'static attributes::Preset,
    /// Run this task; may be repeated [default: all tasks that need no source]
    #[arg(long = "task", conflicts_with = "resume", value_name = "TASK", value_parser = task_parser())]
    pub(crate) tasks: Vec<attributes::Task>,
    /// Query N paths per task [default: from the preset]
    #[arg(long, conflicts_with = "resume", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) paths: Option<u32>,
    /// Query the files that FILE lists, one a line, in task build
    #[arg(long, conflicts_with = "resume", value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Prepare the system's caches before every run; several with commas
    #[arg(long, value_delimiter = ',', default_value = "warm", value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// Create a temporary directory for the trees in DIR [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
}

pub(super) const RUN_ATTRIBUTES_NOTES: &str = "\
Examples:
  Measure all tasks that need no source:
    transect lab run attributes
  Show what would be measured:
    transect lab run attributes --dry-run
  Query the files that a build looks at:
    transect lab run attributes --task build --files-from files.txt
  Query a million paths:
    transect lab run attributes --paths 1000000
  Continue an interrupted session:
    transect lab run attributes --resume session.jsonl";

#[derive(Debug, Args)]
pub(crate) struct LabAttributesMethodArgs {
    /// Use this query method
    #[arg(value_name = "WAY",
          value_parser = one_of(attributes::QueryMethod::ALL, |it| it.as_str(), |it| it.about()).map(|it| *it))]
    pub(crate) method: attributes::QueryMethod,
    /// Read the questions from this file
    pub(crate) questions: PathBuf,
    /// Run this task
    #[arg(long, value_parser = task_parser())]
    pub(crate) task: attributes::Task,
    /// Use N threads
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Query the service at this socket
    #[arg(long)]
    pub(crate) socket: Option<PathBuf>,
}
