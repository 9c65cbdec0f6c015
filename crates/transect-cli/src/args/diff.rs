//! Arguments of `diff`, and what `changes` shares with it.

use std::path::PathBuf;

use clap::Args;

use super::{ColorWhen, ProgressArgs, one_of};
use crate::output::columns::Column;

pub(crate) const DIFF_NOTES: &str = "\
A and B are directories or snapshots (transect snapshot). Lines begin with + added, - removed, ~ changed, \
> moved, T of another type, ! not readable in B, ? not readable in A. A directory that is new, gone or moved is \
one line. What could not be read this time is never reported as removed.

Moves are found by file id and time of creation; where a snapshot lacks it (--all-times), by size and mtime. Directories \
whose size, times or link count changed because entries in them did are not listed; --json lists them.

ATTRIBUTEs: size, allocated, mtime, mode, uid, gid, nlink, attributes, reparse_tag.

Examples:
  Store a tree, and see later what changed in it:
    transect snapshot -o a.parquet src && transect diff a.parquet src
  Compare two snapshots, and show only the numbers:
    transect diff --summary before.parquet after.parquet
  Show the ten largest changes:
    transect diff --top 10 before.parquet after.parquet
  Compare a copy with its original, whose times and owners differ:
    transect diff --ignore mtime,uid,gid,allocated photos archive
  Fail in a script if anything changed:
    transect diff --exit-code --summary before.parquet after.parquet

Exit codes: 0 compared; 1 something could not be read, or with --exit-code A and B differ; \
2 wrong usage, or A or B could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Compare with this directory or snapshot
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Show how this directory or snapshot differs from A
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ComparisonArgs {
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Print only the numbers, and the directories that grew or shrank
    #[arg(short, long)]
    pub(crate) summary: bool,
    /// Show only the N largest changes, and the N directories that grew or shrank most
    ///
    /// Without it, a terminal shows the largest changes that fit, and a file or a pipe all of them.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show all changes on a terminal, too, by path, with the numbers at the end
    #[arg(long, conflicts_with_all = ["top", "summary"])]
    pub(crate) all: bool,
    /// Do not compare these attributes
    ///
    /// The names are listed below.
    #[arg(long, value_name = "ATTRIBUTE,…", value_delimiter = ',', hide_possible_values = true,
          value_parser = one_of(Column::compared().collect::<Vec<_>>().leak(), Column::as_str))]
    pub(crate) ignore: Vec<Column>,
    /// Compare everything, also where digests are equal
    #[arg(long)]
    pub(crate) verify: bool,
    /// Stay on one file system
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Exit with 1 if anything differs
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Print one JSON object per change, then one with the numbers
    #[arg(long)]
    pub(crate) json: bool,
    /// Paint changes: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true,
          hide_default_value = true, value_parser = one_of(ColorWhen::ALL, ColorWhen::as_str))]
    pub(crate) color: ColorWhen,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
}
