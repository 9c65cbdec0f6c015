//! The command line of `transect attributes`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgGroup, Args};

use super::one_of;
use crate::output::columns::Column;

pub(crate) const ATTRIBUTES_NOTES: &str = "\
A path that leads to nothing is an answer: the line says so. Links are not followed unless \
--follow is given.

COLUMNs: type, size, allocated, mtime, ctime, atime, btime, mode, uid, gid, nlink, inode, device; \
on Windows also attributes and reparse_tag; owner and group for the names behind uid and gid. Unless \
some are chosen, people see type, size and mtime, and --json prints all that are told but the names.

Exit codes: 0 all paths were answered; 1 of some it could not be told (denied, or an error); \
2 wrong usage, or nothing could be answered; 130 interrupted.";

// Which paths are asked about, of whom, and what is shown.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("asked").required(true).multiple(true).args(["paths", "from"]))]
pub(crate) struct AttributesArgs {
    /// A path to ask about
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Ask about the paths in FILE, one in a line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Paths in FILE end with NUL instead of a newline; so do the rows of the table, whose paths then
    /// come as they are
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Ask about what links lead to
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
    /// What to show, separated by commas
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', value_parser = column_parser(),
          hide_possible_values = true)]
    pub(crate) columns: Vec<Column>,
    /// The most threads that ask; by default as many as there are processors
    #[arg(short = 'j', long, value_name = "N", conflicts_with = "service",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Ask the service that `transect serve --cache` runs, at its usual socket or another
    #[arg(long, value_name = "SOCKET", num_args = 0..=1, require_equals = true)]
    pub(crate) service: Option<Option<PathBuf>>,
    /// Have the service take note of all changes made before, if it watches for them
    #[arg(long, requires = "service")]
    pub(crate) settle: bool,
    /// Print one JSON object in a line for every path, in the order asked
    #[arg(long)]
    pub(crate) json: bool,
}

fn column_parser() -> impl TypedValueParser<Value = Column> {
    one_of(Column::EXCEPT_PATHS, Column::as_str)
}
