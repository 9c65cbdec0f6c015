//! Arguments of `lab self-test`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use transect_lab::harness::cache_state::State;
use transect_lab::self_test::Part;

use super::values::{STATES, value_of};

/// The halves: value, name, help.
const PARTS: &[(Part, &str, &str)] = &[
    (Part::Verdicts, "verdicts", "False verdicts on equal methods, and a true difference"),
    (Part::Faults, "faults", "Contenders that are wrong on purpose"),
];

#[derive(Debug, Args)]
pub(crate) struct LabSelfTestArgs {
    /// Run these parts [default: both]
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = value_of(PARTS))]
    pub(crate) part: Vec<Part>,
    /// Measure N sessions of equal methods, and draw as many for each kind of noise
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u16).range(1..=2000))]
    pub(crate) sessions: u16,
    /// Add rounds to each session for at most DURATION (90s, 10m) [default: that of preset `quick`]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) max_time: Option<Duration>,
    /// Run contenders in these states of the caches [default: warm, as root also cold]
    #[arg(long, value_name = "STATES", value_delimiter = ',',
          value_parser = value_of(&STATES[..2]))]
    pub(crate) state: Vec<State>,
    /// Walk a tree of N files; in a small one, faults are lost in the start of their programs
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) files: u32,
    /// Create trees in DIR [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Use the contenders in DIR, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) contenders: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Store the result with all measured times in FILE, as JSON
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

pub(super) const SELF_TEST_NOTES: &str = "\
The exit code is 1 if a target is missed or a fault is not caught.

Examples:
  Test the lab on this machine, which should be quiet:
    transect lab self-test
  Store the result, with all measured times:
    transect lab self-test --output self-test.json
  Only run contenders with planted faults, with warm and cold caches, as root:
    transect lab self-test --part faults --state warm,cold
  Measure fewer sessions, in a tenth of the time:
    transect lab self-test --part verdicts --sessions 20
  Test on another file system, and print JSON:
    transect lab self-test --dir /srv --json";
