//! Arguments of `usage`.

use std::path::PathBuf;

use clap::Args;
use transect_snapshot::StoredMeasure;
use transect_text::size;

use super::{AskLiveArgs, FilterArgs, ProgressArgs, WalkArgs, one_of};

pub(crate) const USAGE_NOTES: &str = "\
Sizes are disk usage: the space that is allocated, directories included, as in du. A file with \
several names is counted at the first of them in name order; `shared` is what removing a directory \
would not free, because its files have names elsewhere. A directory that is hardly larger than one \
entry in it shares the line of that entry: build/debug.

Examples:
  Show the largest directories of the current directory:
    transect usage
  Show files too, two levels deep:
    transect usage --files --depth 2 src
  Show which kinds of files need the most space:
    transect usage --by ext src
  Show what can be made again: what builds made, downloaded packages, caches, old logs:
    transect usage --by kind ~
  Show which directories hold the most entries:
    transect usage --entries --top 10 src
  Count clones once, and show what removing each directory would free:
    transect usage --shared src
  Export a tree for ncdu, then read it back:
    transect usage -o tree.json src && transect usage --import-ncdu tree.json

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
    /// Show at most N lines [default: as many as fit]
    ///
    /// 25 if standard output is not a terminal.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show at most N levels below PATH; deeper entries still count
    #[arg(short = 'd', long, value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// Show files as well as directories
    #[arg(short = 'f', long, conflicts_with = "by")]
    pub(crate) files: bool,
    /// Group entries by KEY, instead of showing the tree
    #[arg(long, value_name = "KEY", value_parser = one_of(Key::ALL, Key::as_str))]
    pub(crate) by: Option<Key>,
    /// Show apparent sizes (file lengths), not disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Show numbers of entries (inodes), not sizes
    #[arg(long, conflicts_with = "apparent")]
    pub(crate) entries: bool,
    /// Count what clones (reflinks) share once; also show what removing an entry would free
    ///
    /// Queries each file on Btrfs, XFS, OCFS2 and bcachefs, so PATH must be on a disk: not a snapshot or an image.
    #[arg(long, conflicts_with_all = ["by", "apparent", "entries", "export_ncdu", "import_ncdu"])]
    pub(crate) shared: bool,
    /// Hide what is smaller than SIZE
    ///
    /// Bytes, K, M or G; with --entries, a number of entries.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "1")]
    pub(crate) min_size: usize,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
    /// Print comma-separated values with exact numbers
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write the whole tree to FILE in ncdu's format
    ///
    /// Nothing is shown. - is standard output.
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with_all = ["json", "csv", "by", "files"])]
    pub(crate) export_ncdu: Option<PathBuf>,
    /// Export owners, permissions and times, like ncdu -e
    #[arg(long, requires = "export_ncdu")]
    pub(crate) extended: bool,
    /// Read FILE, exported by ncdu or gdu, not directories
    ///
    /// - is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "paths", conflicts_with_all = FilterArgs::ids())]
    pub(crate) import_ncdu: Option<PathBuf>,
}

impl UsageArgs {
    pub(crate) fn measure(&self) -> StoredMeasure {
        match self {
            Self { apparent: true, .. } => StoredMeasure::Apparent,
            Self { entries: true, .. } => StoredMeasure::Entries,
            _ => StoredMeasure::DiskUsage,
        }
    }

    /// Returns whether programs read the output.
    pub(crate) fn is_exact(&self) -> bool {
        self.json || self.csv
    }
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Key {
        /// The part of the name after the last dot.
        Extension = "ext",
        /// The owner of the file.
        Owner = "owner",
        /// The time since the last change of the content.
        Age = "age",
        /// The type of the entry.
        Type = "type",
        /// What can be made again, by rules.
        Kind = "kind",
    }
}
