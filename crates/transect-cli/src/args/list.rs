//! Arguments of `list`.

use clap::Args;
use transect::SortKey;

use super::{ProgressArgs, WalkArgs, one_of};
use crate::output::columns::Column;

pub(crate) const LIST_NOTES: &str = "\
Entries are printed as soon as they are found, in no particular order; --sort collects them in \
memory first (with --limit, only the first N). Columns show sizes with units and local times; \
--json and --csv print bytes, and nanoseconds since 1970 UTC. As in find, a PATH itself is printed \
only if it matches all filters.

COLUMNs: name, path, target (of a link), type, size, allocated, mtime, ctime, atime, btime, mode, uid, \
gid, owner, group, nlink, inode, device; on Windows also attributes and reparse_tag.

Examples:
  List all paths below the current directory:
    transect list
  List Rust sources with their attributes, as ls -l does:
    transect list --long --glob '*.rs' src
  List the ten largest files, with size and path:
    transect list --type f --sort size --limit 10 --columns size,path
  Delete editor backups, whatever their names contain:
    transect list -0 --glob '*~' | xargs -0 rm -f
  Export a tree for analysis:
    transect list --csv --columns path,size,mtime,owner src > tree.csv

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Print these columns, separated by commas
    ///
    /// The names are listed below.
    #[arg(short = 'c', long, value_name = "COLUMN,…", value_delimiter = ',',
          hide_possible_values = true, value_parser = one_of(Column::ALL, Column::as_str))]
    pub(crate) columns: Vec<Column>,
    /// Print mode, nlink, owner, group, size, mtime, path, target
    #[arg(short = 'l', long, conflicts_with = "columns")]
    pub(crate) long: bool,
    /// Print one JSON object per line
    ///
    /// Without --columns: path, type, size, allocated, mtime.
    #[arg(long, conflicts_with = "null")]
    pub(crate) json: bool,
    /// Print comma-separated values
    ///
    /// Without --columns: path, type, size, allocated, mtime.
    #[arg(long, conflicts_with_all = ["json", "null"])]
    pub(crate) csv: bool,
    /// End each line with NUL, for xargs -0
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Sort by KEY: sizes and times descending, others ascending
    #[arg(long, value_name = "KEY", value_parser = one_of(SortKey::ALL, SortKey::as_str))]
    pub(crate) sort: Option<SortKey>,
    /// Reverse the order of --sort
    #[arg(long, requires = "sort")]
    pub(crate) reverse: bool,
    /// Print at most N entries
    ///
    /// The first found, or with --sort the first of all.
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Exclude entries less than N levels below their PATH
    ///
    /// 1 excludes the PATHs themselves.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_depth: u32,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if number == 0 { Err("must be at least 1".to_owned()) } else { Ok(number) }
}
