//! The command line of `transect cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use transect_text::size;

use super::FilterArgs;

const STATUS_NOTES: &str = "\
Linux tells it only to a file's owner and to who may write it. Other systems do not tell it.

Exit codes: 0 complete; 1 something could not be read, or is not told; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

const DROP_NOTES: &str = "\
What was changed is written first. Pages stay that a program has mapped, and those of file systems \
that lie in memory. Other systems than Linux do not tell what is in memory, before or after.

Exit codes: 0 nothing of the files is in memory, as far as the system tells; \
1 something could not be read or dropped, or stayed in memory; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CacheCommand {
    /// Shows how much of each file is in memory
    #[command(after_help = STATUS_NOTES)]
    Status(CacheStatusArgs),
    /// Takes files out of memory, so that they are read from their device the next time
    #[command(after_help = DROP_NOTES)]
    Drop(CacheDropArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CacheStatusArgs {
    #[command(flatten)]
    pub(crate) files: CacheFilesArgs,
    /// Show only files with at least so much in memory; the total is of all
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = size::parse)]
    pub(crate) min_resident: usize,
    /// Print one JSON object, with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CacheDropArgs {
    #[command(flatten)]
    pub(crate) files: CacheFilesArgs,
    /// Print one JSON object, with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

// Which files are meant.
#[derive(Debug, Args)]
pub(crate) struct CacheFilesArgs {
    /// A file, or a directory with all files in it; a link to a file is followed
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// List all errors, not only the first few; with --json as `error_list`
    #[arg(long)]
    pub(crate) errors: bool,
}
