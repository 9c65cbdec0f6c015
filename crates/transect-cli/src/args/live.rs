//! Arguments of `live`, and of the commands that it answers.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use transect_cache::Level;
use transect_text::size;

use super::one_of;

pub(crate) const LIVE_NOTES: &str = "\
Reads the PATHs once, and then follows what changes in them. `list`, `usage`, `find`, `tui` and `map` take their answers from there, \
with every change that was made before they ask, and `watch` and `changes` what changed; a message reports it. \
docs/LIVE.md says what is noticed. Other file systems below a PATH are not entered.

Also serves a cache of attributes, for `transect attributes --service`: of all files, or with PATHs only of those \
in them. docs/SERVICE.md documents the protocol.

Runs until it is interrupted, or idle for the time of --idle. Answers only programs of the same user.

On Linux, the trees are stored as snapshots in transect/live in $XDG_STATE_HOME (default ~/.local/state), which only you can read. When a service starts again, it compares its trees with them: names at once, attributes later. docs/LIVE.md explains what is answered meanwhile.

Levels of the cache: checked (each request checks the listing and queries attributes anew; in the PATHs, answers come from \
what is followed), frozen (nothing changes until it is invalidated), verified (nothing is kept).

Default socket: transect/cache.sock in $XDG_RUNTIME_DIR, or in a private directory of the user below the \
temporary directory; on Windows, the pipe \\\\.\\pipe\\transect-ID with the id of the user (its SID).

Examples:
  Follow the home directory until Ctrl-C:
    transect live ~
  Follow two source trees, and end after 8 idle hours:
    transect live --idle 8h src lib
  Answer `git status` in a working tree:
    transect live --git .
  Serve a cache of attributes only:
    transect live
  Use a socket of your own:
    transect live --socket cache.sock
  Limit the memory of the cache to 256 MiB, and report connections:
    transect live --memory 256M --verbose src

Exit codes: 0 ended as requested; 1 as 0, but a PATH was not followed to the end; 2 wrong usage, or the service could not start.";

#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// Follow these directories
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Answer git in the working tree DIR, for `core.fsmonitor=true`; follow DIR, unless a PATH holds it (Linux)
    #[arg(long, value_name = "DIR")]
    pub(crate) git: Vec<PathBuf>,
    /// Listen at SOCKET, on Windows a pipe such as \\.\pipe\NAME [default: see below]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// Keep cached attributes this fresh; see below
    #[arg(long, value_name = "LEVEL", default_value = Level::Checked.as_str(),
          value_parser = one_of(Level::ALL, Level::as_str))]
    pub(crate) level: Level,
    /// Use at most SIZE of memory for the cache; least recently used directories are dropped
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<usize>,
    /// Store the trees every DURATION and at the end, so that a later start need not read them; 0 stores nothing
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = humantime::parse_duration)]
    pub(crate) store_every: Duration,
    /// End after DURATION without a request: 90s, 15m, 8h
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) idle: Option<Duration>,
    /// Report connections and requests on stderr
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
}

transect_sys::words! {
    /// Whether a running service is asked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum AskLive {
        /// If it follows the tree.
        Auto = "auto",
        No = "no",
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AskLiveArgs {
    /// Ask a running `transect live` that follows the tree: auto or no
    #[arg(long, value_name = "WHEN", default_value = AskLive::Auto.as_str(), hide_default_value = true,
          hide_possible_values = true, hide_short_help = true, value_parser = one_of(AskLive::ALL, AskLive::as_str))]
    pub(crate) live: AskLive,
}
