//! Arguments of `snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{ProgressArgs, SinceArgs, WalkArgs};

pub(crate) const SNAPSHOT_NOTES: &str = "\
A snapshot is a Parquet file: usage, list, tui, map and diff read it like a directory, and so do DuckDB, Polars and \
pyarrow. It stores size, allocated, mtime, mode, uid, gid, nlink, inode and device of every entry, totals of every \
directory, and what could not be read. A file of that name is replaced when the new one is complete.

With --since, the snapshot also stores how much was taken from the earlier one, and how old that is.

Examples:
  Store the current directory:
    transect snapshot -o now.parquet
  Store a directory, and show where its bytes are:
    transect snapshot -o src.parquet src && transect usage src.parquet
  Store all times of every entry, too:
    transect snapshot --all-times -o src.parquet src
  Store the home directory, on its file system only:
    transect snapshot -x -o home.parquet ~
  Draw a map of what was stored:
    transect snapshot -o a.parquet . && transect map --html a.html a.parquet

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted: nothing was stored.";

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) since: SinceArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Write the snapshot to FILE; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Store ctime, atime and btime as well
    #[arg(long)]
    pub(crate) all_times: bool,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object about the file
    #[arg(long)]
    pub(crate) json: bool,
}
