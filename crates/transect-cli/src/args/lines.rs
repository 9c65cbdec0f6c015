//! Arguments of the commands that print a line for each entry.

use clap::Args;
use transect::internal::SortKey;

use super::one_of;
use crate::output::columns::Column;

#[derive(Debug, Args)]
pub(crate) struct LineArgs {
    /// Print these columns, separated by commas
    ///
    /// The names are listed below.
    #[arg(short = 'c', long, value_name = "COLUMN,…", value_delimiter = ',',
          hide_possible_values = true, value_parser = one_of(Column::NAMED, Column::as_str))]
    pub(crate) columns: Vec<Column>,
    /// Print mode, nlink, owner, group, size, mtime, path, target
    #[arg(short = 'l', long, conflicts_with = "columns")]
    pub(crate) long: bool,
    /// Print sizes in bytes, without units
    #[arg(long)]
    pub(crate) bytes: bool,
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
    ///
    /// KEYs: path, name, natural (numbers in paths by value), size, allocated, mtime, ctime, atime, btime, nlink, inode.
    #[arg(long, value_name = "KEY", hide_possible_values = true, value_parser = one_of(SortKey::ALL, SortKey::as_str))]
    pub(crate) sort: Option<SortKey>,
    /// Reverse the order of --sort
    #[arg(short = 'r', long, requires = "sort")]
    pub(crate) reverse: bool,
    /// Print at most N entries
    ///
    /// The first found, or with --sort the first of all.
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Paint names in the colours of LS_COLORS: auto, always or never
    ///
    /// auto is on a terminal, unless NO_COLOR is set. --json, --csv and -0 have no colours.
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true,
          hide_default_value = true, value_parser = one_of(ColorWhen::ALL, ColorWhen::as_str))]
    pub(crate) color: ColorWhen,
}

transect_sys::words! {
    /// When names are painted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ColorWhen {
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if number == 0 { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

impl LineArgs {
    /// Returns whether programs read the output.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json || self.csv || self.null
    }
}
