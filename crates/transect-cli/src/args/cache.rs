//! Arguments of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FilterArgs;

const STATUS_NOTES: &str = "\
Linux reports this only to the owner of a file and to users who may write it. Other systems do not \
report it.

Examples:
  Show how much of each file is in memory:
    transect cache status src
  Show large files only:
    transect cache status --size +64M .
  Print JSON, for a script:
    transect cache status --json src

Exit codes: 0 complete; 1 something could not be read, or is not reported; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

const DROP_NOTES: &str = "\
Modified pages are written to the device first. Pages that a program has mapped stay, and so do files \
on file systems in memory. Only Linux reports how much is in memory before and after.

Examples:
  Drop a file, to measure a cold read:
    transect cache drop backup.img
  Drop all files of a tree:
    transect cache drop src
  Print JSON, for a script:
    transect cache drop --json src

Exit codes: 0 nothing of the files is in memory, as far as the system reports; \
1 something could not be read or dropped, or stayed in memory; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CacheCommand {
    /// Show how much of each file is in memory
    #[command(after_long_help = STATUS_NOTES)]
    Status(CacheArgs),
    /// Drop files from memory, so that the next read comes from the device
    #[command(after_long_help = DROP_NOTES)]
    Drop(CacheArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// Examine this file, or all files in this directory; links to files are followed
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// List all errors, not only the first ten; with --json as `error_list`
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}
