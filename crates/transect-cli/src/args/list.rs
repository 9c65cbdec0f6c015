//! What `list` understands.

use clap::Args;
use transect::SortKey;

use super::{ProgressArgs, WalkArgs, one_of};
use crate::output::columns::Column;

pub(crate) const LIST_NOTES: &str = "\
Paths are printed as find prints them, in the order in which they are found. Columns are printed \
for people: sizes with their units, times in the local zone. --json and --csv have exact numbers: \
bytes, and nanoseconds since 1970 UTC. A sorted list is printed when all is found, and kept in \
memory until then; with --limit, only as much of it. A PATH itself is printed only if it passes all \
filters, as `find` does it.

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Print these columns: name, path, target (of a link), type, size, allocated, mtime, ctime, atime, btime, mode, uid,
    /// gid, owner, group, nlink, inode, device; of Windows also attributes, reparse_tag
    #[arg(short = 'c', long, value_name = "COLUMN,…", value_delimiter = ',',
          hide_possible_values = true, value_parser = one_of(Column::ALL, Column::as_str))]
    pub(crate) columns: Vec<Column>,
    /// Print mode, nlink, owner, group, size, mtime, path, target
    #[arg(short = 'l', long, conflicts_with = "columns")]
    pub(crate) long: bool,
    /// Print a JSON object a line; without --columns: path, type, size, allocated, mtime
    #[arg(long, conflicts_with = "null")]
    pub(crate) json: bool,
    /// Print comma-separated values; without --columns: path, type, size, allocated, mtime
    #[arg(long, conflicts_with_all = ["json", "null"])]
    pub(crate) csv: bool,
    /// End every path with NUL instead of a newline, for xargs -0
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Sort: the largest and the newest first, else from the smallest on
    #[arg(long, value_name = "KEY", value_parser = one_of(SortKey::ALL, SortKey::as_str))]
    pub(crate) sort: Option<SortKey>,
    /// Turn the order round
    #[arg(long, requires = "sort")]
    pub(crate) reverse: bool,
    /// Print no more than N: the first that are found, or the first of all with --sort
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Leave out entries fewer than N steps below their root; 1 leaves the roots out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_depth: u32,
    /// List all errors, not only the first few
    #[arg(long)]
    pub(crate) errors: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "not a number of lines".to_owned())?;
    if number == 0 { Err("nothing would be printed".to_owned()) } else { Ok(number) }
}
