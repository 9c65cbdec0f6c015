//! What `map` understands.

use std::path::PathBuf;

use clap::Args;

use super::{ProgressArgs, WalkArgs};

pub(crate) const MAP_NOTES: &str = "\
Without --html the page is served on this machine, to whoever knows the address that is printed, until \
Ctrl-C or until nobody looks at it any more; it shows directories while they are being read. As a file \
it needs nothing beside it and asks no network.

Sizes are disk usage, and a file with several names is charged to one of them, as in `transect usage`.

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Write the page to FILE, in place of what is there, and serve nothing; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Measure in lengths of files, not in disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Show no more entries than N one by one; the smallest of each directory are summed up
    #[arg(long, value_name = "N", default_value_t = 2_000_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_entries: u32,
    /// List all errors, not only the first few
    #[arg(long)]
    pub(crate) errors: bool,
}
