//! What `usage` understands.

use std::path::PathBuf;

use clap::Args;
use transect_text::size;

use super::{ProgressArgs, WalkArgs, one_of};

pub(crate) const USAGE_NOTES: &str = "\
Sizes are disk usage: what is occupied, directories included, as du counts. A file with several \
names is charged to one of them, the first in the order of names; `shared` is what would stay \
occupied if the directory were removed, because it has further names elsewhere.

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

/// What says which entries a walk finds, and means nothing where there is none.
const WALK_ARGS: [&str; 13] = [
    "paths",
    "one_file_system",
    "pseudo",
    "follow",
    "max_depth",
    "glob",
    "exclude",
    "gitignore",
    "types",
    "size",
    "newer",
    "older",
    "owner",
];

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// How many lines to show; by default as many as the terminal has room for, else 25
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show nothing deeper than N steps below PATH; it is counted all the same
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Show files, too, and not only directories
    #[arg(short = 'f', long, conflicts_with = "by")]
    pub(crate) files: bool,
    /// Show what entries come to together, not where they are
    #[arg(long, value_name = "KEY", value_parser = one_of(Key::ALL, Key::as_str))]
    pub(crate) by: Option<Key>,
    /// Measure in lengths of files, not in disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Measure in numbers of entries: who uses up the inodes
    #[arg(long, conflicts_with = "apparent")]
    pub(crate) entries: bool,
    /// Leave out what is smaller than this: bytes, K, M, G; with --entries a number of them
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "1")]
    pub(crate) min_size: usize,
    /// List all errors, not only the first few
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object, with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
    /// Print comma-separated values, with exact numbers
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Show nothing, but write all that is found to FILE, as ncdu exports it; - is stdout
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with_all = ["json", "csv", "by", "files"])]
    pub(crate) export_ncdu: Option<PathBuf>,
    /// Write also who owns what, permissions and times, as ncdu -e does
    #[arg(short = 'e', long, requires = "export_ncdu")]
    pub(crate) extended: bool,
    /// Read no directories, but what ncdu or gdu exported to FILE; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = WALK_ARGS)]
    pub(crate) import_ncdu: Option<PathBuf>,
}

/// What entries can be put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// What follows the last dot of a file's name.
    Extension,
    /// Who owns it.
    Owner,
    /// How long ago its content changed.
    Age,
    /// What it is.
    Type,
}

impl Key {
    const ALL: &[Self] = &[Self::Extension, Self::Owner, Self::Age, Self::Type];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Extension => "ext",
            Self::Owner => "owner",
            Self::Age => "age",
            Self::Type => "type",
        }
    }
}
