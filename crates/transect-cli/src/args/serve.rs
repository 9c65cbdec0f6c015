//! Arguments of `serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use transect_cache::Level;
use transect_text::size;

use super::one_of;

pub(crate) const SERVE_NOTES: &str = "\
Runs until it is interrupted, or idle for the time of --idle. Answers only programs of the same user. \
docs/SERVICE.md documents the protocol; `transect attributes --service` is a client.

Levels: watched (the system reports changes), checked (each request checks the listing and queries \
attributes anew), frozen (nothing changes until it is invalidated), verified (nothing is kept).

Default socket: transect/cache.sock in $XDG_RUNTIME_DIR, or in a private directory of the user below the \
temporary directory; on Windows, the pipe \\\\.\\pipe\\transect-ID with the id of the user (its SID).

Examples:
  Serve a cache until Ctrl-C:
    transect serve
  Serve a source tree only, and end after 15 idle minutes:
    transect serve --root src --idle 15m
  Use a socket of your own:
    transect serve --socket cache.sock
  Limit the memory to 256 MiB, and report connections:
    transect serve --memory 256M --verbose
  Check listings instead of watching for changes:
    transect serve --level checked

Exit codes: 0 ended as requested; 2 wrong usage, or the service could not start.";

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen at SOCKET, on Windows a pipe such as \\.\pipe\NAME [default: see below]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// Keep answers this fresh; see below
    #[arg(long, value_name = "LEVEL", default_value = Level::Watched.as_str(),
          value_parser = one_of(Level::ALL, Level::as_str))]
    pub(crate) level: Level,
    /// Answer only for paths in DIR; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Use at most SIZE of memory; least recently used directories are dropped
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<usize>,
    /// End after DURATION without a request: 90s, 15m, 8h
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) idle: Option<Duration>,
    /// Report connections and requests on stderr
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
}
