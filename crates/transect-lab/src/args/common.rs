//! Options that several commands of `lab` share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LabMethodsArgs {
    /// Build and run the contenders in DIR, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) contenders: Option<PathBuf>,
    /// Add contenders that are wrong on purpose, for the tests of the lab
    #[arg(long, hide = true)]
    pub(crate) test_doubles: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabSessionArgs {
    /// Run only matching methods; floors and base always run; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// Compare with this method [default: from the preset]
    #[arg(long, value_name = "METHOD")]
    pub(crate) base: Option<String>,
    /// Compare method A with B as well; may be repeated
    #[arg(long, value_name = "A:B")]
    pub(crate) pairs: Vec<String>,
    /// Run every method N times [default: those of the preset, or more]
    ///
    /// By default, presets without an article add rounds until every ratio is precise enough, or until
    /// their time is over.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) rounds: Option<u16>,
    /// Add rounds until every ratio is precise enough, for at most DURATION (90s, 10m); at least those
    /// of the preset, or five
    ///
    /// After that, starts are timed and calls are counted in runs of their own (--no-calls).
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) max_time: Option<Duration>,
    /// End a process after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) limit: u64,
    /// Seed of the order of methods in each round [default: from the clock]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Do not count system calls; otherwise separate runs at the end count them
    #[arg(long)]
    pub(crate) no_calls: bool,
    /// Print what would be measured and what it takes, and do nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Write the session to FILE, and a page beside it [default: lab-SECONDS.jsonl, seconds since 1970]
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) output: Option<PathBuf>,
    /// Continue an interrupted session
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["preset", "methods", "base", "pairs", "state", "rounds", "max_time", "limit", "seed"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}
