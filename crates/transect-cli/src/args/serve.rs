//! The command line of `transect serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use transect_cache::Level;
use transect_text::size;

use super::one_of;

pub(crate) const SERVE_NOTES: &str = "\
Runs until it is interrupted, or nobody asks any more. Only programs of the same user are answered. \
What is said is documented in docs/SERVICE.md; `transect attributes --service` asks.

Levels: watched (the system tells of changes), checked (listings are checked for every request, and \
attributes always asked), frozen (nothing changes until a program thaws it), verified (nothing is \
kept).

Exit codes: 0 ended as asked; 2 wrong usage, or it could not begin.";

// What is served, where, and how.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve attributes of files from a cache
    #[arg(long, required = true)]
    pub(crate) cache: bool,
    /// Where to answer; by default transect/cache.sock in $XDG_RUNTIME_DIR, or in a folder of the
    /// user's own where temporary files are
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// What is promised of answers
    #[arg(long, value_name = "LEVEL", default_value = Level::Watched.as_str(),
          value_parser = level_parser())]
    pub(crate) level: Level,
    /// Answer only for what is in DIR; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// The most memory for what is known; beyond it, directories are forgotten that nobody asked
    /// about lately
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<usize>,
    /// End when nobody has asked for so long: 90s, 15m, 8h
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) idle: Option<Duration>,
    /// Tell on stderr who asks, and how much
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
}

fn level_parser() -> impl TypedValueParser<Value = Level> {
    one_of(Level::ALL, Level::as_str)
}
