//! Arguments of `map`.

use std::path::PathBuf;

use clap::Args;

use super::{AskLiveArgs, ProgressArgs, WalkArgs};

pub(crate) const MAP_NOTES: &str = "\
Without --html, transect prints the address of a page that it serves to this machine only, until Ctrl-C \
or until the page is closed. The address contains a secret. The page shows directories while they are \
read, and finds duplicates. A page written with --html is one self-contained file that works offline.

With --allow-removal, the page can delete entries or move them to the trash. It shows what would be freed \
and asks first; then every entry is compared with what was read, and kept if it changed.

If `transect live` follows the directory, nothing is read from the disk, and a served page shows what changes \
(docs/LIVE.md).

A PATH may be a snapshot (transect snapshot). Two PATHs of which one is a snapshot, or two directories with \
--diff, are compared: area shows size now, colour shows growth. What is gone is hatched, with its size before; \
what moved is shown where it is now.

Sizes are disk usage. A file with several names is counted at one of them, as in `transect usage`.

Examples:
  Show the home directory in the browser:
    transect map ~
  Clean up in the browser:
    transect map --open --allow-removal ~
  Stay on one file system, and measure file lengths:
    transect map -x --apparent .
  Write a page to a file:
    transect map --html map.html src
  Keep the page of a huge tree small:
    transect map --html map.html --max-entries 100000 .
  Show in the browser what grew since yesterday:
    transect map --since yesterday ~
  Show what differs between two directories:
    transect map --html changes.html --diff src docs
  Map only video files:
    transect map --html videos.html --glob '*.mp4' --glob '*.mkv' .

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Clone, Debug, Args)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Write the page to FILE, replacing it, instead of serving it; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Let the served page delete entries and move them to the trash
    #[arg(long, conflicts_with = "html")]
    pub(crate) allow_removal: bool,
    /// Show what changed between two PATHs, directories or snapshots; implied if one is a snapshot
    ///
    /// Two directories without --diff are shown beside each other.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Show what changed since TIME, compared with the last snapshot that `transect keep` stored before
    ///
    /// TIMEs are those of `transect changes`: yesterday, 3d, 2026-01-31.
    #[arg(long, value_name = "TIME", conflicts_with = "diff", value_parser = super::filter::parse_time)]
    pub(crate) since: Option<i64>,
    /// Show apparent sizes (file lengths), not disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Show at most N entries; the smallest of each directory are summed up
    #[arg(long, value_name = "N", default_value_t = 2_000_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_entries: u32,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
}
