//! Arguments of `find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{AskLiveArgs, AttributeArgs, LineArgs, ProgressArgs};

pub(crate) const FIND_NOTES: &str = "\
If a running `transect live` follows the tree, searches that, as it is now. Otherwise \
searches snapshots that transect keep stored: the answers are as old as the snapshot, and a message says how old that is. \
Without --in, it is the last one of the current directory, or else of the nearest directory above it; or else those of \
directories below it. If there is none, the current directory is read for this search.

A PATTERN is matched against names, and several must all match. With a / it is matched against paths: src/ma finds src/main.rs and \
src/make, but not what is in them; --glob 'src/*.rs' finds them at any depth. With -i, letters outside ASCII \
match in either case only in a regular expression, or in a plain PATTERN that contains such a letter.

--verify adds a column: same, changed (in type, size, mtime, mode or owner), vanished, or unknown if that cannot be told. The \
other columns are those of the snapshot. With -0, entries that vanished are left out.

COLUMNs: name, path, type, size, allocated, mtime, ctime, atime, btime, mode, uid, gid, owner, group, nlink, inode, device; \
on Windows also attributes and reparse_tag.

Examples:
  Keep a snapshot, and find names that contain `main`:
    transect keep src && transect find --in src main
  Find entries by two parts of their names, with their attributes:
    transect find --in src --long lib .rs
  Find C and Rust sources by a glob, and check that they still exist:
    transect find --in src --verify --glob '*.{c,rs}'
  Find the ten largest files of a stored snapshot:
    transect find --in a.parquet -t f --sort size -n 10 --glob '*'
  Count names by a regular expression, in any case:
    transect find --in src --count -i --regex '^(main|lib)[.]'
  Pass what is found to another program:
    transect find --in src -0 .rs | xargs -0 wc -l

Exit codes: 0 something was found, and with --verify something that still exists; 1 nothing was found, or a \
kept file could not be used; 2 wrong usage, or the directory of --in was not kept; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    /// Find entries whose names contain PATTERN; if several are given, all of them
    #[arg(value_name = "PATTERN", required = true)]
    pub(crate) patterns: Vec<OsString>,
    /// Search this snapshot, or the last one kept of this directory
    ///
    /// Without it, the last one of the current directory is searched; more below.
    #[arg(long = "in", value_name = "PATH")]
    pub(crate) within: Vec<PathBuf>,
    /// Treat PATTERNs as globs, which match whole names: *.rs, [a-c]?, *.{jpg,png}
    #[arg(short = 'g', long, conflicts_with = "regex")]
    pub(crate) glob: bool,
    /// Treat PATTERNs as regular expressions, which match anywhere in names
    ///
    /// Syntax: https://docs.rs/regex#syntax
    #[arg(long)]
    pub(crate) regex: bool,
    /// Ignore case
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,
    #[command(flatten)]
    pub(crate) attributes: AttributeArgs,
    /// Check each entry on the disk: same, changed, vanished, unknown
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print only the number of entries
    #[arg(long, conflicts_with_all = ["verify", "columns", "long", "bytes", "csv", "null", "sort", "limit"])]
    pub(crate) count: bool,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) lines: LineArgs,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
}
