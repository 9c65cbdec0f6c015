//! Arguments of `attributes`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::{TUNING, one_of};
use crate::output::columns::Column;

pub(crate) const ATTRIBUTES_NOTES: &str = "\
A missing path is not an error: its line says `missing`. Links are not followed unless --follow is \
given.

COLUMNs: type, size, allocated, mtime, ctime, atime, btime, mode, uid, gid, nlink, inode, device; \
owner and group (the names of uid and gid); on Windows also attributes and reparse_tag. By default \
the table shows type, size and mtime, and --json prints all except owner and group.

Examples:
  Show type, size and time of some files:
    transect attributes notes.txt src missing.txt
  Read a list of paths, one per line:
    transect attributes --from paths.txt
  Read paths from another program, whatever their names contain:
    find src -print0 | transect attributes -0 --from -
  Choose the columns:
    transect attributes --columns mode,owner,size notes.txt
  Print one JSON object per path:
    transect attributes --json src

Exit codes: 0 all paths were answered; 1 some could not be queried (denied, or an error); \
2 wrong usage, or no path could be queried; 130 interrupted.";

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("asked").required(true).multiple(true).args(["paths", "from"]))]
#[command(group = ArgGroup::new("of_service").multiple(true).args(["service", "socket"]))]
pub(crate) struct AttributesArgs {
    /// Show the attributes of PATH
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Read paths from FILE, one per line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Separate paths in FILE, and lines of the output, with NUL; paths are printed unquoted
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Follow symbolic links
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
    /// Print these columns, separated by commas; see below for their names
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', value_parser = one_of(Column::EXCEPT_PATHS, Column::as_str),
          hide_possible_values = true)]
    pub(crate) columns: Vec<Column>,
    /// Use at most N threads [default: one per CPU]
    #[arg(short = 'j', long, value_name = "N", conflicts_with = "of_service",
          help_heading = TUNING, hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Query the service of `transect live`
    #[arg(long)]
    pub(crate) service: bool,
    /// Query the service at SOCKET, on Windows a pipe
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// Print one JSON object per line for each path, in the order given
    #[arg(long)]
    pub(crate) json: bool,
}
